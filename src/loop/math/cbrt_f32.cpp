#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f32 {

// |x| = 8^q m, 1 <= m < 8: m (m^(-1/3))^2, the inverse root by a polynomial and one step of fourth order, in f64, where
// no x is denormal.
Val cbrt(Val x) {
  static constexpr double c[] = {0x1.80a0aaa82a2e1p0,   -0x1.869f6c6ee4673p-1, 0x1.5706b143ad599p-2,
                                 -0x1.689650515c25dp-4, 0x1.b1fb99dca4503p-7,  -0x1.1363955044ff2p-10,
                                 0x1.1d2cc428bddc4p-15};
  constexpr double inf = std::numeric_limits<double>::infinity(), shifter = 0x1.8p52;
  const Val a = abs(x).to(DType::f64);
  const Val bits = a.cast_bits(DType::u64);
  const Val biased = ((bits >> 52) | int64_t{0x4330000000000000}).cast_bits(DType::f64);
  const Val q = round(fma(biased - f64::log_k_bias, 1.0 / 3, -1.0 / 3));
  const Val m = (bits - (fma(q, 3.0, shifter).cast_bits(DType::u64) << 52)).cast_bits(DType::f64);
  const Val r = f64::horner(m, c);
  const Val e = fma(-m * (r * r), r, 1.0);
  const Val inverse = fma(r * e, fma(fma(e, 14.0 / 81, 2.0 / 9), e, 1.0 / 3), r);
  const Val root = f64::scale_normal(m * (inverse * inverse), q + shifter).to(DType::f32);
  return copysign(select(gt(a, 0.0) & lt(a, inf), root, abs(x)), x);
}

// No square leaves the range of f64.
Val hypot(Val x, Val y) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Val a = x.to(DType::f64), b = y.to(DType::f64);
  const Val root = sqrt(fma(a, a, b * b)).to(DType::f32);
  return select(eq(abs(x), inf) | eq(abs(y), inf), inf, root);
}

}  // namespace ingot::loop::math::f32
