#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// From here on Stirling's series serves.
constexpr double large = 8;

// log gamma(x) for x >= 8: (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 + s(1 / x^2) / x, `l` being log(x). The product
// has its rounding beside it, but for x so large that that overflows.
Pair stirling(Val x, Pair l) {
  static constexpr double c[] = {0x1.5555555555555p-4,   -0x1.6c16c16c149f4p-9, 0x1.a01a017dcf9e1p-11,
                                 -0x1.38134d4f8896fp-11, 0x1.b92c33f9445e5p-11, -0x1.ef8d748aeb0f2p-10,
                                 0x1.4bffc9d8b455bp-8};
  constexpr double base = 0x1.d67f1c864beb5p-1 - 0.5, base_lo = -0x1.65b5a1b7ff5dfp-55;
  const Val inverse = 1.0 / x;
  const Pair factor = fast_two_sum(l.hi, x.lit(-1));
  const Val t = x - 0.5;
  const Pair product = two_prod(t, factor.hi);
  const Val series = fma(inverse, horner(inverse * inverse, c), base_lo);
  const Pair sum = fast_two_sum(product.hi, x.lit(base));
  const Val factor_lo = factor.lo + l.lo;
  const Val lo = sum.lo + (fma(t, factor_lo, product.lo) + series);
  const Val moderate = lt(x, 1e300);
  return {select(moderate, sum.hi, t * (factor.hi + factor_lo)), select(moderate, lo, 0.0)};
}

// log gamma(x) for x >= -1/2. Below 8 it is d r(d) = log gamma(2 + d), |d| <= 1/2, and the logarithm of what gamma(x)
// is to that: 1 / (x (x + 1)), 1 / x, or (x - 1) (x - 2) ... down to 2 + d.
Pair lgamma_right(Val x) {
  static constexpr double c[] = {
      0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa7p-2,  -0x1.13e001a557607p-4,  0x1.51322ac7d7fd2p-6,
      -0x1.e404fc218ecffp-8,  0x1.7add6eae5b8fdp-9,  -0x1.38ac5c2c96006p-10, 0x1.0b36af3424c50p-11,
      -0x1.d3fd4bda4f97bp-13, 0x1.a127dd231f4b2p-14, -0x1.78de85fa0bf74p-15, 0x1.5806d7786fbc2p-16,
      -0x1.3cb5f201754a6p-17, 0x1.2640a5e8ab73ep-18, -0x1.125408d7ee6ebp-19, 0x1.edf317afe0c72p-21,
      -0x1.d06b46182e294p-22, 0x1.2b4bb069ee6a9p-22, -0x1.1be56b7e101c6p-23};
  const Val least = lt(x, 0.5), less = lt(x, 1.5), far = le(large, x);
  Val d = select(least, x, x - select(less, x.lit(1), x.lit(2)));
  Val p = select(least, abs(fma(x, x, x)), select(less, x, 1.0));
  for (int i = 0; i < 6; ++i) {
    const Val above = lt(0.5, d);
    d = select(above, d - 1.0, d);
    p = select(above, p * (d + 2.0), p);
  }
  const Pair l = log_pair(select(far, x, p));
  const Pair product = two_prod(d, horner(d, c));
  const Pair sum = two_sum(select(less, -l.hi, l.hi), product.hi);
  const Val lo = sum.lo + (select(less, -l.lo, l.lo) + product.lo);
  const Pair series = stirling(x, l);
  return {select(far, series.hi, sum.hi), select(far, series.lo, lo)};
}

