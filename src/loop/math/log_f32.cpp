#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log x = e ln 2 + log(1 + f).
Val log(Val x) {
  const Val bits = x.number_bits();
  const Val special = not_positive_normal(bits);
  // Denormals become normal.
  const auto [e, f, m] = log_reduce(rare(special, bits, (x * 0x1p23).number_bits()));
  const Val log1p = fma(f * f, log_quotient(f), f);
  const double ln2 = 0x1.62e43p-1;
  const Val fast = fma(e, ln2, log1p);

  const Val positive = fma(e - 23, ln2, log1p);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Val finite = select(lt(0, x), positive, select(eq(x, 0), -inf, x.lit(nan)));
  return rare(special, number(fast), select(lt(x, inf), finite, x));
}

}  // namespace ingot::loop::math::f32
