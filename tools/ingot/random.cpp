#include "random.h"

#include <cmath>

namespace ingot::tool {

namespace {

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators": the finaliser.
uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  return z ^ z >> 31;
}

}  // namespace

Range default_range(const DType& type) {
  if (type.number == INGOT_BOOL) return {0, 1};
  if (type.code == 0) return {-8, 8};
  if (type.code == 1) return {0, 16};
  return {-1, 1};
}

void fill_random(Array& array, uint64_t seed, uint32_t input, Range range) {
  const DType& type = array.type();
  const bool whole = type.code <= 1 || type.number == INGOT_BOOL;
  const uint64_t start = (seed << 32) + input;
  uint8_t* at = array.data();
  for (size_t k = 0; k < array.count(); ++k, at += type.size()) {
    const double u = std::ldexp(static_cast<double>(mix(start + (k + 1) * 0x9E3779B97F4A7C15U) >> 40), -24);
    const double span = range.high - range.low + (whole ? 1 : 0);
    const double v = std::isfinite(span) ? range.low + u * span : (1 - u) * range.low + u * range.high;
    encode(type, whole ? std::floor(v) : v, at);
  }
}

}  // namespace ingot::tool
