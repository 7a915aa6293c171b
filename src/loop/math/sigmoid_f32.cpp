#include <cmath>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

namespace {

// -2^up numerator / (1 + e^a), e.power being scaled by 2^-up. With e^a = 2^n (1 + s) the denominator is 1 + 2^n + 2^n s
// in two parts, scaled so that it does not overflow; one division, whose remainder takes in the lower part. The caller
// scales the result back: a denormal one is then rounded a second time, on a coarser grid.
Val logistic(Val numerator, const ExpParts& e, int up) {
  const double one = std::ldexp(1.0, -up);
  const Val big = vmax(e.power, one), small = vmin(e.power, one);
  const Val high = big + fma(e.power, e.s, small);
  const Val low = e.add_product(small - (high - big), e.power);
  // A negative reciprocal and quotient: the remainders then need no change of sign.
  const Val inverse = -1.0 / high;
  const Val quotient = numerator * inverse;
  const Val rest = fma(quotient, low, fma(quotient, high, numerator));
  return fma(rest, inverse, quotient);
}

}  // namespace

Val sigmoid(Val x) { return logistic(x.lit(1), exp_parts(-vmin(vmax(x, -105.0), 20.0), -64), 64) * -0x1p-64; }

// From 20 on sigmoid is 1 to the last bit and the result x itself, infinity included. Below -110 the result is -0.
Val silu(Val x) {
  const Val a = vmax(x, -110.0);
  return select(lt(20, x), x, logistic(a, exp_parts(-a, -32), 32) * -0x1p-32);
}

// x sigmoid(x (alpha + beta x^2)): the argument in two parts, since e^a turns its absolute error into a relative one.
Val gelu_tanh(Val x) {
  // alpha = 2 sqrt(2/pi), its high part on a grid so coarse that subtracting the sum from it is exact; beta = 0.044715
  // alpha (tools/coefficients/gelu_f32.sollya). Both negative, for e^-z.
  constexpr double alpha_hi = -0x1.988p0, alpha_lo = -0x1.14cf5p-14, beta = -0x1.2444f2p-4, beta_lo = -0x1.49b16ap-29;
  const Val a = vmax(x, -10.85);  // below, the result is -0
  const Val z = a * a;
  const Val z_low = fma(a, a, -z);
  const Val high = fma(z, beta, alpha_hi);
  const Val low = fma(z, beta, high.lit(alpha_hi) - high) + fma(z_low, beta, fma(z, beta_lo, alpha_lo));
  const Val product = a * high;
  const Val product_low = fma(a, low, fma(a, high, -product));
  return select(lt(5.5, x), x, logistic(a, exp_parts(product, product_low, -32), 32) * -0x1p-32);
}

}  // namespace ingot::loop::math::f32
