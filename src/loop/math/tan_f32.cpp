#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"
#include "loop/math/parts_f64.h"
#include "loop/math/trig.h"
#include "loop/math/wide_f32.h"

namespace ingot::loop::math::f32 {

namespace {

struct SinCos {
  Val sin, cos;
};
// For |r| <= pi/4, of type f64.
SinCos sin_cos(Val r) {
  static constexpr double s[] = {-0x1.5555554c6ffc8p-3, 0x1.111108690bebbp-7, -0x1.a00f7e14c973ep-13,
                                 0x1.6cd1b09a5c2e5p-19};
  static constexpr double c[] = {-0x1.ffffffcb77e0fp-2, 0x1.55553c74b364fp-5, -0x1.6c07efdeb565cp-10,
                                 0x1.991642dbe8189p-16};
  const Val z = r * r;
  return {fma(r * z, f64::horner(z, s), r), fma(z, f64::horner(z, c), 1.0)};
}

Val tan_of(Val r, Val n) {
  const SinCos v = sin_cos(r);
  const Val odd = ne(n & 1, 0);
  return select(odd, -v.cos, v.sin) / select(odd, v.sin, v.cos);
}

// The sine (or cosine) of n pi/2 + f pi, n's bit 1 and `sign` giving its sign.
Val quadrant(Val f, Val odd, Val sign) {
  const SinCos v = sin_cos(f.to(DType::f64) * (2 * half_pi));
  const Val result = select(odd, v.cos, v.sin).to(DType::f32);
  return (result.cast_bits(DType::i32) ^ sign).cast_bits(DType::f32);
}

// x = n / 2 + f, |f| <= 1/4, n modulo 4.
struct Halves {
  Val f, n;
};
Halves reduce_pi(Val a) {
  const Val z = fma(round(a * 0.5), -2.0, a);  // exact, in [-1, 1]
  const Val t = fma(z, 2.0, round_magic);
  return {fma(t - round_magic, -0.5, z), t.cast_bits(DType::i32)};
}

}  // namespace

Val tan(Val x) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1, magic = 0x1.8p52;
  const Val a = abs(x).to(DType::f64);
  const Val t = fma(a, two_over_pi, magic);
  const Val n = t - magic;
  const Val r = fma(n, -trig::half_pi_f64[1], fma(n, -trig::half_pi_f64[0], a));
  const trig::Reduced far = trig::reduce_far(a, 0.5);
  const Val result =
      rare(lt(0x1p28, a), tan_of(r, t.cast_bits(DType::i64)), tan_of(far.r - far.low, far.n)).to(DType::f32);
  return result * copysign(x.lit(1), x);
}

Val sinpi(Val x) {
  const Val a = abs(x);
  const auto [f, n] = reduce_pi(a);
  const Val sign = x.cast_bits(DType::i32) & (int64_t{-1} << 31);
  const Val result = quadrant(f, ne(n & 1, 0), sign ^ ((n & 2) << 30));
  return select(eq(round(a), a), copysign(a - a, x), result);
}

Val cospi(Val x) {
  const auto [f, n] = reduce_pi(abs(x));
  return quadrant(f, eq(n & 1, 0), ((n + 1) & 2) << 30) + 0;
}

}  // namespace ingot::loop::math::f32
