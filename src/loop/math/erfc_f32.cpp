#include "loop/math/f32.h"
#include "loop/math/parts_f64.h"
#include "loop/math/wide_f32.h"

namespace ingot::loop::math::f32 {

// For b >= 0: e^(-b^2) h / (b + 1), h a polynomial in (b - 4) / (b + 4); b^2 is exact in f64. For x < 0: 2 less that
// of -x. From 10.1 on the result rounds to 0, from -4 down to 2.
Val erfc(Val x) {
  static constexpr double c[] = {
      0x1.5eb7f6ed083dap-1,   -0x1.9841f914225f3p-3,  0x1.df6f763f04eb2p-4, -0x1.89dfc97d3afe6p-5, 0x1.03acd70bf5d7fp-8,
      0x1.f5be693aa98b5p-7,   -0x1.1f092ee71764ap-6,  0x1.8e8ab6d3be6c5p-7, -0x1.8c64150f8f75ap-8, 0x1.178c4aeb04b67p-9,
      -0x1.bf5649d8ba1b7p-12, -0x1.02669e43529bfp-13, 0x1.73232629d06ap-15};
  const Val wide = x.to(DType::f64);
  const Val b = abs(vmin(vmax(wide, -4.0), 10.1));
  const Val h = f64::horner((b - 4.0) / (b + 4.0), c);
  const WideExp e = wide_exp(-b * b);
  const Val tail = fma(e.power, e.u, e.power) * (h / (b + 1.0));
  return select(lt(wide, 0.0), 2.0 - tail, tail).to(DType::f32);
}

}  // namespace ingot::loop::math::f32
