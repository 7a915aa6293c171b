// The f64 functions as expansions into primitives, written once for every backend. Each takes values of type f64 and
// returns one. Special values (NaN, infinities, signed zeros, overflow, denormal results) are those of C Annex F.
//
// The ULP stated is the bound each is held to (NUMERICS.md); tests/math/f64_sample prints what samples reach, and the
// coefficients come from the scripts of the same name in tools/coefficients.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::f64 {

// e^x. 1 ULP.
Val exp(Val x);

// Natural logarithm. 1 ULP. log(-0) = log(0) = -inf, NaN below.
Val log(Val x);

// 1 / sqrt(x). 2 ULP. rsqrt(+-0) = +-inf, NaN below.
Val rsqrt(Val x);

// Hyperbolic tangent. 2 ULP.
Val tanh(Val x);

// Error function. 2 ULP.
Val erf(Val x);

// 1 / (1 + e^-x). 2 ULP, denormal results included.
Val sigmoid(Val x);

// x sigmoid(x). 2 ULP. silu(-inf) is the limit, -0.
Val silu(Val x);

// x Phi(x), Phi the normal distribution's. 2 ULP, in the negative tail too. gelu_erf(-inf) is the limit, -0.
Val gelu_erf(Val x);

// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, its constants taken as real numbers. 2 ULP, in the negative tail
// too. gelu_tanh(-inf) is the limit, -0.
Val gelu_tanh(Val x);

// 2^x, 10^x, e^x - 1. 2 ULP. The first two are exact where the result is a double.
Val exp2(Val x);
Val exp10(Val x);
Val expm1(Val x);

// Logarithms to the bases 2 and 10, and log(1 + x). 2 ULP. The first two are exact where the result is a whole number.
Val log2(Val x);
Val log10(Val x);
Val log1p(Val x);

// Of every finite x, however large. 1 ULP; tan 2 ULP.
Val sin(Val x);
Val cos(Val x);
Val tan(Val x);

// sin(pi x), its zeros with the sign of x, and cos(pi x), its zeros +0. 2 ULP.
Val sinpi(Val x);
Val cospi(Val x);

// 2 ULP, special cases as Annex F has them.
Val asin(Val x);
Val acos(Val x);
Val atan(Val x);
Val atan2(Val y, Val x);
Val sinh(Val x);
Val cosh(Val x);
Val asinh(Val x);
Val acosh(Val x);
Val atanh(Val x);

// Cube root. 2 ULP.
Val cbrt(Val x);

// sqrt(x^2 + y^2) without overflow or underflow on the way. 2 ULP. Infinite where x or y is, NaN beside it or not.
Val hypot(Val x, Val y);

// 1 - erf(x). 2 ULP down to the denormal results.
Val erfc(Val x);

// log(1 + e^x) and -log(1 + e^-x), denormal results included. 2 ULP. log_sigmoid(inf) is the limit, -0.
Val softplus(Val x);
Val log_sigmoid(Val x);

// x where that is above 0 (or a zero), else alpha (e^x - 1); selu is 1.0507... times that with alpha = 1.6732... 2 ULP.
Val elu(Val x, double alpha);
Val selu(Val x);

// x tanh(log(1 + e^x)). 2 ULP. mish(-inf) is the limit, -0.
Val mish(Val x);

// log(e^a + e^b). 2 ULP where the result is above 2^-5 in magnitude; below, where e^a + e^b is near 1 by cancellation,
// within 2^-57 of it. An infinity among a and b that is not the lesser is the result.
Val logaddexp(Val a, Val b);

// The x with erf(x) = the argument. 2 ULP. Infinite at -1 and 1, NaN beyond.
Val erfinv(Val x);

// log |gamma(x)|. 4 ULP for x > 0, but for 1e-15 beside the roots 1 and 2; below 0 within 1e-15 max(1, |result|). +inf
// at 0, at negative whole numbers and at both infinities.
Val lgamma(Val x);

// The derivative of lgamma, with the bounds of lgamma. -inf at +0, +inf at -0, NaN at negative whole numbers and -inf.
Val digamma(Val x);

// x^y. 2 ULP. Every special case of Annex F: pow(x, 0) = pow(1, y) = 1 even for NaN, pow(-1, +-inf) = 1, odd integer
// y keeps the sign of x, NaN for finite x < 0 and y not an integer.
Val pow(Val x, Val y);

}  // namespace ingot::loop::math::f64
