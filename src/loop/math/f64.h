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

// x^y. 2 ULP. Every special case of Annex F: pow(x, 0) = pow(1, y) = 1 even for NaN, pow(-1, +-inf) = 1, odd integer
// y keeps the sign of x, NaN for finite x < 0 and y not an integer.
Val pow(Val x, Val y);

}  // namespace ingot::loop::math::f64
