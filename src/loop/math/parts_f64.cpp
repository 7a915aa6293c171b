#include "loop/math/parts_f64.h"

#include <limits>

namespace ingot::loop::math::f64 {

Pair fast_two_sum(Val a, Val b) {
  const Val hi = a + b;
  return {hi, (a - hi) + b};
}

Pair two_sum(Val a, Val b) {
  const Val hi = a + b;
  const Val b_part = hi - a;
  return {hi, (a - (hi - b_part)) + (b - b_part)};
}

Pair two_prod(Val a, Val b) {
  const Val hi = a * b;
  return {hi, fma(a, b, -hi)};
}

namespace {
constexpr double log2e = 0x1.71547652b82fep0;
// log(2) in two parts. k * ln2_hi needs no rounding inside the fma below: x - k * ln2_hi is a multiple of 2^-54 below
// 2^-1.
constexpr double ln2_hi = 0x1.62e42fefa39efp-1;
constexpr double ln2_lo = 0x1.abc9e3b39803fp-56;
// The same in 42 + 53 bits.
constexpr double ln2_hi42 = 0x1.62e42fefa38p-1;
constexpr double ln2_lo42 = 0x1.ef35793c7673p-45;
constexpr double shifter = 0x1.8p52;
}  // namespace

Val exp_exponent(Val shifted) { return shifted - shifter; }

ExpReduced exp_reduce(Val x) {
  const Val shifted = fma(x, log2e, shifter);
  const Val k = exp_exponent(shifted);
  const Val exact = fma(k, -ln2_hi, x);
  const Val r = fma(k, -ln2_lo, exact);
  return {shifted, r, fma(k, -ln2_lo, exact - r)};
}

ExpReduced exp_reduce(Pair x) {
  const Val shifted = fma(x.hi, log2e, shifter);
  const Val k = exp_exponent(shifted);
  const Val exact = fma(k, -ln2_hi, x.hi);
  const Val small = fma(k, -ln2_lo, x.lo);
  const Val r = exact + small;
  return {shifted, r, (exact - r) + small};
}

Val exp_tail(Val r) {
  static constexpr double c[] = {0x1p-1,
                                 0x1.555555555555bp-3,
                                 0x1.555555555555ap-5,
                                 0x1.111111110ed9cp-7,
                                 0x1.6c16c16c141fep-10,
                                 0x1.a01a01b32014dp-13,
                                 0x1.a01a01b1c9ef1p-16,
                                 0x1.71ddf0dce6311p-19,
                                 0x1.27e4c32c57f0ap-22,
                                 0x1.af6ad8bcc5707p-26,
                                 0x1.1f991f66d8fb2p-29};
  return horner(r, c);
}

namespace {
// 1 + r is exact as a pair, so the rounding of r + ... costs nothing.
struct ExpTerms {
  Pair head;
  Val tail;
};
ExpTerms exp_terms(const ExpReduced& x) {
  return {fast_two_sum(x.r.lit(1), x.r), fma(x.r * x.r, exp_tail(x.r), fma(x.r_lo, x.r, x.r_lo))};
}
}  // namespace

Val exp_rounded(const ExpReduced& x) {
  const ExpTerms t = exp_terms(x);
  return t.head.hi + (t.head.lo + t.tail);
}

Pair exp_pair(const ExpReduced& x) {
  const ExpTerms t = exp_terms(x);
  const Pair sum = fast_two_sum(t.head.hi, t.tail);
  return {sum.hi, sum.lo + t.head.lo};
}

Val exp2_k(Val shifted) { return ((shifted.number_bits() + 1023) << 52).cast_bits(DType::f64); }

Pair expm1_pair(const ExpReduced& x) {
  const Pair u = fast_two_sum(x.r, fma(x.r * x.r, exp_tail(x.r), fma(x.r_lo, x.r, x.r_lo)));
  const Val power = exp2_k(x.shifted);
  const Pair base = two_sum(power, power.lit(-1));  // 0, or larger than 2^k (e^r - 1)
  const Pair sum = fast_two_sum(base.hi, power * u.hi);
  return {sum.hi, fma(power, u.lo, sum.lo + base.lo)};
}

LogReduced log_reduce(Val x) {
  // Moving the bits so that sqrt(1/2) becomes 1 puts k + 1023 in the exponent field. Logical shifts and the exponent
  // trick, because 64-bit arithmetic shifts and conversions are slow before AVX-512.
  constexpr int64_t sqrt_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
  const Val moved = x.number_bits().cast_bits(DType::u64) + (one - sqrt_half);
  const Val biased_k = ((moved >> 52) | int64_t{0x4330000000000000}).cast_bits(DType::f64);
  const Val m = ((moved & int64_t{0x000fffffffffffff}) + sqrt_half).cast_bits(DType::f64);
  return {biased_k, m};
}

Pair log_pair(Val x) {
  const Val tiny = lt(x, std::numeric_limits<double>::min());
  const LogReduced a = log_reduce(select(tiny, x * 0x1p54, x));
  const Val k = a.biased_k - select(tiny, x.lit(log_k_bias + 54), x.lit(log_k_bias));

  // log(m) = 2 s + s t, s = (m - 1) / (m + 1) as a pair, t = z (2/3 + z q(z)), z = s^2. Only q(z) is rounded to a
  // double; its share of the result is under 2^-12.
  const Val f = a.m - 1.0;
  const Val d = -1.0 - a.m;  // negated, with d_lo
  const Val d_lo = (-1.0 - d) - a.m;
  const Val inverse = -1.0 / d;
  const Val s = f * inverse;
  const Val s_lo = fma(s, d_lo, fma(s, d, f)) * inverse;
  const Val z = s * s;
  const Val z_lo = fma(s + s, s_lo, fma(s, s, -z));
  static constexpr double c[] = {0x1.999999999999ap-2, 0x1.24924924922ffp-2, 0x1.c71c71c74c23ep-3,
                                 0x1.745d173d2f459p-3, 0x1.3b13a9ac6246ep-3, 0x1.111557b611aa6p-3,
                                 0x1.e018109c9ffdcp-4, 0x1.dab3b3bdde5a4p-4};
  const Val q = horner(z, c);
  const Val w = fma(z, q, 0x1.5555555555555p-1);
  const Val w_lo = fma(z, q, 0x1.5555555555555p-1 - w) + fma(z_lo, q, 0x1.5555555555555p-55);
  const Val t = z * w;
  const Val t_lo = fma(z, w_lo, fma(z_lo, w, fma(z, w, -t)));
  const Val g = s * t;
  const Val g_lo = fma(s, t_lo, fma(s_lo, t, fma(s, t, -g)));

  // k * ln2_hi is exact: 42 bits.
  const Pair sum = fast_two_sum(k * ln2_hi42, s + s);
  const Pair more = fast_two_sum(sum.hi, g);
  return {more.hi, fma(k, ln2_lo42, fma(s_lo, 2.0, g_lo) + (sum.lo + more.lo))};
}

Pair log1p_pair(Pair x) {
  const Pair u = two_sum(x.hi, x.hi.lit(1));
  const Pair l = log_pair(u.hi);
  const Val c = (u.lo + x.lo) / u.hi;
  const Pair sum = fast_two_sum(l.hi, fma(c * -0.5, c, c));
  return {sum.hi, sum.lo + l.lo};
}

// h(t) for t = (a - 5) / (a + 5). With this factor h moves
// little and is flat at a = 0, so that the roundings of t and of all but the last step hardly count; the pair holds the
// last one.
Pair normal_tail(Val a) {
  constexpr double c0 = 0x1.ec4896da77b19p-2, c0_lo = 0x1.2633913c5b256p-56;
  static constexpr double c[] = {
      -0x1.04f3080b418b4p-3, 0x1.ebe8e26b671adp-5,   -0x1.4ed7f8c39d5a1p-7,  -0x1.d9140d6f79fbp-7,
      0x1.321c3a9d81d74p-6,  -0x1.a77265b37b791p-7,  0x1.84736ad9fcce2p-8,   -0x1.a8fbdc934ac45p-10,
      0x1.5af5d48294a26p-15, 0x1.5eb382b63830cp-13,  -0x1.bfae1fa9aa10cp-15, -0x1.145650a8c1c54p-17,
      0x1.256175e636519p-17, -0x1.fdfeb7fb59c96p-23, -0x1.4f2ba6e71c161p-20, 0x1.34b667324332bp-23,
      0x1.949e87c2e1f41p-23, -0x1.a7d470b9aaa13p-26, -0x1.0288cea90570bp-25, 0x1.00d109f94c0dbp-30,
      0x1.fe52356d6ffc3p-29, 0x1.5e5e7fb83a962p-31};
  const Val inverse = 1.0 / (a + 5.0);
  const Val t = fma(inverse, -10.0, 1.0);
  const Val p = horner(t, c);
  const Val h = fma(t, p, c0);
  // h(t + t_lo) by a rough h', t_lo from t (a + 5) = a - 5.
  static constexpr double slope[] = {-0.169, 0.0578, 0.184};
  const Val t_lo = fma(a, 1.0 - t, (t + 1.0) * -5.0) * inverse;
  return {h, fma(t_lo, horner(t, slope), fma(t, p, c0 - h) + c0_lo)};
}

Val scale_normal(Val p, Val shifted) {
  const Val k = shifted.cast_bits(DType::i64) << 52;
  return (p.cast_bits(DType::i64) + k).cast_bits(DType::f64);
}

Val scale_any(Val p, Val shifted) { return scale2(p, shifted.cast_bits(DType::i64).to(DType::i32)); }

}  // namespace ingot::loop::math::f64
