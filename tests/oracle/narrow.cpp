#include "narrow.h"

#include <cmath>

namespace ingot::oracle {

namespace {

struct Format {
  int exponent_bits, mantissa_bits;
  bool saturates;     // instead of overflowing to infinity
  bool has_infinity;  // else the top exponent holds numbers, and one NaN
};

Format format(ir::DType t) {
  switch (t) {
    case ir::DType::f16: return {5, 10, false, true};
    case ir::DType::bf16: return {8, 7, false, true};
    case ir::DType::f8e5m2: return {5, 2, true, true};
    default: return {4, 3, true, false};
  }
}

}  // namespace

double narrow_value(ir::DType t, uint64_t bits) {
  const Format f = format(t);
  const int m = f.mantissa_bits, bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> m) & top;
  const auto mantissa = static_cast<int>(bits & ((uint64_t{1} << m) - 1));
  const double sign = bits >> (m + f.exponent_bits) & 1 ? -1 : 1;
  if (exponent == top && f.has_infinity) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == top && mantissa == (1 << m) - 1) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - m);
  return sign * std::ldexp(mantissa + (1 << m), exponent - bias - m);
}

uint64_t narrow_nan(ir::DType t) {
  switch (t) {
    case ir::DType::f16: return 0x7E00;
    case ir::DType::bf16: return 0x7FC0;
    case ir::DType::f8e5m2: return 0x7E;
    default: return 0x7F;
  }
}

namespace {
// Of v >= 0. By bisection over the format's own values, which are ordered as their bits are, so that nothing is shared
// with how anybody rounds.
uint64_t magnitude(ir::DType t, Exact v) {
  const Format f = format(t);
  const uint64_t infinity = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  const uint64_t largest = f.has_infinity ? infinity - 1 : infinity + (uint64_t{1} << f.mantissa_bits) - 2;
  uint64_t low = 0, high = largest;  // the largest value that is not above v
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (static_cast<Exact>(narrow_value(t, middle)) <= v) low = middle;
    else high = middle - 1;
  }
  const Exact below = narrow_value(t, low);
  if (v == below) return low;
  // Above the largest the next step is as wide as the last one.
  const Exact above = low < largest ? static_cast<Exact>(narrow_value(t, low + 1))
                                    : below + (below - static_cast<Exact>(narrow_value(t, low - 1)));
  const Exact down = v - below, up = above - v;
  const uint64_t nearest = down < up ? low : up < down ? low + 1 : low % 2 == 0 ? low : low + 1;
  return nearest <= largest ? nearest : f.saturates ? largest : infinity;
}
}  // namespace

uint64_t narrow_bits(ir::DType t, Exact v) {
  if (v != v) return narrow_nan(t);
  const Format f = format(t);
  const uint64_t sign = uint64_t{1} << (f.exponent_bits + f.mantissa_bits);
  const bool negative = v < 0 || (v == 0 && std::signbit(static_cast<double>(v)));
  return magnitude(t, negative ? -v : v) | (negative ? sign : 0);
}

}  // namespace ingot::oracle
