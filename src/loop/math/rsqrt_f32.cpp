#include <limits>

#include "loop/math/f32.h"

namespace ingot::loop::math::f32 {

// sqrt(1/x): the root halves the relative error of the division, so the worst case is 0.86 ULP. 1/sqrt(x) has 1.49.
Val rsqrt(Val x) {
  // 2^-126 <= x <= 2^126 in one signed comparison; 1/x would be denormal above and infinite below.
  const Val special = lt(int32_t{-0x02000000}, x.number_bits() + 0x7f800000);
  const Val one = x.lit(1);
  const Val fast = sqrt(one / x);
  const Val tiny = lt(x, 1);
  const Val scaled = x * select(tiny, 0x1p64, x.lit(0x1p-64));
  const Val slow = sqrt(one / scaled) * select(tiny, 0x1p32, x.lit(0x1p-32));
  const Val signed_slow = select(lt(x, 0), std::numeric_limits<double>::quiet_NaN(), slow);
  return rare(special, number(fast), select(eq(x, 0), one / x, signed_slow));
}

}  // namespace ingot::loop::math::f32
