#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

ExpParts exp_parts(Val a, Val low, int up) {
  const double magic = round_magic + 127 + up;
  const Val t = fma(a, log2_e, magic);
  const Val n = t - magic;
  const Val high = fma(n, -ln2_hi, a);  // exact
  const Val r = low.id() == no_node ? fma(n, -ln2_lo, high) : high + fma(n, -ln2_lo, low);
  return {t, fma(r * r, exp_quotient(r), r), (t.cast_bits(DType::i32) << 23).cast_bits(DType::f32)};
}

}  // namespace ingot::loop::math::f32
