#include <cmath>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

namespace {

// k (e^x - 1) for x <= 0 and a real number k, of which the first 48 bits count.
Val scaled_expm1(Val x, double k) {
  const auto k_high = static_cast<float>(k);
  const double k_low = std::isfinite(k_high) ? k - static_cast<double>(k_high) : 0;
  const Sum sum = expm1_sum(x);
  const Val high = sum.high + sum.low;
  const Val low = sum.low - (high - sum.high);
  return fma(high, static_cast<double>(k_high), fma(high, k_low, low * static_cast<double>(k_high)));
}

}  // namespace

Val elu(Val x, double alpha) { return select(le(0, x), x, scaled_expm1(x, alpha)); }

Val selu(Val x) {
  // The scale in two parts of one sign, so that -0 stays.
  constexpr double scale_high = 0x1.0cfabcp0, scale_low = 0x1.6a9114p-24, product = 0x1.c212cc640f031p0;
  return select(le(0, x), fma(x, scale_high, x * scale_low), scaled_expm1(x, product));
}

}  // namespace ingot::loop::math::f32
