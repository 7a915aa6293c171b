// What several f32 expansions share.
#pragma once

#include <initializer_list>

#include "loop/expr.h"

namespace ingot::loop::math::f32 {

// c[0] x^n + ... + c[n] by Horner's rule, one fma a step.
inline Val horner(Val x, std::initializer_list<double> c) {
  Val p = x.lit(*c.begin());
  for (auto at = c.begin() + 1; at != c.end(); ++at) p = fma(p, x, *at);
  return p;
}

// Adding this to |v| < 2^22 rounds v to an integer, which stands in the low bits of the sum.
inline constexpr double round_magic = 0x1.8p23;

// ln 2 = hi + lo. n * hi is exact for |n| < 2^9 (tools/coefficients/exp_f32.sollya).
inline constexpr double ln2_hi = 0x1.62e4p-1, ln2_lo = 0x1.7f7d1cp-20, log2_e = 0x1.715476p0;

}  // namespace ingot::loop::math::f32
