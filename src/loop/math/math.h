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
#undef INGOT_FUNCTION

inline Val pow(Val x, Val y) { return x.type() == DType::f64 ? f64::pow(x, y) : f32::pow(x, y); }

}  // namespace ingot::loop::math
