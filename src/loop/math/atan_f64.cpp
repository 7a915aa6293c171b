#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double half_pi = 0x1.921fb54442d18p0, half_pi_lo = 0x1.1a62633145c07p-54;

// An angle as base + v + small, base 0 or larger than v: pi/4 times a whole number, in two parts.
struct Angle {
  Val base, base_lo, v, small;
  Val sum() const {
    const Pair head = fast_two_sum(base, v);
    return head.hi + (head.lo + (small + base_lo));
  }
};

// atan(a / b) for 0 <= a <= b, `step` being 0 or 1 for base = step pi/4. Where a quotient q is above tan(pi/8) the
// reduction goes to (a - b) / (a + b), whose three roundings would cost two ulps: the remainder of the division takes
// them in. There a and b are used times `scale`.
struct Ratio {
  Val step, q, small;
};
Ratio atan_ratio(Val a, Val b, Val scale) {
  static constexpr double c[] = {-0x1.5555555555554p-2, 0x1.99999999995c2p-3,  -0x1.24924924723dfp-3,
                                 0x1.c71c71b60c2d1p-4,  -0x1.745d149474a9bp-4, 0x1.3b136b5edfcccp-4,
                                 -0x1.110c4ebc53a5p-4,  0x1.e16f9025af894p-5,  -0x1.ab6f7a1f58c3p-5,
                                 0x1.70b9caac1fd9ep-5,  -0x1.11ca9d417103cp-5, 0x1.f0524528bfebep-7};
  const Val x = a * scale, y = b * scale;
  const Val high = lt(y * 0.41421356237309503, x);  // of denormals it would be a rough guess
  const Val n = x - y, n_lo = x - (n + y);
  const Val d = x + y, d_lo = x - (d - y);
  const Val q = select(high, n, a) / select(high, d, b);
  const Val rest = (fma(-q, d, n) + (n_lo - q * d_lo)) / d;
  const Val z = q * q;
  return {select(high, q.lit(1), q.lit(0)), q, fma(q * z, horner(z, c), select(high, rest, q.lit(0)))};
}

Val angle(Val steps, Val v, Val small) {
  constexpr double pi_4 = half_pi / 2, pi_4_lo = half_pi_lo / 2;
  const Val base = steps * pi_4;
  return Angle{base, fma(steps, pi_4_lo, fma(steps, pi_4, -base)), v, small}.sum();
}

// t + t z p(z) = asin(t) for z = t^2, t <= 1/2: p.
Val asin_quotient(Val z) {
  static constexpr double c[] = {
      0x1.5555555555578p-3, 0x1.333333332df3bp-4,  0x1.6db6db72289dap-5, 0x1.f1c71a8cef866p-6, 0x1.6e8bdfbb0af8p-6,
      0x1.1c49e16d4633ap-6, 0x1.ca20eab935396p-7,  0x1.757aa0d81df3ap-7, 0x1.6178650f9b26bp-7, 0x1.e27f663dfbbap-9,
      0x1.64a4dd07ea8abp-6, -0x1.596cfbf4c6cdap-6, 0x1.0bb7b2f19fd92p-5};
  return horner(z, c);
}

// Above 1/2: asin(x) = pi/2 - 2 asin(t), t = sqrt((1 - x) / 2).
struct Half {
  Val big, z, t;
};
Half halve(Val a) {
  const Val big = lt(0.5, a);
  const Val rest = 0.5 - a * 0.5;
  return {big, select(big, rest, a * a), sqrt(rest)};
}

}  // namespace

Val atan(Val x) {
  const Val a = vmin(abs(x), 0x1p60);  // beyond, the result rounds to pi/2
  const Val one = x.lit(1);
  const Ratio r = atan_ratio(vmin(a, one), vmax(a, one), one);
  const Val swap = gt(a, 1.0);
  const Val steps = select(swap, 2.0 - r.step, r.step);
  return copysign(angle(steps, select(swap, -r.q, r.q), select(swap, -r.small, r.small)), x);
}

Val atan2(Val y, Val x) {
  const Val ax = abs(x), ay = abs(y);
  const Val least = vmin(ax, ay), most = vmax(ax, ay);
  const Val both = eq(least, inf);  // pi/4 from the axes, as if equal
  const Val a = select(both, 1.0, least);
  const Val b = select(both | eq(most, 0.0), 1.0, most);
  const Val scale = select(gt(b, 0x1p500), 0x1p-600, select(lt(b, 0x1p-500), 0x1p600, b.lit(1)));
  const Ratio r = atan_ratio(a, b, scale);
  const Val swap = lt(ax, ay), left = lt(x.cast_bits(DType::i64), 0);
  const Val upper = select(swap, 2.0 - r.step, r.step);
  const Val negate = swap ^ left;
  return copysign(angle(select(left, 4.0 - upper, upper), select(negate, -r.q, r.q), select(negate, -r.small, r.small)),
                  y);
}

Val asin(Val x) {
  const Val a = abs(x);
  const Half h = halve(a);
  const Val v = select(h.big, h.t * -2.0, a);
  const Val zero = x.lit(0);
  const Angle r{select(h.big, half_pi, zero), select(h.big, half_pi_lo, zero), v, (v * h.z) * asin_quotient(h.z)};
  return copysign(r.sum(), x);
}

Val acos(Val x) {
  const Half h = halve(abs(x));
  const Val left = lt(x, 0.0);
  const Val twice = h.t * 2.0;
  const Val v = select(h.big, select(left, -twice, twice), -x);
  const Val zero = x.lit(0);
  const Val base = select(h.big, select(left, 2 * half_pi, zero), x.lit(half_pi));
  const Val base_lo = select(h.big, select(left, 2 * half_pi_lo, zero), x.lit(half_pi_lo));
  return Angle{base, base_lo, v, (v * h.z) * asin_quotient(h.z)}.sum();
}

}  // namespace ingot::loop::math::f64
