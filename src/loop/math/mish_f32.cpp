#include "loop/math/f32.h"
#include "loop/math/wide_f32.h"

namespace ingot::loop::math::f32 {

// x N / (N + 2), N = e^x (e^x + 2) = (1 + e^x)^2 - 1. From 20 on the result is x, below -120 it is -0.
Val mish(Val x) {
  const Val wide = vmax(x, -120.0).to(DType::f64);
  const WideExp e = wide_exp(vmin(wide, 20.0));
  const Val power = fma(e.power, e.u, e.power);
  const Val n = power * (power + 2.0);
  return select(lt(20, x), x, (wide * (n / (n + 2.0))).to(DType::f32));
}

}  // namespace ingot::loop::math::f32
