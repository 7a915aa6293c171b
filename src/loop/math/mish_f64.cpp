#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

// x N / (N + 2), N = e^x (e^x + 2) = (1 + e^x)^2 - 1, by one division and its remainder. From 40 on the result is x,
// far below 0 it is x e^x.
Val mish(Val x) {
  const ExpReduced e = exp_reduce(vmin(x, 40.0));
  const Pair p = exp_pair(e);
  const Val power = exp2_k(e.shifted);
  const Val hi = p.hi * power, lo = p.lo * power;
  const Pair plus_two = two_sum(hi, x.lit(2));
  const Pair n = two_prod(hi, plus_two.hi);
  const Val n_lo = fma(hi, plus_two.lo + lo, fma(lo, plus_two.hi, n.lo));
  const Pair d = two_sum(n.hi, x.lit(2));
  const Val inverse = 1.0 / d.hi;
  const Val q = n.hi * inverse;
  const Val q_lo = (fma(-q, d.hi, n.hi) + fma(-q, d.lo + n_lo, n_lo)) * inverse;
  const Val fast = fma(x, q, x * q_lo);

  const Val tail = scale_any(fma(x, p.hi, x * p.lo), e.shifted);
  const Val slow = select(gt(x, 600.0), x, select(lt(x, -800.0), -0.0, tail));
  return copysign(rare(!le(abs(x), 600.0), fast, slow), x);
}

}  // namespace ingot::loop::math::f64
