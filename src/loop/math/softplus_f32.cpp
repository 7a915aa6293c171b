#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// max(x, 0) + log(1 + u), u = e^-|x|; the logarithm is log(1 + f) = f + f^2 q(f) with f = u, or ln 2 more with f =
// (u - 1) / 2, for -1/4 <= f <= 1/2. What u and the sums round off is carried along.
Val softplus(Val x) {
  const Val a = abs(x);
  const ExpParts e = exp_parts(-a, 0);
  const Val one_s = e.s + 1;
  const Val u = one_s * e.power;
  const Val u_low = e.add_product(1 - one_s, e.s.lit(1)) * e.power;
  const Val big = lt(0.5, u);
  const Val f = select(big, fma(u, 0.5, -0.5), u);
  const Val f_low = select(big, u_low * 0.5, u_low);
  const Val q = horner(f, {-0x1.721d3ep-5, 0x1.ad4188p-4, -0x1.0db586p-3, 0x1.28852ep-3, -0x1.54eb54p-3, 0x1.9968fp-3,
                           -0x1.00004ep-2, 0x1.5555a6p-2, -0.5});
  const Val base = select(big, x.lit(0x1.62e43p-1), 0);
  const Val positive = vmax(x, 0);
  const Val first = base + positive;  // base is 0 or the larger, and first 0 or larger than f
  const Val head = first + f;
  const Val lost = (positive - (first - base)) + (f - (head - first));
  const Val curve = fma(f * f, q, fma(f_low, fma(f, -0.7, 1), lost));
  const Val fast = head + curve;

  // From 86 on the result is x, from -86 down e^x, which may be denormal.
  const Val power = scale_far(one_s, e.t.number_bits() << 23, lt(x, 0));
  return rare(!le(a, 86), number(fast), select(lt(0, x), x, select(lt(x, -104), 0, power)));
}

Val log_sigmoid(Val x) { return -softplus(-x); }

}  // namespace ingot::loop::math::f32
