#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// e^x - 1 = 2^n s + (2^n - 1), s = e^r - 1. The sum takes in what s, 2^n - 1 (for n > 24) and the sum itself rounded
// off.
Val expm1(Val x) {
  const ExpParts e = exp_parts(vmax(x, -40.0), x.lit(0), 0);
  const Val base = e.power - 1;
  const Val sum = fma(e.power, e.s, base);
  const Val rounded_off = (base - sum) + (e.power - base - 1);
  const Val fast = copysign(sum + e.add_product(rounded_off, e.power), x);

  const Val slow = scale_far(e.s + 1, e.t.cast_bits(DType::i32) << 23, lt(x, 0));
  const Val clamped = select(lt(89, x), std::numeric_limits<double>::infinity(), slow);
  return rare(lt(87, x), fast, clamped);
}

}  // namespace ingot::loop::math::f32
