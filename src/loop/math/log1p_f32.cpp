#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// log(u) + (1 + x - u) / u, u = 1 + x rounded: what u lost is small beside it.
Val log1p(Val x) {
  const Val u = x + 1;
  const Val lost = x - (u - 1);  // exact
  const auto [e, f, m] = log_reduce(u.number_bits());
  const Val whole = e * ln2_hi;  // exact
  const Val head = whole + f;
  const Val rest = fma(e, ln2_lo, (whole - head) + f) + lost / u;
  const Val fast = copysign(head + fma(f * f, log_quotient(f), rest), x);

  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Val special = select(lt(x, -1), nan, select(eq(x, -1), -inf, x));  // infinity and NaN stay
  return rare(!(lt(-1, x) & lt(x, inf)), number(fast), special);
}

}  // namespace ingot::loop::math::f32
