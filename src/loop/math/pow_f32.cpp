#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// What Annex F says where x is not positive and finite or y not finite. `magnitude` is |x|^|y|'s limit, right for zero
// and infinite |x| too.
Val special_cases(Val x, Val y, Val magnitude) {
  const Val size = abs(x);
  const Val half = y * 0.5;
  const Val integer = eq(trunc(y), y);  // infinity counts as an even integer
  const Val odd = integer & ne(trunc(half), half);
  // -1 to an infinite power is 1, where the logarithm gave 0 * inf.
  const Val even_unit = eq(size, 1) & eq(abs(y), inf);
  const Val sized = select(even_unit, 1, magnitude);
  // Only an odd integer y takes the sign of x, and then with the sign of a zero.
  const Val signed_result = select(odd, copysign(sized, x), sized);
  const Val root = lt(x, 0) & lt(size, inf) & !integer;
  const Val undefined = root | is_nan(x) | is_nan(y);
  const Val result = select(undefined, nan, signed_result);
  return select(eq(y, 0) | eq(x, 1), 1, result);
}

}  // namespace

// 2^(y log2 x), the logarithm and the product in f64: a relative error of 2^-35 in the logarithm is 2^-28 in the power.
Val pow(Val x, Val y) {
  // x = 2^e (1 + f) as in log; special: all but positive normal finite x.
  const Val bits = x.number_bits();
  const Val special = le(int32_t{-0x01000000}, bits + 0x7f800000);
  const Val size = abs(x);
  const Val tiny = lt(size, 0x1p-126);
  const Val scaled = select(tiny, size * 0x1p23, size);
  const int32_t sqrt_half = 0x3f3504f3;
  const Val d = rare(special, bits, scaled.number_bits()) - sqrt_half;
  const Val e = (d >> 23).to(DType::f64);
  const Val f = (((d & 0x007fffff) + sqrt_half).cast_bits(DType::f32) - 1).to(DType::f64);
  const Val q = horner(
      f, {0x1.3ce8eb7eb7414p-4, -0x1.2489033aa28ap-3, 0x1.2871db1a40b6p-3, -0x1.252f320baf183p-3, 0x1.45291a198263ep-3,
          -0x1.7141718e30e37p-3, 0x1.a63f4458fbdfbp-3, -0x1.ec72b58dfb16bp-3, 0x1.277651fc52c1ap-2,
          -0x1.71547097b4e8cp-2, 0x1.ec709ebb93cf7p-2, -0x1.715476565d24fp-1, 0x1.71547652a1e9ap0});
  const Val log2 = fma(f, q, e);
  const Val edge = select(eq(size, 0), -inf, select(eq(size, inf), inf, select(tiny, log2 - 23, log2)));
  const Val y64 = y.to(DType::f64);
  const Val u = vmin(vmax(y64 * rare(special, log2, edge), -200.0), 200.0);

  const Val n = round(u);
  const Val g = (u - n).to(DType::f32);
  const Val p = exp2_fraction(g);
  const Val exponent = (n.to(DType::f32) + (round_magic + 127)).number_bits() << 23;
  const Val fast = p * exponent.cast_bits(DType::f32);

  const Val magnitude = scale_far(p, exponent, lt(u, 0));
  const Val in_range = le(abs(u), 125.0);  // false for NaN
  return rare(special | !in_range, number(fast), special_cases(x, y, magnitude));
}

}  // namespace ingot::loop::math::f32
