#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// |x| <= 1: x + x p(x^2). Above: 1 - 2^q(|x|), where an error of q costs little because erfc is small; erfc(4) is below
// half a unit in the last place of 1.
Val erf(Val x) {
  const Val a = vmin(abs(x), 4.0);
  const Val p = horner(a * a, {0x1.4c5cb4p-14, -0x1.a5197ap-11, 0x1.542fecp-8, -0x1.b7fec4p-6, 0x1.ce2d52p-4,
                               -0x1.81274p-2, 0x1.06eba8p-3});
  const Val near = fma(p, a, a);

  const Val q =
      horner(a, {0x1.3df506p-12, -0x1.2cf57ep-8, 0x1.0d4c88p-5, -0x1.3685ep-3, -0x1.d5ac96p-1, -0x1.a0c7a2p0});
  const double magic = round_magic + 127 + 256;  // shifted into the exponent, 256 is the sign: -2^n
  const Val t = fma(q, a, magic);
  const Val f = fma(q, a, magic - t);
  const Val minus_power = (t.number_bits() << 23).cast_bits(DType::f32);
  const Val far = fma(exp2_fraction(f), minus_power, 1);
  return copysign(select(lt(1.0, a), far, near), x);
}

}  // namespace ingot::loop::math::f32
