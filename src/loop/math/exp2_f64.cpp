#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// e^(r + r_lo) 2^k for the x that `e` was made of. `bound`: |x| up to which the result is normal; from `high` on it is
// infinite, below `low` it is 0.
Val finish(Val x, const ExpReduced& e, double bound, double low, double high) {
  const Val p = exp_rounded(e);
  const Val slow = select(ge(x, high), inf, select(lt(x, low), 0.0, scale_any(p, e.shifted)));
  return rare(!le(abs(x), bound), number(scale_normal(p, e.shifted)), slow);
}

}  // namespace

Val exp2(Val x) {
  constexpr double shifter = 0x1.8p52, ln2 = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
  const Val shifted = x + shifter;
  const Val f = x - (shifted - shifter);  // exact
  const Val r = f * ln2;
  return finish(x, {shifted, r, fma(f, ln2_lo, fma(f, ln2, -r))}, 1021, -1076, 1024);
}

// 2^k e^r with k log 2 + r = x log 10, the product as a pair: its absolute error is the relative one of the result.
Val exp10(Val x) {
  constexpr double ln10 = 0x1.26bb1bbb55516p1, ln10_lo = -0x1.f48ad494ea3e9p-53;
  const Val v = x * ln10;
  return finish(x, exp_reduce(Pair{v, fma(x, ln10_lo, fma(x, ln10, -v))}), 307, -324.5, 309);
}

}  // namespace ingot::loop::math::f64
