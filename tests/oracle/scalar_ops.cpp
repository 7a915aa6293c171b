#include "scalar_ops.h"

#include <cmath>
#include <type_traits>

#include "array.h"
#include "narrow.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpCode;

template <class T>
constexpr bool real = std::is_floating_point_v<T>;

template <class T>
bool negative_zero(T v) {
  return v == 0 && std::signbit(v);
}

// NaN from either side; -0 is below +0.
template <class T>
T larger(T a, T b) {
  if constexpr (real<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return negative_zero(a) ? b : a;
  }
  return a < b ? b : a;
}
template <class T>
T smaller(T a, T b) {
  if constexpr (real<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return negative_zero(a) ? a : b;
  }
  return b < a ? b : a;
}

// Ties to even by comparing distances, not by the rounding mode.
template <class T>
T round_half_even(T v) {
  if (v != v || std::abs(v) >= std::ldexp(T{1}, std::numeric_limits<T>::digits - 1)) return v;
  const T below = std::floor(v), rest = v - below;
  T out = rest < T{0.5} ? below : rest > T{0.5} ? below + 1 : std::fmod(below, T{2}) == 0 ? below : below + 1;
  return std::copysign(out, v);
}

template <class T>
T wrapping(OpCode op, T a, T b) {
  __extension__ using Wide = __int128;
  const Wide x = a, y = b;
  switch (op) {
    case OpCode::op_add: return static_cast<T>(x + y);
    case OpCode::op_sub: return static_cast<T>(x - y);
    case OpCode::op_mul: return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    case OpCode::op_div: return y == 0 ? T{0} : static_cast<T>(x / y);  // MIN / -1 wraps to MIN
    case OpCode::op_neg: return static_cast<T>(-x);
    case OpCode::op_abs: return static_cast<T>(x < 0 ? -x : x);
    default: bug("no integer arithmetic");
  }
}

template <class T>
T arithmetic(OpCode op, T a, T b) {
  switch (op) {
    case OpCode::op_add: return a + b;
    case OpCode::op_sub: return a - b;
    case OpCode::op_mul: return a * b;
    default: return a / b;
  }
}

// Python's and NumPy's: a = floor_div(a, b) * b + mod(a, b), by quotients and remainders that are exact.
template <class T>
T modulo(T a, T b) {
  if constexpr (real<T>) {
    const T r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
  } else {
    __extension__ using Wide = __int128;
    if (b == 0) return 0;
    const Wide r = static_cast<Wide>(a) % b;
    return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  }
}
template <class T>
T remainder_of(T a, T b) {
  if constexpr (real<T>) return std::fmod(a, b);
  else return b == 0 ? T{0} : static_cast<T>(static_cast<int64_t>(b) == -1 && std::is_signed_v<T> ? 0 : a % b);
}
template <class T>
T floored(T a, T b) {
  if constexpr (real<T>) {
    if (a != a || b != b || (a == 0 && b == 0) || (std::isinf(a) && b != 0)) return canonical(T(NAN));
    if (b == 0) return a / b;
    if (std::isinf(b)) return a != 0 && (a < 0) != (b < 0) ? T{-1} : a / b;
    const T q = a / b;
    if (std::abs(q) >= std::ldexp(T{1}, std::numeric_limits<T>::digits)) return q;
    // a less the exact remainder is the exact product of b and an integer.
    __extension__ using Wide = __float128;
    const T r = std::fmod(a, b);
    const auto n = static_cast<T>((static_cast<Wide>(a) - static_cast<Wide>(r)) / static_cast<Wide>(b));
    const T down = r != 0 && (r < 0) != (b < 0) ? n - 1 : n;
    return down == 0 ? std::copysign(T{0}, q) : down;
  } else {
    __extension__ using Wide = __int128;
    if (b == 0) return 0;
    const Wide q = static_cast<Wide>(a) / b, r = static_cast<Wide>(a) % b;
    return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? q - 1 : q);
  }
}

template <class T>
T sign_of(T a) {
  if constexpr (real<T>)
    if (a == 0 || a != a) return a;
  return a > 0 ? T{1} : a == 0 ? T{0} : static_cast<T>(-1);
}

