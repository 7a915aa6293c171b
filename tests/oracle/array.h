// A value of a graph as the oracle holds it: one element's bits per word, zero-extended, in row-major order.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "ir/dtype.h"

namespace ingot::oracle {

struct Array {
  ir::DType dtype = ir::DType::invalid;
  std::vector<int64_t> shape;
  std::vector<uint64_t> bits;  // booleans: 0 or 1

  friend bool operator==(const Array&, const Array&) = default;
};

inline size_t element_count(const std::vector<int64_t>& shape) {
  size_t n = 1;
  for (const int64_t e : shape) n *= static_cast<size_t>(e);
  return n;
}

template <size_t bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = uint8_t;
};
template <>
struct WordOf<2> {
  using type = uint16_t;
};
template <>
struct WordOf<4> {
  using type = uint32_t;
};
template <>
struct WordOf<8> {
  using type = uint64_t;
};

template <class T>
T from_bits(uint64_t bits) {
  return std::bit_cast<T>(static_cast<typename WordOf<sizeof(T)>::type>(bits));
}
template <class T>
uint64_t to_bits(T v) {
  return std::bit_cast<typename WordOf<sizeof(T)>::type>(v);
}

// The NaN that arithmetic makes is the positive quiet one without payload, whatever the hardware made.
template <class T>
T canonical(T v) {
  if constexpr (std::numeric_limits<T>::is_iec559)
    if (v != v) return sizeof(T) == 4 ? from_bits<T>(0x7fc00000) : from_bits<T>(0x7ff8000000000000);
  return v;
}

// Calls f with a value of the C++ type of a dtype.
template <class F>
auto with_type(ir::DType t, F f) {
  switch (t) {
    case ir::DType::i8: return f(int8_t{});
    case ir::DType::i16: return f(int16_t{});
    case ir::DType::i32: return f(int32_t{});
    case ir::DType::i64: return f(int64_t{});
    case ir::DType::boolean:
    case ir::DType::u8: return f(uint8_t{});
    case ir::DType::u16: return f(uint16_t{});
    case ir::DType::u32: return f(uint32_t{});
    case ir::DType::u64: return f(uint64_t{});
    case ir::DType::f32: return f(float{});
    case ir::DType::f64: return f(double{});
    default: bug("the oracle has no type ", ir::name(t));
  }
}

}  // namespace ingot::oracle
