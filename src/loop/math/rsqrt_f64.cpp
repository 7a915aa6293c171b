#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

Val rsqrt(Val x) {
  const Val y = 1.0 / sqrt(x);
  // One Newton step on y, whose residual 1 - x y^2 is computed from the exact product x y.
  const Pair xy = two_prod(x, y);
  const Val residual = fma(-xy.hi, y, 1.0) - xy.lo * y;
  const Val better = fma(y * 0.5, residual, y);
  // Of y, only 0 and the infinities equal their double; there the residual is NaN and y is the answer.
  return select(eq(y + y, y), y, better);
}

}  // namespace ingot::loop::math::f64
