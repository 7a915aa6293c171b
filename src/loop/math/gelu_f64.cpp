#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// h(t) = (a + 5/4) Phi(-a) e^(a^2/2), t = (a - 5) / (a + 5), for 0 <= a <= 38.8, as a pair. With this factor h moves
// little and is flat at a = 0, so that the roundings of t and of all but the last step hardly count; the pair holds the
// last one.
Pair scaled_tail(Val a) {
  constexpr double c0 = 0x1.ec4896da77b19p-2, c0_lo = 0x1.2633913c5b256p-56;
  static constexpr double c[] = {
      -0x1.04f3080b418b4p-3, 0x1.ebe8e26b671adp-5,   -0x1.4ed7f8c39d5a1p-7,  -0x1.d9140d6f79fbp-7,
      0x1.321c3a9d81d74p-6,  -0x1.a77265b37b791p-7,  0x1.84736ad9fcce2p-8,   -0x1.a8fbdc934ac45p-10,
      0x1.5af5d48294a26p-15, 0x1.5eb382b63830cp-13,  -0x1.bfae1fa9aa10cp-15, -0x1.145650a8c1c54p-17,
      0x1.256175e636519p-17, -0x1.fdfeb7fb59c96p-23, -0x1.4f2ba6e71c161p-20, 0x1.34b667324332bp-23,
      0x1.949e87c2e1f41p-23, -0x1.a7d470b9aaa13p-26, -0x1.0288cea90570bp-25, 0x1.00d109f94c0dbp-30,
      0x1.fe52356d6ffc3p-29, 0x1.5e5e7fb83a962p-31};
  const Val inverse = 1.0 / (a + 5.0);
  const Val t = fma(inverse, -10.0, 1.0);
  const Val p = horner(t, c);
  const Val h = fma(t, p, c0);
  // h(t + t_lo) by a rough h', t_lo from t (a + 5) = a - 5.
  static constexpr double slope[] = {-0.169, 0.0578, 0.184};
  const Val t_lo = fma(a, 1.0 - t, (t + 1.0) * -5.0) * inverse;
  return {h, fma(t_lo, horner(t, slope), fma(t, p, c0 - h) + c0_lo)};
}

}  // namespace

Val gelu_erf(Val x) {
  const Val a = abs(x);
  const Val half = a * -0.5;
  const Val v = half * a;
  const ExpReduced e = exp_reduce(Pair{v, fma(half, a, -v)});
  const Pair p = exp_pair(e);
  const Pair h = scaled_tail(a);
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
