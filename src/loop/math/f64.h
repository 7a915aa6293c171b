#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::f64 {

Val exp(Val x);
Val log(Val x);
Val tanh(Val x);
Val erf(Val x);
Val sigmoid(Val x);
Val rsqrt(Val x);
Val pow(Val x, Val y);
Val gelu_erf(Val x);
Val gelu_tanh(Val x);
Val silu(Val x);

}  // namespace ingot::loop::math::f64
