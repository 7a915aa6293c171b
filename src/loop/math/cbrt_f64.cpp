#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

// x = 8^q m, 1 <= m < 8; m^(-1/3) by a polynomial and two steps of third order, then y = m^(1/3) with its residual.
Val cbrt(Val x) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double shifter = 0x1.8p52;
  const Val a = abs(x);
  const Val tiny = lt(a, std::numeric_limits<double>::min());
  const Val bits = select(tiny, a * 0x1p54, a).cast_bits(DType::u64);
  const Val biased = ((bits >> 52) | int64_t{0x4330000000000000}).cast_bits(DType::f64);
  const Val q = round(fma(biased - log_k_bias, 1.0 / 3, -1.0 / 3));
  const Val m = (bits - (fma(q, x.lit(3), x.lit(shifter)).cast_bits(DType::u64) << 52)).cast_bits(DType::f64);
  static constexpr double c[] = {0x1.56739cca96bf3p0, -0x1.c369e6d278928p-2, 0x1.bc6f42fc4579cp-4,
                                 -0x1.a98c5208378fep-7, 0x1.32dd5ff1a6b13p-11};
  Val r = horner(m, c);
  for (int i = 0; i < 2; ++i) {
    const Val e = fma(-m * (r * r), r, 1.0);
    r = fma(r * e, fma(e, 2.0 / 9, 1.0 / 3), r);
  }
  const Val y = m * (r * r);
  const Pair square = two_prod(y, y);
  const Val rest = fma(-square.hi, y, m) - square.lo * y;
  const Val root = fma(rest, r * r * (1.0 / 3), y);
  const Val scaled = scale_normal(root, (q - select(tiny, 18.0, x.lit(0))) + shifter);
  return copysign(rare(!(gt(a, 0.0) & lt(a, inf)), scaled, a), x);
}

}  // namespace ingot::loop::math::f64
