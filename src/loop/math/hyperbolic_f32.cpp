#include <limits>

#include "loop/math/f32.h"
#include "loop/math/wide_f32.h"

namespace ingot::loop::math::f32 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// |x| below which three terms of the series serve; the logarithms would lose what they subtract.
constexpr double near_zero = 0x1p-5;

Val series(Val a, double c3, double c5, double c7) {
  const Val z = a * a;
  return fma(a * z, fma(z, fma(z, c7, a.lit(c5)), c3), a);
}

}  // namespace

// (E + E / (E + 1)) / 2, E = e^a - 1. From 90 on the result is infinite.
Val sinh(Val x) {
  const WideExp e = wide_exp(vmin(abs(x).to(DType::f64), 100.0));
  const Val m = fma(e.power, e.u, e.power - 1.0);
  return copysign(((m + m / (m + 1.0)) * 0.5).to(DType::f32), x);
}

Val cosh(Val x) {
  const WideExp e = wide_exp(vmin(abs(x).to(DType::f64), 100.0));
  const Val half = fma(e.power, e.u, e.power) * 0.5;
  return (half + 0.25 / half).to(DType::f32);
}

Val asinh(Val x) {
  const Val a = abs(x).to(DType::f64);
  const Val far = wide_log(a + sqrt(fma(a, a, 1.0)));
  const Val result = select(lt(a, near_zero), series(a, -1.0 / 6, 3.0 / 40, -15.0 / 336), far);
  return copysign(select(lt(a, inf), result, a).to(DType::f32), x);
}

// The root as one of (x - 1) (x + 1): there is no cancellation then.
Val acosh(Val x) {
  const Val a = x.to(DType::f64);
  const Val result = wide_log(a + sqrt((a - 1.0) * (a + 1.0)));
  return select(ge(a, 1.0) & lt(a, inf), result, select(lt(a, 1.0), nan, a)).to(DType::f32);
}

Val atanh(Val x) {
  const Val a = abs(x).to(DType::f64);
  const Val far = wide_log((a + 1.0) / (1.0 - a)) * 0.5;
  const Val result = select(lt(a, near_zero), series(a, 1.0 / 3, 1.0 / 5, 1.0 / 7), far);
  const Val edge = select(eq(a, 1.0), inf, a.lit(nan));
  return copysign(select(lt(a, 1.0), result, edge).to(DType::f32), x);
}

}  // namespace ingot::loop::math::f32
