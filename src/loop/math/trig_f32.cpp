#include <cstdint>
#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f32 {

namespace {

// |x| up to which three parts of pi/2 leave r - low enough bits. The product with the second, of 11 bits, is exact.
constexpr double far = 0x1p13;
constexpr double half_pi[] = {0x1.921fb4p0, 0x1.444p-24, 0x1.68c234p-39}, two_over_pi = 0x1.45f306p-1;

// The sine of x = n pi/2 + r - low, |r| <= pi/4, or its cosine where n is odd, with the sign of quadrant n; a quarter
// of a turn on for the cosine of x. Both take the same steps up to there, so that a kernel with both takes them once.
Val near_circular(Val x, bool quarter_on) {
  const Val t = fma(x, two_over_pi, round_magic);
  const Val n = t - round_magic;
  const Val r1 = fma(n, -half_pi[0], x);  // exact, as is r1 - r
  const Val r = fma(n, -half_pi[1], r1);
  const Val low = fma(n, half_pi[2], fma(n, half_pi[1], r - r1));
  const Val z = r * r;
  const Val s = horner(z, {0x1.994e36p-13, -0x1.11076ep-7, 0x1.555546p-3});
  const Val sine = r - fma(r * z, s, low);  // low should enter times the cosine, which is 0.7 to 1
  // 1 - r^2/2 + z^2 c, all but the first added up before it.
  const Val c = horner(z, {0x1.99e6c2p-16, -0x1.6c0c26p-10, 0x1.55554ap-5});
  const Val cosine = fma(r * -0.5, r, fma(z * z, c, r * low)) + 1;
  const Val bits = t.number_bits();
  const Val odd = lt(bits << 31, 0);
  const Val size = quarter_on ? select(odd, sine, cosine) : select(odd, cosine, sine);
  const Val quadrant = quarter_on ? bits + 1 : bits;
  return (size.number_bits() ^ ((quadrant & 2) << 30)).cast_bits(DType::f32);
}

// x / pi in units of 2^-63, modulo 2, for finite x >= 2^13: the integer mantissa times the 96 bits of 1/pi that
// count for the exponent. `zeros` (11 or 12) stand before the bits of 1/pi, for the least exponents. What two slow arms
// share would run always, so that sin and cos ask for different ones.
Val half_turns(Val x, int zeros) {
  constexpr uint64_t after_11[] = {0x000a2f9836e4e441, 0x529fc2757d1f534d, 0xdc0db6295993c439, 0x041fe5163abdebbc};
  const Val bits = x.cast_bits(DType::i32);
  const Val mantissa = zeros == 11 ? (bits | 0x00800000) & 0x00ffffff : (bits & 0x007fffff) | 0x00800000;
  const Val m = mantissa.to(DType::u64);
  const Val skip = ((bits - (151 - zeros) * (1 << 23)) >> 23).to(DType::u64);
  const Val second = le(64, skip), shift = skip & 63;
  Val words[4];
  for (size_t i = 0; i < 4; ++i)
    words[i] = m.bits(zeros == 11 ? after_11[i] : after_11[i] >> 1 | (i > 0 ? after_11[i - 1] << 63 : 0));
  const Val high = select(second, words[1], words[0]), middle = select(second, words[2], words[1]);
  const Val low = select(second, words[3], words[2]);
  const Val first = (high << shift) | (middle >> (64 - shift));
  const Val next = (middle << shift) | (low >> (64 - shift));
  return m * first + ((m * (next >> 32)) >> 32);
}

// (-1)^n sin(pi f), n + f being the half turns and n the nearest integer to them. In f64, where little is rounded off.
Val sine_of_turns(Val turns) {
  constexpr double unit = 0x1.921fb54442d18p-63;
  static constexpr double c[] = {-0x1.55554ep-3, 0x1.110f24p-7, -0x1.9f7d66p-13, 0x1.5e6d1ep-19};
  const Val r = (turns << 1).cast_bits(DType::i64).to(DType::f64) * unit;
  const Val z = r * r;
  const Val sine = fma(r * z, f64::horner(z, c), r).to(DType::f32);
  const Val sign = ((turns + (int64_t{1} << 62)) >> 63).to(DType::i32) << 31;
  return (sine.cast_bits(DType::i32) ^ sign).cast_bits(DType::f32);
}

Val finite(Val a, Val v) {
  return select(lt(a, std::numeric_limits<double>::infinity()), v, v.lit(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Val sin(Val x) {
  const Val a = abs(x);
  const Val slow = sine_of_turns(half_turns(a, 11)) * copysign(x.lit(1), x);
  return rare(!le(a, far), number(near_circular(x, false)), finite(a, slow));
}

Val cos(Val x) {
  const Val a = abs(x);
  const Val slow = sine_of_turns(half_turns(a, 12) + (int64_t{1} << 62));
  return rare(!le(a, far), number(near_circular(x, true)), finite(a, slow));
}

}  // namespace ingot::loop::math::f32
