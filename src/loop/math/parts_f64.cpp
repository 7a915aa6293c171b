#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

Pair fast_two_sum(Val a, Val b) {
  const Val hi = a + b;
  return {hi, (a - hi) + b};
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
constexpr double shifter = 0x1.8p52;
}  // namespace

ExpReduced exp_reduce(Val x) {
  const Val shifted = fma(x, log2e, shifter);
  const Val k = shifted - shifter;
  const Val exact = fma(k, -ln2_hi, x);
  const Val r = fma(k, -ln2_lo, exact);
  return {shifted, r, fma(k, -ln2_lo, exact - r)};
}

ExpReduced exp_reduce(Pair x) {
  const Val shifted = fma(x.hi, log2e, shifter);
  const Val k = shifted - shifter;
  const Val exact = fma(k, -ln2_hi, x.hi);
  const Val small = fma(k, -ln2_lo, x.lo);
  const Val r = exact + small;
  return {shifted, r, (exact - r) + small};
}

Val exp_tail(Val r) {
  static constexpr double c[] = {0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.5555555550229p-5,
                                 0x1.111111110d644p-7,  0x1.6c16c18550082p-10, 0x1.a01a01bade4fcp-13,
                                 0x1.a019975978956p-16, 0x1.71dddfd543793p-19, 0x1.28afab17a5475p-22,
                                 0x1.af857843e7cd7p-26};
  return horner(r, c);
}

Pair exp_pair(const ExpReduced& x) {
  const Pair head = fast_two_sum(x.r.lit(1), x.r);
  const Val tail = fma(x.r * x.r, exp_tail(x.r), fma(x.r_lo, x.r, x.r_lo));
  const Pair sum = fast_two_sum(head.hi, tail);
  return {sum.hi, sum.lo + head.lo};
}

LogReduced log_reduce(Val x) {
  // Moving the bits so that sqrt(1/2) becomes 1 puts k + 1023 in the exponent field. Logical shifts and the exponent
  // trick, because 64-bit arithmetic shifts and conversions are slow before AVX-512.
  constexpr int64_t sqrt_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
  const Val moved = x.cast_bits(DType::u64) + (one - sqrt_half);
  const Val biased_k = ((moved >> 52) | int64_t{0x4330000000000000}).cast_bits(DType::f64);
  const Val m = ((moved & int64_t{0x000fffffffffffff}) + sqrt_half).cast_bits(DType::f64);
  return {biased_k, m};
}

Val scale_normal(Val p, Val shifted) {
  const Val k = shifted.cast_bits(DType::i64) << 52;
  return (p.cast_bits(DType::i64) + k).cast_bits(DType::f64);
}

Val scale_any(Val p, Val shifted) { return scale2(p, shifted.cast_bits(DType::i64).to(DType::i32)); }

}  // namespace ingot::loop::math::f64
