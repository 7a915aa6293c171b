// Items in memory, of any alignment, for the steps without a kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ir/dtype.h"

namespace ingot::runtime {

template <class T>
T get(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void put(char* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// Calls f with a zero of the C++ type in which items lie: f16, bf16 and fp8 as their bits, booleans as bytes.
template <class F>
void with_storage(ir::DType t, F f) {
  switch (t) {
    case ir::DType::i8: return f(int8_t{});
    case ir::DType::i16: return f(int16_t{});
    case ir::DType::i32: return f(int32_t{});
    case ir::DType::i64: return f(int64_t{});
    case ir::DType::u16:
    case ir::DType::f16:
    case ir::DType::bf16: return f(uint16_t{});
    case ir::DType::u32: return f(uint32_t{});
    case ir::DType::u64: return f(uint64_t{});
    case ir::DType::f32: return f(float{});
    case ir::DType::f64: return f(double{});
    default: return f(uint8_t{});
  }
}

// An index as it is looked up: what no i64 is stays out of range.
template <class I>
int64_t whole(I v) {
  if constexpr (std::is_same_v<I, uint64_t>) return static_cast<int64_t>(std::min<uint64_t>(v, INT64_MAX));
  else return static_cast<int64_t>(v);
}

}  // namespace ingot::runtime
