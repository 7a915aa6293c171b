#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

// tanh(a) = E / (E + 2) with E = e^(2a) - 1 as a pair; one formula for every a, since E keeps its relative accuracy
// down to 0.
Val tanh(Val x) {
  // From 19.07 on the result rounds to 1; the bound keeps 2^k - 1 and every sum below in range.
  const Val a = vmin(abs(x), 22.0);
  const ExpReduced e = exp_reduce(a + a);
  // e^r - 1, k >= 0.
  const Pair u = fast_two_sum(e.r, fma(e.r * e.r, exp_tail(e.r), fma(e.r_lo, e.r, e.r_lo)));
  // 2^k - 1 is 0 or larger than 2^k (e^r - 1), as fast_two_sum wants it.
  const Val power = exp2_k(e.shifted);
  const Pair sum = fast_two_sum(power - 1.0, power * u.hi);
  const Val numerator_lo = fma(power, u.lo, sum.lo);
  const Pair d = two_sum(sum.hi, x.lit(2));
  const Val inverse = 1.0 / d.hi;
  const Val q = sum.hi * inverse;
  const Val d_lo = d.lo + numerator_lo;
  const Val remainder = fma(-q, d_lo, fma(-q, d.hi, sum.hi) + numerator_lo);
  return copysign(fma(remainder, inverse, q), x);
}

}  // namespace ingot::loop::math::f64
