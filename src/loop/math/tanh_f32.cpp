#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// Small |x|: x + x p(x^2). Else, with e^2a = 2^n (1 + s) and c = 2^-n, 1 - c / ((1 + c)/2 + s/2): one division, whose
// remainder takes in what the sum rounded off.
Val tanh(Val x) {
  const Val a = vmin(abs(x), 10.0);
  const Val z = a * a;
  const Val p = horner(z, {-0x1.978d3cp-8, 0x1.58a90ep-6, -0x1.b918fp-5, 0x1.110cdap-3, -0x1.55554ap-2});
  const Val near = fma(p * z, a, a);

  const Val t = fma(a, -2 * log2_e, round_magic + 127);  // -n, and c once shifted into the exponent
  const Val k = t - (round_magic + 127);
  const Val h = fma(k, ln2_lo / 2, fma(k, ln2_hi / 2, a));  // half the remainder: s = e^2h - 1
  const Val q =
      horner(h, {0x1.6a5e34p-10 * 32, 0x1.123adp-7 * 16, 0x1.5558a2p-5 * 8, 0x1.55549p-3 * 4, 0x1.fffffcp-2 * 2});
  const Val s = fma(h * h, q, h);  // half of it
  const Val c = (t.number_bits() << 23).cast_bits(DType::f32);
  const Val base = fma(c, 0.5, 0.5);
  const Val inverse = -1.0 / (s + base);  // negative, which spares sign changes
  const Val rest = fma(inverse, s, fma(inverse, base, 1));
  const Val far = fma(fma(rest, inverse, inverse), c, 1);
  return copysign(select(lt(0.55, a), far, near), x);
}

}  // namespace ingot::loop::math::f32
