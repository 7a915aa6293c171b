#include "loop/eval.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "ir/scalar.h"
#include "loop/rules.h"

namespace ingot::loop {

namespace {

template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
T value(uint64_t bits) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}
template <class T>
uint64_t bits(T v) {
  return std::bit_cast<BitsOf<T>>(v);
}

// Calls f with a zero of the C++ type that holds values of `t`; boolean is a byte of 0 or 1.
template <class F>
auto with_type(DType t, F f) {
  switch (t) {
    case DType::boolean:
    case DType::u8: return f(uint8_t{});
    case DType::i8: return f(int8_t{});
    case DType::i16: return f(int16_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    default: bug("no values of type ", ir::name(t));
  }
}

template <class T>
T float_arith(Prim op, T a, T b, T c) {
  constexpr BitsOf<T> sign = BitsOf<T>{1} << (8 * sizeof(T) - 1);
  const auto low = [](T v) { return static_cast<BitsOf<T>>(bits(v)); };
  switch (op) {
    case Prim::add: return a + b;
    case Prim::sub: return a - b;
    case Prim::mul: return a * b;
    case Prim::div: return a / b;
    case Prim::min:
      if (std::isnan(a) || std::isnan(b)) return a + b;
      return a < b || (a == b && std::signbit(a)) ? a : b;
    case Prim::max:
      if (std::isnan(a) || std::isnan(b)) return a + b;
      return a > b || (a == b && !std::signbit(a)) ? a : b;
    // The sign operations move bits, so a NaN keeps its payload and its quiet bit.
    case Prim::neg: return std::bit_cast<T>(static_cast<BitsOf<T>>(low(a) ^ sign));
    case Prim::abs: return std::bit_cast<T>(static_cast<BitsOf<T>>(low(a) & ~sign));
    case Prim::copysign: return std::bit_cast<T>(static_cast<BitsOf<T>>((low(a) & ~sign) | (low(b) & sign)));
    case Prim::fma: return std::fma(a, b, c);
    case Prim::sqrt: return std::sqrt(a);
    case Prim::floor: return std::floor(a);
    case Prim::ceil: return std::ceil(a);
    case Prim::trunc: return std::trunc(a);
    case Prim::round: return std::nearbyint(a);  // half to even: the caller has set round-to-nearest
    case Prim::canon:  // libstdc++'s quiet_NaN is the positive one with zero payload (asserted in the tests)
      return std::isnan(a) ? std::numeric_limits<T>::quiet_NaN() : a;
    default: bug("eval of ", prim_info(op)->name, " on floats");
  }
}

template <class T>
T int_arith(Prim op, T a, T b) {
  using U = uint64_t;  // wraps, and is wider than what integer promotion would make of the small types
  constexpr int width = 8 * sizeof(T);
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const auto unsigned_a = static_cast<BitsOf<T>>(a);
  const bool in_range = b >= 0 && ub < U{width};
  switch (op) {
    case Prim::add: return static_cast<T>(ua + ub);
    case Prim::sub: return static_cast<T>(ua - ub);
    case Prim::mul: return static_cast<T>(ua * ub);
    case Prim::div:
      if (b == 0) return 0;
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(U{0} - ua);  // MIN / -1 would trap
      return static_cast<T>(a / b);
    case Prim::rem:
      if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
      return static_cast<T>(a % b);
    case Prim::min: return a < b ? a : b;
    case Prim::max: return a > b ? a : b;
    case Prim::neg: return static_cast<T>(U{0} - ua);
    case Prim::abs: return a < 0 ? static_cast<T>(U{0} - ua) : a;
    case Prim::and_: return static_cast<T>(ua & ub);
    case Prim::or_: return static_cast<T>(ua | ub);
    case Prim::xor_: return static_cast<T>(ua ^ ub);
    case Prim::not_: return static_cast<T>(~ua);
    case Prim::shl: return in_range ? static_cast<T>(ua << ub) : T{0};
    case Prim::shr:
      if (std::is_signed_v<T>) return static_cast<T>(static_cast<int64_t>(a) >> (in_range ? ub : U{width - 1}));
      return in_range ? static_cast<T>(ua >> ub) : T{0};
    case Prim::popcount: return static_cast<T>(std::popcount(unsigned_a));
    case Prim::clz: return static_cast<T>(std::countl_zero(unsigned_a));
    case Prim::ctz: return static_cast<T>(std::countr_zero(unsigned_a));
    default: bug("eval of ", prim_info(op)->name, " on integers");
  }
}

// The sign operations, all that there is on f16, bf16 and fp8: bits of `size` bytes.
uint64_t narrow_arith(Prim op, size_t size, uint64_t a, uint64_t b) {
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  switch (op) {
    case Prim::neg: return a ^ sign;
    case Prim::abs: return a & ~sign;
    case Prim::copysign: return (a & ~sign) | (b & sign);
    default: bug("eval of ", prim_info(op)->name, " on floats that are only moved");
  }
}

uint64_t bool_arith(Prim op, uint64_t a, uint64_t b) {
  switch (op) {
    case Prim::and_: return a & b;
    case Prim::or_: return a | b;
    case Prim::xor_: return a ^ b;
    case Prim::not_: return a ^ 1;
    default: bug("eval of ", prim_info(op)->name, " on booleans");
  }
}

template <class T>
bool compare(Prim op, T a, T b) {
  switch (op) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    default: return a <= b;
  }
}

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // 2^digits is a float of both formats while the largest To often is not; -2^digits is the least signed value.
    const From beyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (std::isnan(v)) return 0;
    if (v >= beyond) return std::numeric_limits<To>::max();
    if (v <= (std::is_signed_v<To> ? -beyond : From{0})) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(v);
}

