#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

// With a = |x|: x Phi(x) is -T for x < 0 and x - T for x >= 0, T = a Phi(-a) = a e^(-a^2/2) / H(a). H grows almost
// linearly, so that a polynomial gives its small distance from 2 + 2.5 a, and a division with its remainder the rest.
Val gelu_erf(Val x) {
  // From 5.5 on T is below half a unit in the last place of x; from -14.6 on it rounds to 0.
  const Val b = vmax(vmin(x, 5.5), -14.6);
  const Val a = abs(b);
  const Val half = b * -0.5;
  const Val square = half * b;  // -a^2/2, and what it rounded off
  const ExpParts e = exp_parts(square, fma(half, b, -square), 0);

  const Val m = horner(a - 1, {0x1.1b626cp-20, -0x1.bd2082p-17, 0x1.31bfe8p-14, -0x1.9a1efap-13, -0x1.706df2p-13,
                               0x1.4de1aap-8, -0x1.0efa34p-5, 0x1.2c233cp-3, 0x1.efc0c6p-8, -0x1.6a9aa8p-3});
  const Val line = fma(a, 2, 2);
  const Val high = line + m;
  const Val low = m - (high - line) + fma(a, 2, 2 - line);
  const Val inverse = -1.0 / high;  // negative, for the signs of the remainder
  const Val top = fma(a, e.s, a);
  const Val quotient = top * inverse;
  const Val rest = fma(quotient, low, fma(quotient, high, top)) + e.add_product(a - top, a);
  const Val t = fma(rest, inverse, quotient);  // -T / 2^n
  const Val fast = select(lt(x, 0), t * e.power, fma(t, e.power, x));

  // Below -3.5: T = e^(-a^2/2) (g0 + v g(v)), v = 1/(a^2 + 4), made 2^64 times too large and scaled back.
  const Val v = 1.0 / fma(square, -2, 4);
  const Val g = horner(v, {-0x1.75cdc4p5, 0x1.3255dap0, -0x1.64c448p1, -0x1.98584p-2, -0x1.98851ap-2});
  const double g0 = 0x1.988454p-2;
  // g_high + g_low = g0 + v g; its product with e^r is summed in two parts, for a single rounding.
  const Val g_high = fma(v, g, g0);
  const Val product = e.s * g_high;
  const Val sum = g_high + product;
  const Val sum_low = product - (sum - g_high) + (e.add_product(-product, g_high) + fma(v, g, g0 - g_high));
  const Val tail = sum + sum_low;
  const Val power = ((e.t.number_bits() << 23) + (64 << 23)).cast_bits(DType::f32);
  return rare(!le(-3.5, x), number(fast), tail * power * -0x1p-64);
}

}  // namespace ingot::loop::math::f32
