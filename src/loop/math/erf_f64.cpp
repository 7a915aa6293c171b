#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// |x| <= 1.25: x + x p(x^2 - 25/32). About 0 the same polynomial would cancel, and cost an ulp near 1.25.
Val erf_small(Val x) {
  static constexpr double c[] = {-0x1.b916511794ccp-4, -0x1.ec7108519c6efp-3, 0x1.0c5b6fae2b97ep-4, -0x1.e44cb83a4c8bbp-7,
                                 0x1.6bfb277ee4c7p-9, -0x1.d15bef2f1d121p-12, 0x1.020671a7b43bfp-14, -0x1.f87a608f18167p-18,
                                 0x1.b890d3e8ee415p-21, -0x1.5b7e5b1b54ed3p-24, 0x1.f3949ed2602bcp-28, -0x1.49dfa573230ebp-31,
                                 0x1.9710ef7196aaap-35, -0x1.ca7b805622d96p-39};
  return fma(horner(fma(x, x, -0.78125), c), x, x);
}

// 1 - erf(a), 1.25 <= a <= 6: e^(-a^2) h(t) / (a + 3.5), t = (a - 3.5) / (a + 3.5). Several ulps of error are fine:
// the result is below a twelfth of what it is taken from.
Val erfc_large(Val a) {
  static constexpr double c[] = {0x1.1649466cd0bf2p0, -0x1.e02749166d58p-1, 0x1.6362dd280159cp-1, -0x1.bdb3c180891ep-2,
                                 0x1.ce500cebdd236p-3, -0x1.7a232e1eaeb8fp-4, 0x1.b27b2676b13b3p-6, -0x1.a06c2028a1989p-9,
                                 -0x1.562fa9952b39ap-10, 0x1.76a28a55a178bp-11, -0x1.6264b735adbdbp-15, -0x1.3bd16dc4f520ep-14,
                                 0x1.3f9ba4e57d0aap-16, 0x1.5479cdcd9006dp-17};
  const Val inverse = 1.0 / (a + 3.5);
  const Val h = horner(fma(inverse, -7.0, 1.0), c);
  const ExpReduced e = exp_reduce(-a * a);
  const Val p = fma(e.r * e.r, exp_tail(e.r), e.r) + 1.0;
  return scale_normal(p, e.shifted) * (h * inverse);
}

}  // namespace

Val erf(Val x) {
  const Val a = abs(x);
  // From 5.93 on the result rounds to 1; a NaN passes the minimum.
  const Val large = copysign(1.0 - erfc_large(vmin(a, 6.0)), x);
  return select(lt(a, 1.25), erf_small(x), large);
}

}  // namespace ingot::loop::math::f64
