#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

Val exp(Val x) {
  const ExpReduced e = exp_reduce(x);
  // r_lo removes r's own rounding, worth a quarter of an ulp where e^r is just above 0.7.
  const Val p = (e.r + fma(e.r * e.r, exp_tail(e.r), e.r_lo)) + 1.0;
  const Val slow = select(gt(x, 710.0), std::numeric_limits<double>::infinity(),
                          select(lt(x, -746.0), 0.0, scale_any(p, e.shifted)));
  return rare(!le(abs(x), 708.0), number(scale_normal(p, e.shifted)), slow);
}

}  // namespace ingot::loop::math::f64
