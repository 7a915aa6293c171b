#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// (k + k_lo) (e^x - 1) for x <= 0. From -40 down the result is -k.
Val scaled_expm1(Val x, double k, double k_lo) {
  const Pair m = expm1_pair(exp_reduce(vmax(x, -40.0)));
  return fma(m.hi, k, fma(m.lo, k, m.hi * k_lo));
}

}  // namespace

Val elu(Val x, double alpha) { return select(le(0.0, x), x, scaled_expm1(x, alpha, 0)); }

Val selu(Val x) {
  // The scale in two parts of one sign, so that -0 stays.
  constexpr double scale = 0x1.0cfabd6a91132p0, scale_lo = 0x1.6fc7d272f2695p-55, product = 0x1.c212cc640f031p0,
                   product_lo = 0x1.05161b045a1fep-56;
  return select(le(0.0, x), fma(x, scale, x * scale_lo), scaled_expm1(x, product, product_lo));
}

}  // namespace ingot::loop::math::f64
