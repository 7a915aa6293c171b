#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// e^a / 2 for a > 40, where e^-a no longer counts.
Val half_exp(Val a, const ExpReduced& e) {
  return select(gt(a, 711.0), inf, scale_any(exp_rounded(e), e.shifted - 1.0));
}

// log(2 a) for a >= 2^28, where sqrt(a^2 + 1) is a.
constexpr double large = 0x1p28;
Val log_twice(Val a) {
  const Pair l = log_pair(a);
  const Pair sum = fast_two_sum(l.hi, a.lit(0x1.62e42fefa39efp-1));
  return select(lt(a, inf), sum.hi + (sum.lo + (l.lo + 0x1.abc9e3b39803fp-56)), a);
}

}  // namespace

// (E + E / (E + 1)) / 2 with E = e^a - 1, which keeps its relative accuracy down to 0.
Val sinh(Val x) {
  const Val a = abs(x);
  const ExpReduced r = exp_reduce(a);
  const Pair e = expm1_pair(r);
  const Pair d = two_sum(e.hi, x.lit(1));
  const Val inverse = 1.0 / d.hi;
  const Val q = e.hi * inverse;
  const Val q_lo = (fma(-q, d.hi, e.hi) + (e.lo - q * (d.lo + e.lo))) * inverse;
  const Pair sum = fast_two_sum(e.hi, q);
  const Val fast = (sum.hi + (sum.lo + (e.lo + q_lo))) * 0.5;
  return copysign(rare(gt(a, 708.0), fast, half_exp(a, r)), x);
}

Val cosh(Val x) {
  const Val a = abs(x);
  const ExpReduced r = exp_reduce(a);
  const Pair p = exp_pair(r);
  const Val half_power = exp2_k(r.shifted) * 0.5;
  const Val e = p.hi * half_power;
  const Pair sum = fast_two_sum(e, 0.25 / e);
  const Val fast = sum.hi + fma(p.lo, half_power, sum.lo);
  return rare(gt(a, 708.0), fast, half_exp(a, r));
}

// log(1 + w), w = a + a^2 / (1 + sqrt(1 + a^2)) in two parts.
Val asinh(Val x) {
  const Val a = abs(x);
  const Val square = a * a;
  const Pair l = log1p_pair(fast_two_sum(a, square / (sqrt(square + 1.0) + 1.0)));
  return copysign(rare(gt(a, large), l.hi + l.lo, log_twice(a)), x);
}

// log(1 + w), w = t + sqrt(t (t + 2)) in two parts, t = x - 1.
Val acosh(Val x) {
  const Val t = x - 1.0;
  const Val b = t + 2.0, b_lo = t - (b - 2.0);
  const Pair m = two_prod(t, b);
  const Val s = sqrt(m.hi);
  const Val s_lo = (fma(-s, s, m.hi) + fma(t, b_lo, m.lo)) / vmax(s + s, 0x1p-1000);  // 0 at 0
  const Pair w = fast_two_sum(s, t);
  const Pair l = log1p_pair({w.hi, w.lo + s_lo});
  const Val slow = select(lt(x, 1.0), nan, log_twice(x));
  return rare(lt(x, 1.0) | gt(x, large), l.hi + l.lo, slow);
}

// log(1 + 2a / (1 - a)) / 2, the quotient in two parts.
Val atanh(Val x) {
  const Val a = abs(x);
  const Pair d = fast_two_sum(a.lit(1), -a);
  const Val twice = a + a;
  const Val q = twice / d.hi;
  const Val q_lo = fma(-q, d.lo, fma(-q, d.hi, twice)) / d.hi;
  const Pair l = log1p_pair({q, q_lo});
  const Val slow = select(eq(a, 1.0), inf, a.lit(nan));
  return copysign(rare(!lt(a, 1.0), (l.hi + l.lo) * 0.5, slow), x);
}

}  // namespace ingot::loop::math::f64
