#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

Val log(Val x) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double min_normal = std::numeric_limits<double>::min();

  // x = 2^k m, sqrt(1/2) <= m < sqrt(2). Denormals are scaled up first.
  const Val tiny = lt(x, min_normal);
  const Val scaled = select(tiny, x * 0x1p54, x);
  const LogReduced a = log_reduce(scaled);
  const Val k = a.biased_k - select(tiny, x.lit(log_k_bias + 54), x.lit(log_k_bias));

  // log(1 + f) = f - (f^2/2 - s (f^2/2 + R)) with s = f / (2 + f), R = s^2 p(s^2); `s` below is negated.
  static constexpr double c[] = {0x1.5555555555558p-1, 0x1.999999999528ep-2, 0x1.2492492e01479p-2, 0x1.c71c62ce93b59p-3,
                                 0x1.7462bb6a69decp-3, 0x1.39fd7ee584955p-3, 0x1.2b631d1808f57p-3};
  const Val f = a.m - 1.0;
  const Val s = f / (-1.0 - a.m);
  const Val z = s * s;
  const Val half_square = (f * 0.5) * f;

  // k * ln2_hi is exact (42 bits), and the rounding of its sum with f is carried along: it would cost half an ulp
  // where k is 1 or -1. Below, the small terms are added first.
  constexpr double ln2_hi = 0x1.62e42fefa38p-1;
  constexpr double ln2_lo = 0x1.ef35793c7673p-45;
  const Val k_part = k * ln2_hi;
  const Val head = k_part + f;
  const Val negated_lo = fma(k, -ln2_lo, (head - k_part) - f);
  const Val small = fma(s, fma(z, horner(z, c), half_square), negated_lo);
  const Val result = head - (half_square + small);

  // +inf and NaN stay, zeros give -inf, below is NaN.
  const Val special = select(lt(x, 0.0), std::numeric_limits<double>::quiet_NaN(), select(eq(x, 0.0), -inf, x));
  return rare(!(gt(x, 0.0) & lt(x, inf)), number(result), special);
}

}  // namespace ingot::loop::math::f64
