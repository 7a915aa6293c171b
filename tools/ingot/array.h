// Dtypes as the tool reads and prints them, and an array that owns its memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ingot.h"

namespace ingot::tool {

struct DType {
  ingot_dtype number;
  std::string_view name;  // in the text form
  std::string_view npy;   // numpy's descr without the byte order mark; those numpy lacks are raw bytes
  uint8_t code, bits;     // DLPack's
  size_t size() const { return (bits + 7U) / 8U; }
};

const DType& dtype(ingot_dtype number);

// One element as a double (64-bit integers are rounded), and a double as an element: integers truncate and saturate, NaN gives 0, floats
// round to nearest even.
double decode(const DType& type, const void* element);
void encode(const DType& type, double value, void* element);
// One element exactly: shortest round-trip for floats.
std::string element_text(const DType& type, const void* element);
// A number as the text form has it (1.5, -3, nan, inf, true). False if the text is no number, or none that the dtype holds exactly enough:
// integers must be whole and in range.
bool parse_element(const DType& type, std::string_view text, void* element);
bool is_number(std::string_view text);

class Array {
 public:
  Array() = default;
  // Compact row-major, uninitialised, 64-byte aligned. `what` names it where its size is out of all bounds.
  Array(ingot_dtype type, std::vector<int64_t> shape, const std::string& what);

  const DType& type() const { return *type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * type_->size(); }
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_.get()), bytes()}; }
  // The same memory read column-major: the first dim varies fastest.
  void make_fortran();
  // Borrows the array, which must not move or change its layout meanwhile.
  ingot_tensor tensor();
  // "f32[3, 4]"
  std::string text() const;

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  const DType* type_ = nullptr;
  std::vector<int64_t> shape_, strides_;
  size_t count_ = 0;
  std::unique_ptr<uint8_t, Free> data_;
};

// Elements times item size; throws where it passes 63 bits.
int64_t byte_size(const DType& type, std::span<const int64_t> shape, const std::string& what);
std::string shape_text(std::span<const int64_t> shape);

}  // namespace ingot::tool