// Bit by bit, from the definition.
template <class T>
T bit_arithmetic(OpCode code, T a, T b) {
  constexpr int width = 8 * sizeof(T);
  const uint64_t all = ~uint64_t{0} >> (64 - width), x = static_cast<uint64_t>(a) & all;
  const bool negative = std::is_signed_v<T> && a < 0;
  const bool beyond = (std::is_signed_v<T> && b < 0) || static_cast<uint64_t>(b) >= static_cast<uint64_t>(width);
  uint64_t out = 0;
  switch (code) {
    case OpCode::op_shift_left: out = beyond ? 0 : x << b; break;
    case OpCode::op_shift_right_logical: out = beyond ? 0 : x >> b; break;
    case OpCode::op_shift_right:
      for (int i = 0; i < width; ++i) {
        const uint64_t from = beyond ? 64 : static_cast<uint64_t>(b) + static_cast<uint64_t>(i);
        out |= uint64_t{from < static_cast<uint64_t>(width) ? (x >> from & 1) != 0 : negative} << i;
      }
      break;
    case OpCode::op_rotate_left:
      for (int i = 0; i < width; ++i) {
        const int64_t to = ((i + static_cast<int64_t>(static_cast<uint64_t>(b) % 64)) % width + width) % width;
        out |= (x >> i & 1) << to;
      }
      break;
    case OpCode::op_popcount:
      for (int i = 0; i < width; ++i) out += x >> i & 1;
      break;
    case OpCode::op_clz:
      while (out < static_cast<uint64_t>(width) && !(x >> (static_cast<uint64_t>(width) - 1 - out) & 1)) ++out;
      break;
    case OpCode::op_ctz:
      while (out < static_cast<uint64_t>(width) && !(x >> out & 1)) ++out;
      break;
    default: bug("no bit arithmetic");
  }
  return static_cast<T>(out);
}

template <class T>
uint64_t apply(const ir::Op& op, uint64_t x, uint64_t y, uint64_t z) {
  const T a = from_bits<T>(x), b = from_bits<T>(y), c = from_bits<T>(z);
  const auto out = [](T v) { return to_bits(canonical(v)); };
  switch (op.code) {
    case OpCode::op_neg:
    case OpCode::op_abs:
      if constexpr (real<T>) {
        const uint64_t sign = uint64_t{1} << (8 * sizeof(T) - 1);  // bits move, a NaN's payload with them
        return op.code == OpCode::op_neg ? x ^ sign : x & ~sign;
      } else {
        return out(wrapping(op.code, a, b));
      }
    case OpCode::op_add:
    case OpCode::op_sub:
    case OpCode::op_mul:
    case OpCode::op_div:
      if constexpr (real<T>) return out(arithmetic(op.code, a, b));
      else return out(wrapping(op.code, a, b));
    case OpCode::op_min: return out(smaller(a, b));
    case OpCode::op_max: return out(larger(a, b));
    case OpCode::op_relu: return out(larger(a, T{0}));
    case OpCode::op_floor_div: return out(floored(a, b));
    case OpCode::op_mod: return out(modulo(a, b));
    case OpCode::op_rem: return out(remainder_of(a, b));
    case OpCode::op_sign: return out(sign_of(a));
    case OpCode::op_square:
      if constexpr (real<T>) return out(a * a);
      else return out(wrapping(OpCode::op_mul, a, a));
    case OpCode::op_clamp: return out(smaller(larger(a, b), c));
    case OpCode::op_eq: return a == b;
    case OpCode::op_ne: return a != b;
    case OpCode::op_lt: return a < b;
    case OpCode::op_le: return a <= b;
    case OpCode::op_gt: return a > b;
    case OpCode::op_ge: return a >= b;
    default: break;
  }
  if constexpr (real<T>) {
    switch (op.code) {
      case OpCode::op_sqrt: return out(std::sqrt(a));
      case OpCode::op_floor: return out(std::floor(a));
      case OpCode::op_ceil: return out(std::ceil(a));
      case OpCode::op_round: return out(round_half_even(a));
      case OpCode::op_fma: return out(std::fma(a, b, c));
      case OpCode::op_trunc: return out(std::trunc(a));
      case OpCode::op_reciprocal: return out(T{1} / a);
      case OpCode::op_nextafter: return out(std::nextafter(a, b));
      case OpCode::op_ldexp: return out(std::ldexp(a, static_cast<int32_t>(y)));
      case OpCode::op_copysign: {
        const uint64_t top = uint64_t{1} << (8 * sizeof(T) - 1);  // bits move
        return (x & ~top) | (y & top);
      }
      case OpCode::op_isnan: return std::isnan(a);
      case OpCode::op_isinf: return std::isinf(a);
      case OpCode::op_isfinite: return std::isfinite(a);
      case OpCode::op_signbit: return x >> (8 * sizeof(T) - 1);
      case OpCode::op_leaky_relu: return a > 0 ? x : out(a * static_cast<T>(attr(op, "negative_slope").f));
      case OpCode::op_hardtanh:
        return out(smaller(larger(a, static_cast<T>(attr(op, "low").f)), static_cast<T>(attr(op, "high").f)));
      case OpCode::op_hardsigmoid: return out(smaller(larger(a + 3, T{0}), T{6}) / 6);
      case OpCode::op_hardswish: return out(a * smaller(larger(a + 3, T{0}), T{6}) / 6);
      case OpCode::op_softsign: return out(a / (1 + std::abs(a)));
      default: break;
    }
  }
  if constexpr (!real<T>)
    if (ir::op_info(op.code)->types == ir::TypeSet::itg) return out(bit_arithmetic(op.code, a, b));
  bug("the oracle has no op ", ir::op_info(op.code)->name);
}

