#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"
#include "loop/math/trig.h"

namespace ingot::loop::math::f64 {

namespace {

using trig::Reduced;

// |x| below which three parts of pi/2 leave r - low enough bits.
constexpr double far = 0x1p30;

Reduced reduce(Val a) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1, magic = 0x1.8p52;
  const Val t = fma(a, two_over_pi, magic);
  const Val n = t - magic;
  const Val high = fma(n, -trig::half_pi_f64[0], a);  // exact
  // So is r + (high - r - p), also where p is the larger: high is a multiple of the last place of p.
  const Val p = n * trig::half_pi_f64[1];
  const Val p_low = fma(n, trig::half_pi_f64[1], -p);
  const Val r = high - p;
  return {r, fma(n, trig::half_pi_f64[2], p_low - ((high - r) - p)), t.cast_bits(DType::i64)};
}

// x pi for |x| <= 1/4.
Reduced times_pi(Val x, Val n) {
  constexpr double pi = 0x1.921fb54442d18p1, pi_lo = 0x1.1a62633145c07p-53;
  const Val r = x * pi;
  return {r, -fma(x, pi_lo, fma(x, pi, -r)), n};
}

// sin and cos of r - low as unevaluated sums.
struct SinCos {
  Pair sin, cos;
};
SinCos sin_cos(const Reduced& x) {
  static constexpr double s[] = {0x1.5555555555555p-3,   -0x1.111111111108ap-7, 0x1.a01a01a00697ep-13,
                                 -0x1.71de3a3fba39fp-19, 0x1.ae643cc18ec6fp-26, -0x1.611451a7e7bc8p-33,
                                 0x1.a533027909359p-41};
  static constexpr double c[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16b47p-10, 0x1.a01a01a001886p-16,
                                 -0x1.27e4fb603efbfp-22, 0x1.1eed76f552bcep-29,  -0x1.937d18e0a4b38p-37,
                                 0x1.a1b0a70eda557p-45};
  const Val z = x.r * x.r;
  const Val half = z * 0.5;
  const Val head = 1.0 - half;
  const Val lost = fma(fma(x.r, x.r, -z), -0.5, (1.0 - head) - half);
  return {{x.r, -fma(x.r * z, horner(z, s), x.low * head)}, {head, fma(z * z, horner(z, c), fma(x.r, x.low, lost))}};
}

// The sine (or cosine) of n pi/2 + r - low, n's bit 1 and the bits of `sign` (its top one) being the sign.
Val quadrant(const Reduced& x, Val odd, Val sign) {
  const SinCos v = sin_cos(x);
  const Val result = select(odd, v.cos.hi + v.cos.lo, v.sin.hi + v.sin.lo);
  return (result.cast_bits(DType::i64) ^ sign).cast_bits(DType::f64);
}
Val sign_of(Val x) { return x.cast_bits(DType::i64) & std::numeric_limits<int64_t>::min(); }
Val sin_of(const Reduced& x, Val sign) { return quadrant(x, ne(x.n & 1, 0), sign ^ ((x.n & 2) << 62)); }
Val cos_of(const Reduced& x) { return quadrant(x, eq(x.n & 1, 0), ((x.n + 1) & 2) << 62); }

// sin / cos, or -cos / sin where n is odd.
Val tan_of(const Reduced& x, Val sign) {
  const SinCos v = sin_cos(x);
  const Val odd = ne(x.n & 1, 0);
  const Pair sin = fast_two_sum(v.sin.hi, v.sin.lo), cos = fast_two_sum(v.cos.hi, v.cos.lo);
  const Pair top = {select(odd, cos.hi, sin.hi), select(odd, cos.lo, sin.lo)};
  const Pair bottom = {select(odd, sin.hi, cos.hi), select(odd, sin.lo, cos.lo)};
  const Val inverse = 1.0 / bottom.hi;
  const Val q = top.hi * inverse;
  const Val rest = fma(-q, bottom.lo, fma(-q, bottom.hi, top.hi) + top.lo);
  const Val result = fma(rest, inverse, q);
  return (result.cast_bits(DType::i64) ^ (sign ^ ((x.n & 1) << 63))).cast_bits(DType::f64);
}

// x = n / 2 + f, |f| <= 1/4, n modulo 4.
Reduced reduce_pi(Val a) {
  constexpr double magic = 0x1.8p52;
  const Val z = fma(round(a * 0.5), -2.0, a);  // exact, in [-1, 1]
  const Val t = fma(z, 2.0, magic);
  return times_pi(fma(t - magic, -0.5, z), t.cast_bits(DType::i64));
}

}  // namespace

Pair pi_cot_pi(Val x) {
  constexpr double pi = 0x1.921fb54442d18p1, pi_lo = 0x1.1a62633145c07p-53;
  const Reduced reduced = reduce_pi(abs(x));
  const SinCos v = sin_cos(reduced);
  const Val odd = ne(reduced.n & 1, 0);
  const Pair sin = fast_two_sum(v.sin.hi, v.sin.lo), cos = fast_two_sum(v.cos.hi, v.cos.lo);
  const Pair top = {select(odd, -sin.hi, cos.hi), select(odd, -sin.lo, cos.lo)};
  const Pair bottom = {select(odd, cos.hi, sin.hi), select(odd, cos.lo, sin.lo)};
  const Val inverse = 1.0 / bottom.hi;
  const Val q = top.hi * inverse;
  const Val rest = fma(-q, bottom.lo, fma(-q, bottom.hi, top.hi) + top.lo) * inverse;
  const Pair product = two_prod(q, x.lit(pi));
  const Val sign = copysign(x.lit(1), x);
  return {product.hi * sign, fma(rest, pi, fma(q, pi_lo, product.lo)) * sign};
}

Val sin(Val x) {
  const Val a = abs(x);
  return rare(lt(far, a), sin_of(reduce(a), sign_of(x)), sin_of(trig::reduce_far(a, 1), sign_of(x)));
}

Val cos(Val x) {
  const Val a = abs(x);
  return rare(lt(far, a), cos_of(reduce(a)), cos_of(trig::reduce_far(a, -1)));
}

Val tan(Val x) {
  const Val a = abs(x);
  return rare(lt(far, a), tan_of(reduce(a), sign_of(x)), tan_of(trig::reduce_far(a, 0.5), sign_of(x)));
}

// Zeros have the sign of x, as IEEE 754 wants them.
Val sinpi(Val x) {
  const Val a = abs(x);
  const Val result = sin_of(reduce_pi(a), sign_of(x));
  return select(eq(round(a), a), copysign(a - a, x), result);
}

// +0 between whole numbers.
Val cospi(Val x) { return cos_of(reduce_pi(abs(x))) + 0.0; }

}  // namespace ingot::loop::math::f64
