#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"
#include "loop/math/trig.h"

namespace ingot::loop::math::f32 {

namespace {

using Reduced = trig::Reduced;

// |x| below which three parts of pi/2 leave r + r_lo enough bits.
constexpr double far = 0x1p17;

Reduced reduce(Val a) {
  constexpr double two_over_pi = 0x1.45f306p-1;
  const Val t = fma(a, two_over_pi, round_magic);
  const Val n = t - round_magic;
  const Val high = fma(n, -trig::half_pi_f32[0], a);  // exact
  // So is r + (high - r - p), also where p is the larger: high is a multiple of the last place of p.
  const Val p = n * trig::half_pi_f32[1];
  const Val p_low = fma(n, trig::half_pi_f32[1], -p);
  const Val r = high - p;
  return {r, fma(n, trig::half_pi_f32[2], p_low - ((high - r) - p)), t.cast_bits(DType::i32)};
}

// The sine or cosine of n pi/2 + r - low as the sine or the cosine of r - low and a sign.
Val quadrant(const Reduced& x, Val odd, Val sign) {
  const Val z = x.r * x.r;
  const Val half = z * 0.5;
  const Val head = 1.0 - half;
  const Val s = horner(z, {0x1.994e36p-13, -0x1.11076ep-7, 0x1.555546p-3});
  const Val sine = x.r - fma(x.r * z, s, x.low * head);
  const Val c = horner(z, {0x1.99e6c2p-16, -0x1.6c0c26p-10, 0x1.55554ap-5});
  const Val lost = fma(fma(x.r, x.r, -z), -0.5, (1.0 - head) - half);
  const Val cosine = head + fma(z * z, c, fma(x.r, x.low, lost));
  const Val result = select(odd, cosine, sine);
  return (result.cast_bits(DType::i32) ^ sign).cast_bits(DType::f32);
}

Val sin_of(const Reduced& x, Val argument) {
  const Val sign = argument.cast_bits(DType::i32) & (int64_t{-1} << 31);
  return quadrant(x, ne(x.n & 1, 0), sign ^ ((x.n & 2) << 30));
}

Val cos_of(const Reduced& x) { return quadrant(x, eq(x.n & 1, 0), ((x.n + 1) & 2) << 30); }

}  // namespace

Val sin(Val x) {
  const Val a = abs(x);
  return rare(lt(far, a), sin_of(reduce(a), x), sin_of(trig::reduce_far(a, 1), x));
}

Val cos(Val x) {
  const Val a = abs(x);
  return rare(lt(far, a), cos_of(reduce(a)), cos_of(trig::reduce_far(a, -1)));
}

}  // namespace ingot::loop::math::f32
