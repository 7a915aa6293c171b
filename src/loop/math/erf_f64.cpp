#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// |x| <= 1.21875: x + x p(x^2 - 3/4). About 0 the same polynomial would cancel, and cost an ulp near 1.2.
Val erf_small(Val x) {
  static constexpr double c[] = {-0x1.9a0bafec7a26ep-4, -0x1.f4eac5302d05dp-3, 0x1.12198a34afc7dp-4,
                                 -0x1.efd13dd1a9c6dp-7, 0x1.7530755dfff25p-9,  -0x1.dd9dff98e3a3ep-12,
                                 0x1.09046f4f85c87p-14, -0x1.03381d3a97adp-17, 0x1.c4f49803fa69ep-21,
                                 -0x1.65645137c771p-24, 0x1.00fb5d85d8ac3p-27, -0x1.535ddf9b406c7p-31,
                                 0x1.a28fbebb0714bp-35, -0x1.e2ccd098231b7p-39};
  return fma(horner(fma(x, x, -0.75), c), x, x);
}

// 1 - erf(a), 1.21875 <= a <= 6: e^(-a^2) h(t) / (a + 3.5), t = (a - 3.5) / (a + 3.5). A few ulps of error are fine:
// the result is at most a ninth of what it is taken from.
Val erfc_large(Val a) {
  static constexpr double c[] = {0x1.1649466cd0bf2p0,   -0x1.e02749166d588p-1,  0x1.6362dd280157cp-1,
                                 -0x1.bdb3c18088244p-2, 0x1.ce500cebe2024p-3,   -0x1.7a232e1fb9337p-4,
                                 0x1.b27b266cccfdap-6,  -0x1.a06c1c98c96dap-9,  -0x1.562f9621378ap-10,
                                 0x1.76a1e9629cd49p-11, -0x1.6287ef4b6cd81p-15, -0x1.3bc41d32c1141p-14,
                                 0x1.4111c862eeb93p-16, 0x1.5713446e8733bp-17};
  const Val inverse = 1.0 / (a + 3.5);
  const Val h = horner((a - 3.5) * inverse, c);  // a - 3.5 is exact; 1 - 7 / (a + 3.5) would triple inverse's error
  const Val negated = -a;
  const Val v = negated * a;
  const ExpReduced e = exp_reduce(Pair{v, fma(negated, a, -v)});
  return scale_normal(exp_rounded(e), e.shifted) * (h * inverse);
}

}  // namespace

Val erf(Val x) {
  const Val a = abs(x);
  // From 5.93 on the result rounds to 1; a NaN passes the minimum.
  const Val large = copysign(1.0 - erfc_large(vmin(a, 6.0)), x);
  return select(lt(a, 1.21875), erf_small(x), large);
}

}  // namespace ingot::loop::math::f64
