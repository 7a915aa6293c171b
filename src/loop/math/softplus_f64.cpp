#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// log(1 + e^-d), d being what was reduced, for 0 <= d <= 700, with about 2^-58 relative error.
Pair log1p_exp(const ExpReduced& minus_d) {
  const Pair p = exp_pair(minus_d);
  const Val power = exp2_k(minus_d.shifted);
  return log1p_pair({p.hi * power, p.lo * power});
}

Val sum_of(Val a, Pair b) {
  const Pair sum = two_sum(a, b.hi);
  return sum.hi + (sum.lo + b.lo);
}

}  // namespace

// max(x, 0) + log(1 + e^-|x|). From 700 on the result is x, from -700 down e^x, which may be denormal.
Val softplus(Val x) {
  const Val a = abs(x);
  const ExpReduced e = exp_reduce(-a);
  const Val fast = sum_of(vmax(x, 0.0), log1p_exp(e));
  const Val power = select(lt(x, -746.0), 0.0, scale_any(exp_rounded(e), e.shifted));
  return rare(lt(700.0, a), fast, select(lt(0.0, x), x, power));
}

Val log_sigmoid(Val x) { return -softplus(-x); }

// m + log(1 + e^-d), m the larger of both and d their distance, which is taken in two parts: its error is e^-d's. Far
// apart, e^-d counts beside the least m only, 0 among them.
Val logaddexp(Val a, Val b) {
  const Val m = vmax(a, b);
  const Pair d = two_sum(vmin(a, b), -m);
  const ExpReduced e = exp_reduce(d);
  const Val fast = sum_of(m, log1p_exp(e));
  const Val power = scale_any(exp_rounded(e), e.shifted);
  // Two infinities of one sign have no distance.
  const Val slow = m + select(le(-746.0, d.hi), power, m.lit(0));
  return rare(!le(-700.0, d.hi), fast, slow);
}

}  // namespace ingot::loop::math::f64
