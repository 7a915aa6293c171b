#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

Val expm1(Val x) {
  const Sum sum = expm1_sum(x);
  const Val fast = copysign(sum.high + sum.low, x);

  const ExpParts e = exp_parts(vmax(x, -40.0), x.lit(0), 0);
  const Val slow = scale_far(e.s + 1, e.t.number_bits() << 23, lt(x, 0));
  const Val clamped = select(lt(89, x), std::numeric_limits<double>::infinity(), slow);
  return rare(!le(x, 87), number(fast), clamped);
}

}  // namespace ingot::loop::math::f32
