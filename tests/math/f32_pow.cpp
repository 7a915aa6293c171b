#include "math/f32_pow.h"

#include <bit>
#include <cmath>
#include <limits>

namespace ingot::test {

void pow_exact(mpfr_t result, float x, float y) {
  mpfr_t exponent;
  mpfr_init2(exponent, 24);
  mpfr_set_flt(exponent, y, MPFR_RNDN);
  mpfr_set_flt(result, x, MPFR_RNDN);
  mpfr_pow(result, result, exponent, MPFR_RNDN);
  mpfr_clear(exponent);
}

std::vector<std::pair<float, float>> pow_special_pairs() {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0,
                               0x1p-149f,
                               0x1.8p-140f,
                               0x1.fffffcp-127f,
                               0x1p-126f,
                               0x1p-64f,
                               0.25f,
                               0.5f,
                               0x1.fffffep-1f,
                               1,
                               0x1.000002p0f,
                               1.5f,
                               2,
                               2.5f,
                               3,
                               4,
                               5,
                               10,
                               37,
                               126,
                               127,
                               128,
                               149,
                               150,
                               0x1.fffffep23f,
                               0x1p23f,
                               0x1.000002p23f,
                               0x1p24f,
                               0x1p25f,
                               0x1p64f,
                               0x1.fffffep127f,
                               inf};
  for (size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  std::vector<std::pair<float, float>> pairs;
  for (const float x : values)
    for (const float y : values) pairs.emplace_back(x, y);
  return pairs;
}

std::pair<float, float> pow_random_pair(uint64_t& state) {
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 16);
  };
  for (;;) {
    // All exponents, or near 1, where the logarithm is small and y large.
    const uint32_t bits = next();
    float x = std::bit_cast<float>(bits & 0x7fffffff);
    if (bits >> 31)
      x = 1 + (x < 1 ? 1 : -1) * std::ldexp(static_cast<float>(bits & 0x7fffff), -23 - static_cast<int>(next() % 20));
    if (!(x > 0) || !std::isfinite(x) || x == 1) continue;
    const double e = -152 + 282 * (next() * 0x1p-32);
    const auto y = static_cast<float>(e / std::log2(static_cast<double>(x)));
    if (std::isfinite(y) && y != 0) return {x, y};
  }
}

}  // namespace ingot::test
