// What the f32 functions share that are computed in f64 and rounded: to about 2^-32, which leaves them 0.51 ULP. The
// values here are of type f64.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::f32 {

inline constexpr double half_pi = 0x1.921fb54442d18p0;

// e^a = power (1 + u), for |a| < 700. u keeps its relative accuracy about 0.
struct WideExp {
  Val power, u;
};
WideExp wide_exp(Val a);

// log(x) for positive normal x, with its relative accuracy about 1; any number for others.
Val wide_log(Val x);

}  // namespace ingot::loop::math::f32
