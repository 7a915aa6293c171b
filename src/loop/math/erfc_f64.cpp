#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

// For x >= 0: 2 Phi(-a), a = sqrt(2) x = 2 e^(-x^2) h(a) / (a + 5/4); for x < 0: 2 less that of -x.
Val erfc(Val x) {
  constexpr double sqrt2 = 0x1.6a09e667f3bcdp0, sqrt2_lo = -0x1.bdd3413b26456p-54;
  const Val b = abs(vmin(vmax(x, -7.0), 27.4));  // from -6 down the result rounds to 2, from 27.3 on to 0
  const Val a = b * sqrt2;
  const Val a_lo = fma(b, sqrt2_lo, fma(b, sqrt2, -a));
  const Val v = -b * b;
  const ExpReduced e = exp_reduce(Pair{v, fma(-b, b, -v)});
  const Pair p = exp_pair(e);
  const Pair h = normal_tail(a);  // a_lo moves it by less than 2^-55
  const Val n = p.hi * h.hi;
  const Val n_lo = fma(p.hi, h.lo, fma(p.lo, h.hi, fma(p.hi, h.hi, -n)));
  const Val d = a + 1.25;
  const Val d_lo = (a - (d - 1.25)) + a_lo;
  const Val inverse = 2.0 / d;
  const Val tail = n * inverse;
  const Val negated = tail * -0.5;
  const Val tail_lo = (fma(negated, d, n) + fma(negated, d_lo, n_lo)) * inverse;

  const Val power = exp2_k(e.shifted);
  const Pair sum = fast_two_sum(select(lt(x, 0.0), x.lit(2), x.lit(0)), select(lt(x, 0.0), -tail, tail) * power);
  const Val lo = tail_lo * power;
  const Val fast = sum.hi + (sum.lo + select(lt(x, 0.0), -lo, lo));
  const Val slow = scale_any(tail + tail_lo, e.shifted);
  return rare(gt(x, 26.0), fast, slow);
}

}  // namespace ingot::loop::math::f64
