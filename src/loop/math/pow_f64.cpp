#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// The result where |x| or y is special, x is negative, or the result leaves the normal range. `magnitude` is |x|^y for
// positive finite |x| and any y but NaN.
Val pow_special(Val x, Val y, Val magnitude) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  // Beyond 2^53 every double is even, and halves are integers.
  const Val is_integer = eq(trunc(y), y);
  const Val half = y * 0.5;
  const Val is_odd = is_integer & ne(trunc(half), half);

  const Val ax = abs(x);
  const Val is_zero = eq(ax, 0.0);
  const Val is_inf = eq(ax, inf);
  Val r = select(lt(x, 0.0) & !is_integer, nan, magnitude);
  r = select(is_zero | is_inf, select(is_inf ^ lt(y, 0.0), x.lit(inf), x.lit(0.0)), r);
  r = copysign(r, select(is_odd, x, 1.0));
  r = select(is_nan(vmax(x, y)), nan, r);
  return select(eq(y, 0.0) | eq(x, 1.0), 1.0, r);
}

}  // namespace

Val pow(Val x, Val y) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Pair l = log_pair(abs(x));
  const Val v = y * l.hi;
  const Val v_lo = fma(y, l.lo, fma(y, l.hi, -v));
  const ExpReduced e = exp_reduce(Pair{v, v_lo});
  const Val p = exp_rounded(e);
  // Where v is far outside, p means nothing, but the saturated exponent decides; where v = inf * log(1) is NaN, p is 1
  // and the exponent 0.
  const Val magnitude = scale2(select(le(abs(v), 800.0), p, 1.0), exp_exponent(e.shifted).to(DType::i32));
  const Val usual = gt(x, 0.0) & lt(x, inf) & le(abs(v), 708.0);
  return rare(!usual, number(scale_normal(p, e.shifted)), pow_special(x, y, magnitude));
}

}  // namespace ingot::loop::math::f64