// digamma(x) for x >= 2^-60. Below 8 it is (r - root) c(r), 1 <= r <= 2, and the sum of the reciprocals between r and
// x; above, log(x) - 1 / (2 x) - h(1 / x^2) / x^2.
Pair digamma_right(Val x) {
  static constexpr double c[] = {
      0x1.e6f0cbb873616p-1,  -0x1.b1cb63005ee98p-2,  0x1.eca189b8e6f6dp-3,  -0x1.2feeeb98a78eap-3,
      0x1.8512e5903903ep-4,  -0x1.fb44202a2306bp-5,  0x1.4de9aa1779d23p-5,  -0x1.b9f8b11bfd3d0p-6,
      0x1.2564717896ec6p-6,  -0x1.863563f44f303p-7,  0x1.03c0adafa529cp-7,  -0x1.5a06a5d662cb4p-8,
      0x1.cd2011454fd05p-9,  -0x1.336dbe66757c8p-9,  0x1.99d3f5c0cad5ep-10, -0x1.0fb38d217b800p-10,
      0x1.6a3e76070c135p-11, -0x1.fd8e50abf2196p-12, 0x1.53b23429da21bp-12, -0x1.2fae5cb379bf2p-13,
      0x1.94e73cc9821e1p-14, -0x1.75c084e78a4cdp-13, 0x1.f255c4568ac4dp-14};
  static constexpr double h[] = {0x1.5555555555555p-4,  -0x1.1111111110d4fp-7, 0x1.0410410195bbfp-8,
                                 -0x1.11110c0ff8839p-8, 0x1.f077209c326c0p-8,  -0x1.58e68c895ad5bp-6,
                                 0x1.47c69710dec6fp-4,  -0x1.329c9079bcef2p-2};
  constexpr double root = 0x1.762d86356be3fp0, root_lo = 0x1.b86a722197829p-54;
  const Val less = lt(x, 1.0), beyond = lt(2.0, x), far = le(large, x);
  // The first reciprocal may count for most of the result, hence its remainder.
  const Val first = select(less, -x, x - 1.0);
  const Val q = 1.0 / first;
  const Val used = less | beyond;
  const Val q_hi = select(used, q, 0.0), q_lo = select(used, fma(-q, first, 1.0) * q, 0.0);
  Val r = select(less, x + 1.0, select(beyond, first, x));
  const Val r_lo = select(less, x - (r - 1.0), 0.0);
  Val others = x.lit(0);
  for (int i = 0; i < 5; ++i) {
    const Val above = lt(2.0, r);
    r = select(above, r - 1.0, r);
    others = select(above, others + 1.0 / r, others);
  }
  const Val d = (r - root) + (r_lo - root_lo);
  const Pair product = two_prod(d, horner(r - 1.5, c));
  const Pair sum = two_sum(product.hi, q_hi);
  const Pair whole = two_sum(sum.hi, others);

  const Pair l = log_pair(x);
  const Val inverse = 1.0 / x;
  const Val z = inverse * inverse;
  const Val series = fma(inverse, 0.5, z * horner(z, h));
  return {select(far, l.hi, whole.hi), select(far, l.lo - series, whole.lo + (sum.lo + (product.lo + q_lo)))};
}

}  // namespace

// Below -1/2 by reflection: log(pi / (a |sin(pi a)|)) - log gamma(a), a = -x.
Val lgamma(Val x) {
  const Val below = lt(x, -0.5);
  const Val a = select(below, -x, x);
  const Pair right = lgamma_right(a);
  const Val sine = abs(sinpi(x));
  const Pair l = log_pair(0x1.921fb54442d18p1 / (a * sine));
  const Pair sum = two_sum(l.hi, -right.hi);
  const Val left = select(eq(sine, 0.0) | eq(a, inf), inf, sum.hi + (sum.lo + (l.lo - right.lo)));
  return rare(below, select(eq(x, 0.0), inf, right.hi + right.lo), left);
}

// Below 0 by reflection: digamma(1 - x) - pi cot(pi x). About 0 it is -1/x.
Val digamma(Val x) {
  const Val below = lt(x, 0.0);
  const Val a = abs(x);
  const Pair right = digamma_right(select(below, 1.0 - x, x));
  const Pair cot = pi_cot_pi(x);
  const Pair sum = two_sum(right.hi, -cot.hi);
  const Val left = select(lt(round(x), x) | lt(x, round(x)), sum.hi + (sum.lo + (right.lo - cot.lo)), nan);
  const Val result = rare(below, select(eq(x, inf), x, right.hi + right.lo), left);
  return select(lt(a, 0x1p-60), -1.0 / x, result);
}

}  // namespace ingot::loop::math::f64
