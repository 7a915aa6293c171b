#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// log(x) times a constant in two parts, exact where the result is a whole number.
Val log_times(Val x, double factor, double factor_lo) {
  const Pair l = log_pair(x);
  const Val hi = l.hi * factor;
  const Val lo = fma(l.hi, factor_lo, fma(l.lo, factor, fma(l.hi, factor, -hi)));
  const Val special = select(lt(x, 0.0), nan, select(eq(x, 0.0), -inf, x));  // infinity and NaN stay
  return rare(!(gt(x, 0.0) & lt(x, inf)), number(hi + lo), special);
}

}  // namespace

Val log2(Val x) { return log_times(x, 0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56); }

Val log10(Val x) { return log_times(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }

Val log1p(Val x) {
  const Pair l = log1p_pair(Pair{x, x.lit(0)});
  const Val special = select(lt(x, -1.0), nan, select(eq(x, -1.0), -inf, x));
  return rare(!(gt(x, -1.0) & lt(x, inf)), number(copysign(l.hi + l.lo, x)), special);
}

}  // namespace ingot::loop::math::f64
