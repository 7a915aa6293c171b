// Host memory around a tensor: how it lies there, and what must not be touched.
#pragma once

#include <string>
#include <vector>

#include "array.h"
#include "runtime/tensor.h"

namespace ingot::oracle {

enum class Layout {
  compact,     // row-major, no strides given
  unaligned,   // row-major at an address that is odd
  strided,     // gaps between items and between rows
  negative,    // every dim walked downwards
  transposed,  // column-major
  broadcast,   // stride 0 along the last dim: every row repeats its first item
};
inline constexpr Layout all_layouts[] = {Layout::compact,  Layout::unaligned,  Layout::strided,
                                         Layout::negative, Layout::transposed, Layout::broadcast};
std::string_view name(Layout layout);

class HostTensor {
 public:
  // An input with these contents (true is written as various non-zero bytes).
  HostTensor(const Array& contents, Layout layout);
  // An output, poisoned. Not of layout broadcast.
  HostTensor(ir::DType dtype, std::vector<int64_t> shape, Layout layout);
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  const runtime::Tensor* tensor() const { return &tensor_; }
  // All bytes, those around the tensor too, and where among them the tensor's data pointer points.
  std::vector<uint8_t>& memory() { return memory_; }
  size_t lead() const { return static_cast<size_t>(static_cast<uint8_t*>(tensor_.data) - memory_.data()); }
  // What lies there now; of a bool any other byte than 0 and 1 shows as it is.
  Array read_raw() const;
  // The same with every non-zero bool as 1: what the graph sees of an input.
  Array read() const;
  // Whether any byte outside of the elements has changed since construction; for inputs, any byte at all.
  bool strayed() const;

 private:
  void lay_out(Layout layout);
  template <class F>
  void each(F f) const;  // f(byte offset of the element), row-major

  ir::DType dtype_;
  std::vector<int64_t> shape_, strides_;  // strides in items
  std::vector<uint8_t> memory_, before_;
  std::vector<uint8_t> own_;  // per byte: 1 if it belongs to an output's element
  size_t item_ = 0;           // bytes of an element
  size_t base_ = 0;
  runtime::Tensor tensor_{};
};

// Empty where the two are equal, else what differs first.
std::string difference(const Array& want, const Array& got);

}  // namespace ingot::oracle