uint64_t bit_op(OpCode op, uint64_t all, uint64_t a, uint64_t b) {
  switch (op) {
    case OpCode::op_and: return a & b;
    case OpCode::op_or: return a | b;
    case OpCode::op_xor: return a ^ b;
    default: return ~a & all;
  }
}

template <class To, class From>
To cast_value(From v) {
  if constexpr (real<From> && !real<To>) {
    if (v != v) return 0;
    // Exact in 80-bit arithmetic: 64 bits of mantissa hold every limit of the integer types.
    const long double t = std::trunc(static_cast<long double>(v));
    if (t >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (t <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(t);
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace

namespace {
uint64_t f32_of(DType narrow, uint64_t bits) { return to_bits(static_cast<float>(narrow_value(narrow, bits))); }
}  // namespace

uint64_t cast(DType to, DType from, uint64_t a) {
  if (is_narrow(from)) {  // exact in f32
    if (is_narrow(to)) return narrow_bits(to, static_cast<Exact>(narrow_value(from, a)));
    const uint64_t wide = f32_of(from, a);
    return to == DType::f32 ? to_bits(canonical(from_bits<float>(wide))) : cast(to, DType::f32, wide);
  }
  if (is_narrow(to))
    return with_type(from, [&](auto f) { return narrow_bits(to, static_cast<Exact>(from_bits<decltype(f)>(a))); });
  return with_type(from, [&](auto f) {
    const auto v = from_bits<decltype(f)>(a);
    if (to == DType::boolean) return uint64_t{v != 0};
    return with_type(to, [&](auto t) { return to_bits(canonical(cast_value<decltype(t)>(v))); });
  });
}

namespace {
// The neighbour of a on the way to b. Values are ordered as their bits are, so it is beside a, or the least one of
// either sign.
uint64_t narrow_next(DType type, uint64_t a, uint64_t b) {
  const double from = narrow_value(type, a), to = narrow_value(type, b);
  if (from != from || to != to) return narrow_nan(type);
  if (from == to) return b;
  const uint64_t sign = uint64_t{1} << (8 * ir::item_size(type) - 1);
  uint64_t best = b;
  for (const uint64_t v : {(a + 1) % (2 * sign), (a - 1) % (2 * sign), uint64_t{1}, sign | 1}) {
    const double x = narrow_value(type, v), nearest = narrow_value(type, best);
    if (from < to ? x > from && x < nearest : x < from && x > nearest) best = v;
  }
  // Of the two zeros the one on a's side.
  return narrow_value(type, best) == 0 ? a & sign : best;
}
}  // namespace

uint64_t scalar_op(const ir::Op& op, DType type, uint64_t a, uint64_t b, uint64_t c) {
  switch (op.code) {
    case OpCode::op_select: return a ? b : c;
    case OpCode::op_cast: return cast(static_cast<DType>(attr(op, "to").i), type, a);
    case OpCode::op_bitcast: return a;
    case OpCode::op_and:
    case OpCode::op_or:
    case OpCode::op_xor:
    case OpCode::op_not:
      return bit_op(op.code, type == DType::boolean ? 1 : ~uint64_t{0} >> (64 - 8 * ir::item_size(type)), a, b);
    default: break;
  }
  if (!is_narrow(type)) return with_type(type, [&](auto t) { return apply<decltype(t)>(op, a, b, c); });
  const uint64_t sign = uint64_t{1} << (8 * ir::item_size(type) - 1);
  switch (op.code) {  // what only moves bits
    case OpCode::op_neg: return a ^ sign;
    case OpCode::op_abs: return a & ~sign;
    case OpCode::op_copysign: return (a & ~sign) | (b & sign);
    case OpCode::op_signbit: return (a & sign) != 0;
    case OpCode::op_nextafter: return narrow_next(type, a, b);
    default: break;
  }
  // As in f32, rounded once.
  const bool integer = op.code == OpCode::op_ldexp;
  const uint64_t wide = apply<float>(op, f32_of(type, a), integer ? b : f32_of(type, b), f32_of(type, c));
  const ir::Rule rule = ir::op_info(op.code)->rule;
  return rule == ir::Rule::compare || rule == ir::Rule::test ? wide : cast(type, DType::f32, wide);
}

}  // namespace ingot::oracle
