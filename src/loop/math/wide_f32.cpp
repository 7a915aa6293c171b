#include "loop/math/wide_f32.h"

#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f32 {

namespace {
constexpr double ln2 = 0x1.62e42fefa39efp-1;
}

WideExp wide_exp(Val a) {
  static constexpr double c[] = {0x1.00000025fee62p-1, 0x1.555554ef6666bp-3,  0x1.5554b102e770dp-5,
                                 0x1.11118986ae0ep-7,  0x1.6d72261645da9p-10, 0x1.a032c3340de61p-13};
  constexpr double log2_e = 0x1.71547652b82fep0, shifter = 0x1.8p52;
  const Val shifted = fma(a, log2_e, shifter);
  const Val r = fma(shifted - shifter, -ln2, a);
  return {f64::exp2_k(shifted), fma(r * r, f64::horner(r, c), r)};
}

Val wide_log(Val x) {
  static constexpr double c[] = {-0x1.00000001d91afp-1, 0x1.555555cf5d7a5p-2,  -0x1.fffff90f8cc55p-3,
                                 0x1.999910e2303e5p-3,  -0x1.5556b3555f41ap-3, 0x1.24abbff285c75p-3,
                                 -0x1.ffe4df68dd394p-4, 0x1.c2f42453ac6ccp-4,  -0x1.969f4daa6196fp-4,
                                 0x1.9a3ae6e0a978fp-4,  -0x1.945a885b361b2p-4, 0x1.b6fc02e3f2608p-5};
  const auto [biased_k, m] = f64::log_reduce(x);
  const Val f = m - 1.0;
  return fma(biased_k - f64::log_k_bias, ln2, fma(f * f, f64::horner(f, c), f));
}

}  // namespace ingot::loop::math::f32
