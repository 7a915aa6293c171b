// What the f64 expansions have in common: unevaluated sums of two doubles, and the exponential in pieces. Private to
// src/loop/math.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::f64 {

// The value hi + lo, |lo| at most about an ulp of hi.
struct Pair {
  Val hi, lo;
};

// a + b exactly, where |a| >= |b| or a is zero.
Pair fast_two_sum(Val a, Val b);
// a + b exactly.
Pair two_sum(Val a, Val b);
// a * b exactly, short of underflow.
Pair two_prod(Val a, Val b);

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule, one fma a coefficient.
template <size_t n>
Val horner(Val x, const double (&c)[n]) {
  static_assert(n >= 2);
  Val p = fma(x, c[n - 1], c[n - 2]);
  for (size_t i = n - 2; i-- > 0;) p = fma(p, x, c[i]);
  return p;
}

// e^x = 2^k e^(r + r_lo), |r| <= log(2)/2. `shifted` is k + 1.5 * 2^52: its low bits are those of the integer k.
struct ExpReduced {
  Val shifted, r, r_lo;
};
// Right for |x| <= 800; beyond, and for NaN, every part is an arbitrary number or NaN.
ExpReduced exp_reduce(Val x);
ExpReduced exp_reduce(Pair x);
// k as a double; of the size of x / log(2) for any x.
Val exp_exponent(Val shifted);
// (e^r - 1 - r) / r^2 within 2^-60 of (e^r - 1) / r^2.
Val exp_tail(Val r);
// e^(r + r_lo), within 0.63 ulp.
Val exp_rounded(const ExpReduced& x);
// e^(r + r_lo) with about 2^-58 relative error.
Pair exp_pair(const ExpReduced& x);
// 2^k, for -1022 <= k <= 1023.
Val exp2_k(Val shifted);
// 2^k e^(r + r_lo) - 1 for those k, with about 2^-58 relative error; lo is at most an ulp of hi.
Pair expm1_pair(const ExpReduced& x);

// x = 2^k m with sqrt(1/2) <= m < sqrt(2), for positive normal x. `biased_k` is k + log_k_bias.
struct LogReduced {
  Val biased_k, m;
};
inline constexpr double log_k_bias = 0x1p52 + 1023;
LogReduced log_reduce(Val x);
// log(x) for positive finite x, denormals included, with about 2^-65 relative error; lo is up to 2^-44 of hi.
Pair log_pair(Val x);
// log(1 + x) for x > -1, with about 2^-58 relative error.
Pair log1p_pair(Pair x);

// pi cot(pi x) for x that is no whole number, with about 2^-55 relative error.
Pair pi_cot_pi(Val x);

// For a >= 0, as a pair: (a + 5/4) Phi(-a) e^(a^2/2), Phi the normal distribution's; right up to 38.8.
Pair normal_tail(Val a);

// p * 2^k by adding k to the exponent: p and the result must be normal.
Val scale_normal(Val p, Val shifted);
// p * 2^k, rounded once, whatever the result.
Val scale_any(Val p, Val shifted);

}  // namespace ingot::loop::math::f64
