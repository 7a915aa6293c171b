// The reduction of f64 arguments by pi/2, whatever their size.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::trig {

// x = n pi/2 + r - low, |r| <= pi/4 and a little more. Only the low two bits of the integer `n` count.
struct Reduced {
  Val r, low, n;
};

// pi/2 in three parts.
inline constexpr double half_pi_f64[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// For every finite a >= 0, however large (NaN parts for infinity). Some hundred primitives, for the slow arm of a
// `rare`. What two such arms share would run always, so each function asks with a `unit` of its own, a power of two
// with a sign: a * unit is what the primitives begin with.
Reduced reduce_far(Val a, double unit);

}  // namespace ingot::loop::math::trig
