#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// h(t) = (a + 13/16) Phi(-a) e^(a^2/2), t = (a - 7) / (a + 7), for 0 <= a <= 38.8, as a pair. The factor keeps h within
// a tenth of its first coefficient, so that only the last step's rounding counts, which the pair holds.
Pair scaled_tail(Val a) {
  constexpr double c0 = 0x1.bf25da1f2d5ffp-2, c0_lo = 0x1.1f7b856b81826p-56;
  static constexpr double c[] = {-0x1.de0cb66aec628p-5, 0x1.a8715783f6769p-6, 0x1.228231a0f0432p-11, -0x1.200e7e655090ap-6,
                                 0x1.96c100c8e1dccp-6, -0x1.8fd01b402be6fp-6, 0x1.408af8047c7f4p-6, -0x1.b653c9928cf3cp-7,
                                 0x1.02d0a3e692507p-7, -0x1.06f4a9692ba4fp-8, 0x1.c2f7a80172dbep-10, -0x1.37df20ccfcc1p-11,
                                 0x1.3464a68dc2c66p-13, -0x1.ce26119065486p-17, -0x1.0e1f660c76122p-17, 0x1.300cb131f254ap-18,
                                 -0x1.bed52ad00daffp-21, -0x1.e0ccc4336a767p-23, 0x1.7b4942305f9b3p-23, -0x1.f40cf63462066p-28,
                                 -0x1.5d16e74a85245p-26, -0x1.f87d6ba9258d5p-30};
  const Val inverse = 1.0 / (a + 7.0);
  const Val t = fma(inverse, -14.0, 1.0);
  const Val p = horner(t, c);
  const Val h = fma(t, p, c0);
  // t's own rounding matters near -1: h(t + t_lo) by a rough h', t_lo from t (a + 7) = a - 7.
  static constexpr double slope[] = {-0.0664, 0.315, 0.087, -0.85};
  const Val t_lo = fma(a, 1.0 - t, (t + 1.0) * -7.0) * inverse;
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
  // Phi(-a) = tail * 2^k, tail = e^(r + r_lo) h / (a + 13/16) by one division and its remainder.
  const Val n = p.hi * h.hi;
  const Val n_lo = fma(p.hi, h.lo, fma(p.lo, h.hi, fma(p.hi, h.hi, -n)));
  const Val d = a + 0.8125;
  const Val d_lo = a - (d - 0.8125);  // exact: 13/16 has few bits
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
