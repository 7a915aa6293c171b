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
  Val power() const { return (t.number_bits() << 23).cast_bits(DType::f32); }
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
  const Val curve = r * r * exp_quotient(r);
  return {.t = x.t, .s = r + curve, .power = x.power(), .high = r, .low = {}, .curve = curve};
}

ExpParts exp_parts(Val a, Val a_low, int up) {
  const Reduction x(a, up);
  const Val low = fma(x.n, -ln2_lo, a_low);
  const Val r = x.high + low;
  const Val curve = r * r * exp_quotient(r);
  return {.t = x.t, .s = r + curve, .power = x.power(), .high = x.high, .low = low, .curve = curve};
}

Val ExpParts::add_product(Val c, Val k) const {
  const Val sum = fma(k, curve, fma(k, high, c));
  return low.id() == no_node ? sum : fma(k, low, sum);
}

// 2^n s + (2^n - 1), s = e^r - 1. The sum takes in what s, 2^n - 1 (for n > 24) and the sum itself rounded off. From
// -40 down the result is -1.
Sum expm1_sum(Val x) {
  const ExpParts e = exp_parts(vmax(x, -40.0), x.lit(0), 0);
  const Val base = e.power - 1;
  const Val sum = fma(e.power, e.s, base);
  const Val rounded_off = (base - sum) + (e.power - base - 1);
  return {sum, e.add_product(rounded_off, e.power)};
}

LogReduced log_reduce(Val bits) {
  const int32_t sqrt_half = 0x3f3504f3;
  const Val d = bits - sqrt_half;
  const Val m = ((d & 0x007fffff) + sqrt_half).cast_bits(DType::f32);
  return {(d >> 23).to(DType::f32), m - 1, m};
}

Val log_quotient(Val f) {
  return horner(f, {-0x1.38472ap-4, 0x1.0860cep-3, -0x1.0f3fa6p-3, 0x1.226dfcp-3, -0x1.5425c4p-3, 0x1.99a41ap-3,
                    -0x1.000432p-2, 0x1.55555p-2, -0x1.fffff8p-2});
}

Val not_positive_normal(Val bits) { return le(int32_t{-0x01000000}, bits + 0x7f800000); }

}  // namespace ingot::loop::math::f32
