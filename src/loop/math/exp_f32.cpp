#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// x = n ln 2 + r, e^x = 2^n e^r. Where the result is normal, 2^n is added to the exponent bits.
Val exp(Val x) {
  const Val t = fma(x, log2_e, round_magic);
  const Val n = t - round_magic;
  const Val r = fma(n, -ln2_lo, fma(n, -ln2_hi, x));
  const Val p = horner(r, {0x1.6a5e34p-10, 0x1.123adp-7, 0x1.5558a2p-5, 0x1.55549p-3, 0x1.fffffcp-2, 1, 1});
  const Val bits = p.cast_bits(DType::i32) + (t.cast_bits(DType::i32) << 23);
  const Val fast = bits.cast_bits(DType::f32);

  // Denormal results are made 2^100 times too large and scaled down, which rounds once. The multiplication by infinity
  // overflows and passes NaN on.
  const Val low = (bits + (100 << 23)).cast_bits(DType::f32) * 0x1p-100;
  const Val negative = select(lt(x, -104.0), 0, low);
  const Val positive = select(le(x, 0x1.62e42ep6), fast, x * std::numeric_limits<double>::infinity());
  const Val far = lt(x.lit(87.0).cast_bits(DType::i32), abs(x).cast_bits(DType::i32));
  return rare(far, fast, select(lt(x, 0), negative, positive));
}

}  // namespace ingot::loop::math::f32
