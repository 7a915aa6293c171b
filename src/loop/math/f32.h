// The f32 functions as expansions into primitives, the same bits on every backend. Each is within 1 ULP of the exact
// value for every input (denormal results count in units of 2^-149), with overflow, signed zeros, infinities and NaN as
// in Annex F of C. The polynomials come from tools/coefficients; what each expansion guards against stands in its file.
//
// Arguments and results are of type f32. All but pow and the last group use f32 and i32 primitives only. The results of
// equal primitives are shared by the builder, so calling one of these twice costs nothing.
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
Val exp2(Val x);
Val expm1(Val x);  // e^x - 1
Val log2(Val x);
Val log1p(Val x);  // log(1 + x)
Val exp10(Val x);
Val log10(Val x);
Val sin(Val x);  // of every finite x, however large, as are cos and tan
Val cos(Val x);
Val softplus(Val x);           // log(1 + e^x)
Val log_sigmoid(Val x);        // -log(1 + e^-x); -0 at inf
Val elu(Val x, double alpha);  // x where that is above 0 (or a zero), else alpha (e^x - 1)
Val selu(Val x);               // 1.0507... x above 0, else 1.0507... 1.6732... (e^x - 1)

// Computed in f64 and rounded: within 0.51 ULP.
Val tan(Val x);
Val sinpi(Val x);  // sin(pi x); a zero has the sign of x
Val cospi(Val x);  // cos(pi x); +0 where x is half of an odd number
Val asin(Val x);
Val acos(Val x);
Val atan(Val x);
Val atan2(Val y, Val x);
Val sinh(Val x);
Val cosh(Val x);
Val asinh(Val x);
Val acosh(Val x);
Val atanh(Val x);
Val cbrt(Val x);
Val hypot(Val x, Val y);
Val erfc(Val x);              // 1 - erf(x)
Val mish(Val x);              // x tanh(log(1 + e^x)); -0 at -inf
Val logaddexp(Val a, Val b);  // log(e^a + e^b); within 1 ULP where that is above 2^-33 in magnitude, 2^-57 off below
Val erfinv(Val x);
Val lgamma(Val x);   // log |gamma(x)|
Val digamma(Val x);  // the derivative of lgamma

}  // namespace ingot::loop::math::f32
