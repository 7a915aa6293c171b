// The f32 functions as expansions into primitives, the same bits on every backend. Each is within 1 ULP of the exact
// value for every input (denormal results count in units of 2^-149), with overflow, signed zeros, infinities and NaN as
// in Annex F of C. The polynomials come from tools/coefficients; what each expansion guards against stands in its file.
//
// Arguments and results are of type f32. All but pow use f32 and i32 primitives only. The results of equal primitives
// are shared by the builder, so calling one of these twice costs nothing.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::f32 {

Val exp(Val x);
Val log(Val x);
Val tanh(Val x);
Val erf(Val x);
Val sigmoid(Val x);     // 1 / (1 + e^-x)
Val rsqrt(Val x);       // 1 / sqrt(x); rsqrt(+-0) = +-inf
Val pow(Val x, Val y);  // through f64
Val gelu_erf(Val x);    // x Phi(x), Phi the normal distribution's; -0 at -inf, the limit
Val gelu_tanh(Val x);   // x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2; -0 at -inf
Val silu(Val x);        // x / (1 + e^-x); -0 at -inf

}  // namespace ingot::loop::math::f32