uint64_t convert(DType to, DType from, uint64_t a) {
  // Exact in f64 either way, so that what rounds is float_bits() alone.
  if (is_narrow(to)) return ir::float_bits(to, static_cast<double>(value<float>(a)));
  if (is_narrow(from)) return bits(static_cast<float>(ir::float_value(from, a)));
  return with_type(from, [&](auto from_zero) {
    const auto v = value<decltype(from_zero)>(a);
    if (to == DType::boolean) return uint64_t{v != 0};
    return with_type(to, [&](auto to_zero) { return bits(convert<decltype(to_zero)>(v)); });
  });
}

}  // namespace

uint64_t eval(Prim prim, DType type, DType arg_type, uint64_t a, uint64_t b, uint64_t c) {
  const PrimInfo* info = prim_info(prim);
  if (!info || info->cls == PrimClass::leaf || ends_sweep(prim) || prim == Prim::fetch)
    bug("eval of what is no scalar operation");
  switch (prim) {
    case Prim::select: return a ? b : c;
    case Prim::rare: return a ? c : b;
    case Prim::bitcast:
    case Prim::number_bits:
    case Prim::number: return a;
    case Prim::check: return a != 0 && b < c;  // unsigned: an extent is never negative
    case Prim::convert: return convert(type, arg_type, a);
    case Prim::scale2:
      return type == DType::f32 ? bits(std::scalbn(value<float>(a), value<int32_t>(b)))
                                : bits(std::scalbn(value<double>(a), value<int32_t>(b)));
    default: break;
  }
  if (info->cls == PrimClass::compare)
    return with_type(arg_type, [&](auto zero) {
      using T = decltype(zero);
      return uint64_t{compare(prim, value<T>(a), value<T>(b))};
    });
  if (type == DType::boolean) return bool_arith(prim, a, b);
  if (is_narrow(type)) return narrow_arith(prim, ir::item_size(type), a, b);
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) return bits(float_arith(prim, value<T>(a), value<T>(b), value<T>(c)));
    else return bits(int_arith(prim, value<T>(a), value<T>(b)));
  });
}

}  // namespace ingot::loop
