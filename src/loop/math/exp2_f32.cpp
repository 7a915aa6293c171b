#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// p 2^n for the base's x = log(2^n p): n + 127 in the low bits of t. `bound`: |x| up to which the result is normal;
// from `high` on it is infinite, below `low` it is 0.
Val scale(Val x, Val p, Val t, double bound, double low, double high) {
  const Val exponent = t.number_bits() << 23;
  const Val fast = p * exponent.cast_bits(DType::f32);
  const Val slow = scale_far(p, exponent, lt(x, 0));
  const Val clamped = select(lt(x, low), 0, select(le(high, x), inf, slow));
  return rare(lt(x.lit(bound).cast_bits(DType::i32), abs(x).number_bits()), number(fast), clamped);
}

}  // namespace

// x = n + f, 2^x = 2^n 2^f.
Val exp2(Val x) {
  const Val t = x + (round_magic + 127);
  const Val f = x - (t - (round_magic + 127));
  return scale(x, exp2_fraction(f), t, 126, -151, 128);
}

// x = n log10(2) + r, 10^x = 2^n 10^r.
Val exp10(Val x) {
  constexpr double log2_10 = 0x1.a934fp1, log10_2_hi = 0x1.344p-2, log10_2_lo = 0x1.3509f8p-18;
  const Val t = fma(x, log2_10, round_magic + 127);
  const Val n = t - (round_magic + 127);
  const Val r = fma(n, -log10_2_lo, fma(n, -log10_2_hi, x));
  // 1 + c r with what it rounded off: with the rest of the series inside, its error was a quarter of an ulp more.
  const double c = 0x1.26bb1cp1;
  const Val head = fma(r, c, 1);
  const Val lost = fma(r, r.lit(c), 1 - head);
  const Val q = horner(r, {0x1.a493dep-3, 0x1.156be6p-1, 0x1.2bdbdep0, 0x1.046f9ap1, 0x1.535248p1});
  const Val p = head + fma(r * r, q, lost);
  return scale(x, p, t, 37.5, -46, 39);
}

}  // namespace ingot::loop::math::f32
