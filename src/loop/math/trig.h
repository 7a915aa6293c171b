// The reduction of arguments by pi/2, whatever their size: shared by f32 and f64.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::trig {

// x = n pi/2 + r - low, |r| <= pi/4 and a little more. Only the low two bits of the integer `n`, which has the width of
// x, count.
struct Reduced {
  Val r, low, n;
};

// pi/2 in three parts.
inline constexpr double half_pi_f32[] = {0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50};
inline constexpr double half_pi_f64[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// For every finite a >= 0, however large (NaN parts for infinity). Some hundred primitives, for the slow arm of a
// `rare`. What two such arms share would run always, so each function asks with a `unit` of its own, a power of two
// with a sign: a * unit is what the primitives begin with.
Reduced reduce_far(Val a, double unit);

}  // namespace ingot::loop::math::trig
