#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

Val gelu_erf(Val x) {
  const Val a = abs(x);
  const Val half = a * -0.5;
  const Val v = half * a;
  const ExpReduced e = exp_reduce(Pair{v, fma(half, a, -v)});
  const Pair p = exp_pair(e);
  const Pair h = normal_tail(a);
  // Phi(-a) = tail * 2^k, tail = e^(r + r_lo) h / (a + 5/4) by one division and its remainder.
  const Val n = p.hi * h.hi;
  const Val n_lo = fma(p.hi, h.lo, fma(p.lo, h.hi, fma(p.hi, h.hi, -n)));
  const Val d = a + 1.25;
  const Val d_lo = a - (d - 1.25);  // exact: 5/4 has few bits
  const Val inverse = 1.0 / d;
  const Val tail = n * inverse;
  const Val tail_lo = (fma(-tail, d, n) + fma(-tail, d_lo, n_lo)) * inverse;

  // x Phi(-a) for x < 0, x (1 - Phi(-a)) above.
  const Val power = copysign(exp2_k(e.shifted), -x);
  const Pair phi = fast_two_sum(select(lt(x, 0.0), 0.0, x.lit(1)), tail * power);
  const Val fast = fma(x, phi.hi, x * fma(tail_lo, power, phi.lo));
  const Val slow = select(gt(x, 30.0), x, select(lt(x, -40.0), -0.0, scale_any(fma(x, tail, x * tail_lo), e.shifted)));
  return copysign(rare(!le(a, 30.0), fast, slow), x);
}

}  // namespace ingot::loop::math::f64
