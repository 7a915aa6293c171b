#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// x = n ln 2 + r, e^x = 2^n e^r.
Val exp(Val x) {
  const Val t = fma(x, log2_e, round_magic + 127);
  const Val n = t - (round_magic + 127);
  const Val r = fma(n, -ln2_lo, fma(n, -ln2_hi, x));
  const Val p = fma(fma(exp_quotient(r), r, 1), r, 1);
  const Val exponent = t.number_bits() << 23;
  const Val fast = p * exponent.cast_bits(DType::f32);

  const Val slow = scale_far(p, exponent, lt(x, 0));
  const double inf = std::numeric_limits<double>::infinity();
  const Val clamped = select(lt(x, -104), 0, select(lt(89, x), inf, slow));
  return rare(lt(x.lit(87).cast_bits(DType::i32), abs(x).number_bits()), number(fast), clamped);
}

}  // namespace ingot::loop::math::f32
