#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

// sqrt(a^2 + b^2), scaled so that nothing overflows, nor vanishes that counts. An infinite argument wins over NaN.
Val hypot(Val x, Val y) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Val ax = abs(x), ay = abs(y);
  const Val most = vmax(ax, ay), least = vmin(ax, ay);
  const Val large = gt(most, 0x1p500), small = lt(most, 0x1p-450);
  const Val down = select(large, 0x1p-600, select(small, 0x1p600, most.lit(1)));
  const Val up = select(large, 0x1p600, select(small, 0x1p-600, most.lit(1)));
  const Val a = most * down, b = least * down;
  const Val root = sqrt(fma(a, a, b * b)) * up;
  return select(eq(ax, inf) | eq(ay, inf), inf, root);
}

}  // namespace ingot::loop::math::f64
