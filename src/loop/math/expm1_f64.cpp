#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

Val expm1(Val x) {
  // From -40 down the result rounds to -1.
  const ExpReduced e = exp_reduce(vmax(x, -40.0));
  const Pair m = expm1_pair(e);
  // The sign is that of x for zeros too.
  const Val fast = copysign(m.hi + m.lo, x);
  const Val slow = select(gt(x, 710.0), std::numeric_limits<double>::infinity(), scale_any(exp_rounded(e), e.shifted));
  return rare(gt(x, 708.0), fast, slow);
}

}  // namespace ingot::loop::math::f64
