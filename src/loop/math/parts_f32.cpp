#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

namespace {

struct Reduction {
  Val t, n, high;  // high = a - n ln2_hi, exact
  Reduction(Val a, int up) {
    const double magic = round_magic + 127 + up;
    t = fma(a, log2_e, magic);
    n = t - magic;
    high = fma(n, -ln2_hi, a);
  }
  Val power() const { return (t.cast_bits(DType::i32) << 23).cast_bits(DType::f32); }
};

}  // namespace

Val scale_far(Val p, Val exponent, Val negative) {
  const Val step = select(negative, exponent.lit(100 << 23), exponent.lit(-100 * (1 << 23)));
  const Val near = p * (exponent + step).cast_bits(DType::f32);
  return near * select(negative, 0x1p-100, p.lit(0x1p100));
}

ExpParts exp_parts(Val a, int up) {
  const Reduction x(a, up);
  const Val r = fma(x.n, -ln2_lo, x.high);
  return {.t = x.t, .s = fma(r * r, exp_quotient(r), r), .power = x.power(), .high = {}, .low = {}, .curve = {}};
}

ExpParts exp_parts(Val a, Val a_low, int up) {
  const Reduction x(a, up);
  const Val low = fma(x.n, -ln2_lo, a_low);
  const Val r = x.high + low;
  const Val curve = r * r * exp_quotient(r);
  return {.t = x.t, .s = r + curve, .power = x.power(), .high = x.high, .low = low, .curve = curve};
}

Val ExpParts::add_product(Val c, Val k) const {
  if (curve.id() == no_node) return fma(k, s, c);
  return fma(k, low, fma(k, curve, fma(k, high, c)));
}

}  // namespace ingot::loop::math::f32
