// Functions of f32 or f64 values as primitives: the expansion is chosen by the argument's type (f16 and bf16 compute in
// f32). Any other type is a bug of the caller.
#pragma once

#include "loop/math/f32.h"
#include "loop/math/f64.h"

namespace ingot::loop::math {

#define INGOT_FUNCTION(name) \
  inline Val name(Val x) { return x.type() == DType::f64 ? f64::name(x) : f32::name(x); }
INGOT_FUNCTION(exp)
INGOT_FUNCTION(log)
INGOT_FUNCTION(tanh)
INGOT_FUNCTION(erf)
INGOT_FUNCTION(sigmoid)
INGOT_FUNCTION(rsqrt)
INGOT_FUNCTION(gelu_erf)
INGOT_FUNCTION(gelu_tanh)
INGOT_FUNCTION(silu)
INGOT_FUNCTION(exp2)
INGOT_FUNCTION(expm1)
INGOT_FUNCTION(log2)
INGOT_FUNCTION(log1p)
INGOT_FUNCTION(exp10)
INGOT_FUNCTION(log10)
INGOT_FUNCTION(sin)
INGOT_FUNCTION(cos)
INGOT_FUNCTION(tan)
INGOT_FUNCTION(sinpi)
INGOT_FUNCTION(cospi)
INGOT_FUNCTION(asin)
INGOT_FUNCTION(acos)
INGOT_FUNCTION(atan)
INGOT_FUNCTION(sinh)
INGOT_FUNCTION(cosh)
INGOT_FUNCTION(asinh)
INGOT_FUNCTION(acosh)
INGOT_FUNCTION(atanh)
INGOT_FUNCTION(cbrt)
INGOT_FUNCTION(erfc)
INGOT_FUNCTION(softplus)
INGOT_FUNCTION(log_sigmoid)
INGOT_FUNCTION(selu)
INGOT_FUNCTION(mish)
INGOT_FUNCTION(erfinv)
INGOT_FUNCTION(lgamma)
INGOT_FUNCTION(digamma)
#undef INGOT_FUNCTION

#define INGOT_FUNCTION(name) \
  inline Val name(Val a, Val b) { return a.type() == DType::f64 ? f64::name(a, b) : f32::name(a, b); }
INGOT_FUNCTION(pow)
INGOT_FUNCTION(atan2)
INGOT_FUNCTION(hypot)
INGOT_FUNCTION(logaddexp)
#undef INGOT_FUNCTION

inline Val elu(Val x, double alpha) { return x.type() == DType::f64 ? f64::elu(x, alpha) : f32::elu(x, alpha); }

}  // namespace ingot::loop::math
