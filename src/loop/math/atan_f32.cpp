#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f64.h"
#include "loop/math/wide_f32.h"

namespace ingot::loop::math::f32 {

namespace {

// atan(a / b) for 0 <= a <= b, reduced to (a - b) / (a + b) where a quotient is above tan(pi/8).
Val atan_ratio(Val a, Val b) {
  static constexpr double c[] = {-0x1.555554c5efdb5p-2, 0x1.999918916e24bp-3,  -0x1.247ed88a6f414p-3,
                                 0x1.c463ce1f0f1a5p-4,  -0x1.5b2f13587c65ep-4, 0x1.849d671291a02p-5};
  const Val high = lt(b * 0.41421356237309503, a);
  const Val q = select(high, a - b, a) / select(high, a + b, b);
  const Val z = q * q;
  return fma(q * z, f64::horner(z, c), q) + select(high, half_pi / 2, q.lit(0));
}

// v + v z p = asin(v) for z = v^2 <= 1/4; above |x| = 1/2 of sqrt((1 - |x|) / 2), twice.
struct Arc {
  Val big, value;
};
Arc arc(Val x) {
  static constexpr double c[] = {0x1.55555605cd59fp-3, 0x1.3332aa05fb403p-4, 0x1.6ddabff6b2d0bp-5, 0x1.ed5d167bc333p-6,
                                 0x1.931fa0e01e046p-6, 0x1.ec24397f1feep-8,  0x1.1bd29790faedp-5};
  const Val a = abs(x);
  const Val big = lt(0.5, a);
  const Val rest = 0.5 - a * 0.5;
  const Val z = select(big, rest, a * a);
  const Val v = select(big, sqrt(rest) * 2.0, a);
  return {big, fma(v * z, f64::horner(z, c), v)};
}

}  // namespace

Val atan(Val x) {
  const Val a = abs(x).to(DType::f64);
  const Val t = atan_ratio(vmin(a, 1.0), vmax(a, 1.0));
  return copysign(select(lt(1.0, a), half_pi - t, t).to(DType::f32), x);
}

Val atan2(Val y, Val x) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Val ax = abs(x).to(DType::f64), ay = abs(y).to(DType::f64);
  const Val least = vmin(ax, ay), most = vmax(ax, ay);
  // Two infinities lie as two ones do, two zeros as 0 and 1.
  const Val both = eq(least, inf);
  const Val t = atan_ratio(select(both, 1.0, least), select(both | eq(most, 0.0), 1.0, most));
  const Val upper = select(lt(ax, ay), half_pi - t, t);
  const Val angle = select(lt(x.cast_bits(DType::i32), 0), 2 * half_pi - upper, upper);
  return copysign(angle.to(DType::f32), y);
}

Val asin(Val x) {
  const Arc r = arc(x.to(DType::f64));
  return copysign(select(r.big, half_pi - r.value, r.value).to(DType::f32), x);
}

Val acos(Val x) {
  const Val wide = x.to(DType::f64);
  const Arc r = arc(wide);
  const Val left = lt(wide, 0.0);
  const Val beside = half_pi - select(left, -r.value, r.value);
  return select(r.big, select(left, 2 * half_pi - r.value, r.value), beside).to(DType::f32);
}

}  // namespace ingot::loop::math::f32
