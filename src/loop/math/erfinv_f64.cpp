#include <limits>

#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// x times a polynomial in t, the constant coefficient apart, for a smaller rounding of the product.
template <size_t n>
Val times(Val x, Val t, const double (&c)[n], double constant) {
  return fma(x, constant, x * (t * horner(t, c)));
}

}  // namespace

// x times a function of w = -log(1 - x^2), which is smooth about 0, and from 4 on (|x| above 0.99) one of its root.
// (The variables are those of M. Giles, Approximating the erfinv function, 2010.)
Val erfinv(Val x) {
  static constexpr double near[] = {
      0x1.db29fb2fee5a4p-3,   0x1.7a72e72c2728dp-7,  -0x1.3211025fb5343p-9,  -0x1.0c86b799464d6p-13,
      0x1.8701411ce50e4p-15,  0x1.0f20b02e29735p-19, -0x1.0fd80cf6e6fc7p-20, -0x1.3e82a6d59a849p-25,
      0x1.8361d472850c8p-26,  0x1.09fc8423fdfdfp-30, -0x1.6f52119c7ca68p-31, 0x1.04e305992d1afp-34,
      -0x1.45fb74d7af5ffp-36, 0x1.5ffa7d43cdcd5p-37, -0x1.6755faa20b668p-39, 0x1.9f36ff0d3ddacp-42,
      -0x1.20db03bdbfaf4p-45, 0x1.cac51170c7d6cp-50, -0x1.437f86181f3a5p-55};
  static constexpr double far[] = {
      0x1.006dca7a9c22ap0,    0x1.3582c8114bf3bp-7,   -0x1.f4f1c6f0c1199p-8,  0x1.7495888eb4784p-8,
      -0x1.d2754fd1f3109p-9,  0x1.84f3ed675ea77p-10,  -0x1.384310086b325p-13, -0x1.28e09f6138a60p-12,
      0x1.aeffe5514d238p-13,  -0x1.85bd671f563d3p-15, -0x1.7fbfc88e51f9bp-16, 0x1.7002373f02540p-16,
      -0x1.8f19b1a62c7edp-18, -0x1.bbc7465d6e23bp-20, 0x1.0c20d06cf704ep-19,  -0x1.5934cec4d1d11p-21,
      -0x1.40d7516e6413ep-24, 0x1.63af5adfa37c9p-23,  -0x1.2dcad4fa2cb62p-24, 0x1.3cbf50472af29p-33,
      0x1.02efc16df9d0bp-26,  -0x1.9f1fc9e0a8ab1p-28, -0x1.1695fbf6facd9p-31, 0x1.d74aaaea19973p-31,
      -0x1.417e81f5125b3p-33};
  static constexpr double farther[] = {0x1.02a30d1fba10ep0,    -0x1.22ea5df1901eep-13, -0x1.c2f36aa269dddp-13,
                                       0x1.3ebf4eeeae35cp-14,  -0x1.4a348fb6eb341p-16, 0x1.2fbd0572e3d65p-18,
                                       -0x1.0a907750d4472p-20, 0x1.ebde10d893374p-23,  -0x1.2226a4120b222p-24,
                                       0x1.f2fcdcb2d2d17p-26,  -0x1.0614e76d4effcp-26, 0x1.0b3afc230df8ep-27,
                                       -0x1.dd1c5d2bcb83cp-29, 0x1.758aa846815a0p-30,  -0x1.e0ea0c935ac68p-32,
                                       0x1.9d377baf867ebp-35,  0x1.787e82bfc54cap-35,  -0x1.0f9c53d963263p-36};
  const Pair l = log_pair(fma(-x, x, 1.0));
  const Val w = -(l.hi + l.lo);
  // The root and what it rounded off.
  const Val s = sqrt(w);
  const Val s_lo = (fma(-s, s, w) - (l.lo + (l.hi + w))) / (s + s);
  const Val slow = select(lt(s, 4.0), times(x, (s - 3.0) + s_lo, far, 0x1.6a9efbd66eae6p1),
                          times(x, (s - 5.0) + s_lo, farther, 0x1.3664ddd1ad7fbp2));
  const Val inside = rare(lt(4.0, w), times(x, w, near, 0x1.c5bf891b4ef6bp-1), slow);
  const Val a = abs(x);
  const Val edge = select(eq(a, 1.0), copysign(x.lit(inf), x), x.lit(nan));
  return rare(!lt(a, 1.0), copysign(inside, x), edge);
}

}  // namespace ingot::loop::math::f64
