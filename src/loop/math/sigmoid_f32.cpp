#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// With e^-x = 2^n (1 + s): 1 / (1 + 2^n + 2^n s), the denominator in two parts and one division. Everything is scaled by
// 2^-64 so that neither the denominator overflows nor the result is denormal before the last multiplication.
Val sigmoid(Val x) {
  const Val a = vmin(vmax(x, -105.0), 20.0);
  const Val t = fma(a, -log2_e, round_magic + 63);
  const Val n = t - (round_magic + 63);
  const Val r = fma(n, ln2_lo, fma(n, ln2_hi, a));  // minus the remainder
  const Val q = horner(r, {0x1.6a5e34p-10, -0x1.123adp-7, 0x1.5558a2p-5, -0x1.55549p-3, 0x1.fffffcp-2});
  const Val s = fma(r * r, q, -r);
  const Val power = (t.cast_bits(DType::i32) << 23).cast_bits(DType::f32);
  const Val big = vmax(power, 0x1p-64), small = vmin(power, 0x1p-64);
  const Val high = big + fma(power, s, small);
  const Val low = fma(power, s, small - (high - big));
  const Val inverse = -1.0 / high;
  const Val rest = fma(inverse, low, fma(inverse, high, 1));
  return fma(rest, inverse, inverse) * -0x1p-64;
}

}  // namespace ingot::loop::math::f32
