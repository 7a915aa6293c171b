#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log x = e ln 2 + log(1 + f).
Val log(Val x) {
  // One signed comparison finds everything that is not positive, normal and finite.
  const Val bits = x.cast_bits(DType::i32);
  const Val special = le(int32_t{-0x01000000}, bits + 0x7f800000);
  const int32_t sqrt_half = 0x3f3504f3;
  const Val d = rare(special, bits, (x * 0x1p23).cast_bits(DType::i32)) - sqrt_half;  // denormals become normal
  const Val e = (d >> 23).to(DType::f32);
  const Val f = ((d & 0x007fffff) + sqrt_half).cast_bits(DType::f32) - 1;
  const Val q = horner(f, {-0x1.38472ap-4, 0x1.0860cep-3, -0x1.0f3fa6p-3, 0x1.226dfcp-3, -0x1.5425c4p-3, 0x1.99a41ap-3,
                           -0x1.000432p-2, 0x1.55555p-2, -0x1.fffff8p-2});
  const Val log1p = fma(f * f, q, f);
  const double ln2 = 0x1.62e43p-1;
  const Val fast = fma(e, ln2, log1p);

  const Val positive = fma(e - 23, ln2, log1p);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Val finite = select(lt(0, x), positive, select(eq(x, 0), -inf, x.lit(nan)));
  return rare(special, fast, select(lt(x, inf), finite, x));
}

}  // namespace ingot::loop::math::f32
