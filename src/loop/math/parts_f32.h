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

// Adding this to |v| < 2^22 rounds v to an integer, which stands in the low bits of the sum: shifted left by 23 they
// are an exponent field.
inline constexpr double round_magic = 0x1.8p23;

// ln 2 = hi + lo. n * hi is exact for |n| < 2^9 (tools/coefficients/exp_f32.sollya).
inline constexpr double ln2_hi = 0x1.62e4p-1, ln2_lo = 0x1.7f7d1cp-20, log2_e = 0x1.715476p0;

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
inline Val exp_quotient(Val r) {
  return horner(r, {0x1.6a5e34p-10, 0x1.123adp-7, 0x1.5558a2p-5, 0x1.55549p-3, 0x1.fffffcp-2});
}

// 2^f for |f| <= 1/2.
inline Val exp2_fraction(Val f) {
  return horner(f, {0x1.3fb5f2p-13, 0x1.5f0e12p-10, 0x1.3b309p-7, 0x1.c6af72p-5, 0x1.ebfbd8p-3, 0x1.62e43p-1, 1});
}

// p 2^n rounded once, overflow and denormal results included, for 1/2 < p < 2 and |n| <= 220: p 2^(n +- 100), scaled
// back. `exponent` is (n + 127) << 23, `negative` tells whether n is so (either will do near 0).
Val scale_far(Val p, Val exponent, Val negative);

// e^a = 2^n (1 + s), for quotients and products that want s finer than the grid of 1 + s.
struct ExpParts {
  Val t;                 // bits: a multiple of 2^9, plus n + 127 + up
  Val s;                 // e^r - 1, r = a - n ln 2
  Val power;             // 2^(n + up), where that is normal
  Val high, low, curve;  // s before it was rounded: their sum; no low where the argument was one value

  // c + k s without the rounding of s, which is up to a quarter of an ulp of 1.
  Val add_product(Val c, Val k) const;
};
ExpParts exp_parts(Val a, int up);
// e^(a + a_low), |a_low| <= ulp(a).
ExpParts exp_parts(Val a, Val a_low, int up);

// The sum of two values, |low| far below |high|.
struct Sum {
  Val high, low;
};
// e^x - 1 for x <= 87; high is not yet rounded to the nearest, a sum of both is.
Sum expm1_sum(Val x);

// x = 2^e m, m = 1 + f, with sqrt(1/2) <= m < sqrt(2), from the bits of a positive normal finite x.
struct LogReduced {
  Val e, f, m;
};
LogReduced log_reduce(Val bits);
// (log(1 + f) - f) / f^2 for those f.
Val log_quotient(Val f);
// True for all but positive normal finite x, by one comparison of x's bits.
Val not_positive_normal(Val bits);

}  // namespace ingot::loop::math::f32
