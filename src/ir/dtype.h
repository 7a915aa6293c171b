// Element types. Numbers are those of ingot_dtype in the public header: append-only, zero is invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::ir {

enum class DType : uint8_t {
  invalid = 0,
  boolean = 1,  // one byte; any non-zero byte reads as true, 0 or 1 is written
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  bf16 = 11,
  f32 = 12,
  f64 = 13,
  f8e4m3 = 14,  // storage only: OCP e4m3fn
  f8e5m2 = 15,  // storage only
  // 16..31 are left for i4, u4, fp4, bit; 32 and 33 are the complex types, known and refused.
  c64 = 32,
  c128 = 33,
};

// 1, 2, 4, 8 or 16 bytes; 0 for invalid. On every run's path, so a table by number.
constexpr size_t item_size(DType t) noexcept {
  constexpr uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1};
  const auto i = static_cast<size_t>(t);
  return i < sizeof sizes ? sizes[i] : t == DType::c64 ? 8 : t == DType::c128 ? 16 : 0;
}
// "bool", "f32", ...; "invalid" for anything else.
std::string_view name(DType t) noexcept;
// DType::invalid if the name is not one of a type.
DType parse_dtype(std::string_view name) noexcept;
// ", did you mean f32?" for what NumPy, PyTorch or C call a dtype; "" otherwise.
std::string dtype_hint(std::string_view name);

bool is_float(DType t) noexcept;     // f16 bf16 f32 f64 and the fp8 storage types
bool is_signed(DType t) noexcept;    // i8..i64
bool is_unsigned(DType t) noexcept;  // u8..u64
bool is_integer(DType t) noexcept;   // either of them, bool excluded

}  // namespace ingot::ir
