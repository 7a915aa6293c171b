#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "loop/math/f32.h"
#include "math/emit_c.h"
#include "math/exact.h"
#include "math/f32_points.h"
#include "math/f32_pow.h"
#include "math/f32_reference.h"

using namespace ingot;
using namespace ingot::test;

namespace {

using Expansion = loop::Val (*)(loop::Val, loop::Val);
using Reference = int (*)(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

// Pairs of special values, and random ones: of any size, and of about one size.
std::vector<std::pair<float, float>> pairs() {
  std::vector<std::pair<float, float>> out = pow_special_pairs();
  uint64_t state = 88172645463325252;
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 16);
  };
  for (int i = 0; i < 60000; ++i) {
    const float x = std::bit_cast<float>(next());
    const float near = x * std::ldexp(static_cast<float>(next()), -29 - static_cast<int>(next() % 30));
    out.emplace_back(x, i % 3 == 0 ? std::bit_cast<float>(next()) : next() % 2 != 0 ? near : -near);
    if (next() % 2 != 0) std::swap(out.back().first, out.back().second);
    // Logarithms of about one size, and of what adds up to about 1.
    const float a = 200 * (static_cast<float>(next()) * 0x1p-32f) - 100;
    const float rest =
        i % 2 != 0 ? std::log1p(-std::exp(-std::fabs(a))) : a + 30 * (static_cast<float>(next()) * 0x1p-32f);
    out.emplace_back(i % 2 != 0 ? -std::fabs(a) : a, rest);
  }
  return out;
}

// An error of up to `slack` counts as none.
void check(std::string_view name, Expansion expansion, Reference reference, double slack = 0) {
  const CompiledKernel code(
      function_kernel(loop::DType::f32, 2, [&](std::span<const loop::Val> a) { return expansion(a[0], a[1]); }));
  std::vector<float> x, y, want;
  for (const ExactPair& p : special_pairs())
    if (p.function == name) x.push_back(p.x), y.push_back(p.y), want.push_back(p.z);
  REQUIRE(!want.empty());
  for (const auto& [a, b] : pairs()) x.push_back(a), y.push_back(b);
  std::vector<float> got(x.size());
  const void* in[] = {x.data(), y.data()};
  code.run(in, got.data(), got.size());
  mpfr_t exact, second;
  mpfr_inits2(120, exact, second, nullptr);
  for (size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    CAPTURE(y[i]);
    CAPTURE(got[i]);
    if (i < want.size()) {
      if (std::isnan(want[i])) CHECK(std::isnan(got[i]));
      else CHECK(std::bit_cast<uint32_t>(got[i]) == std::bit_cast<uint32_t>(want[i]));
    }
    mpfr_set_flt(exact, x[i], MPFR_RNDN);
    mpfr_set_flt(second, y[i], MPFR_RNDN);
    reference(exact, exact, second, MPFR_RNDN);
    const double error = ulp_error(got[i], exact);
    if (error > 1 && !(std::fabs(double{got[i]} - mpfr_get_d(exact, MPFR_RNDN)) <= slack)) CHECK(error <= 1);
  }
  mpfr_clears(exact, second, nullptr);
}

}  // namespace

TEST_CASE("f32 atan2 is within one ulp and keeps every special case of Annex F") {
  check("atan2", loop::math::f32::atan2, mpfr_atan2);
}

TEST_CASE("f32 logaddexp is within one ulp, where both powers add up to 1 within 2^-57") {
  const auto reference = [](mpfr_t r, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t) {
    mpfr_set(r, a, MPFR_RNDN);
    logaddexp_exact(r, b);
    return 0;
  };
  check("logaddexp", loop::math::f32::logaddexp, reference, 0x1p-57);
}

TEST_CASE("f32 hypot is within one ulp and keeps every special case of Annex F") {
  check("hypot", loop::math::f32::hypot, mpfr_hypot);
}
