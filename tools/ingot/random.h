// Inputs that --random makes up.
#pragma once

#include <cstdint>

#include "array.h"

namespace ingot::tool {

struct Range {
  double low, high;
};
// What is filled in where no range is given: floats in [-1, 1), signed integers -8 to 8, unsigned ones 0 to 16, bool
// false or true.
Range default_range(const DType& type);

// Element k of input number `input` is low + u * (high - low), for integers floor(low + u * (high - low + 1)), with u =
// w * 2^-24 in [0, 1), w the top 24 bits of splitmix64(seed * 2^32 + input + (k + 1) * 0x9E3779B97F4A7C15): every
// element depends on its index alone, so the same seed gives the same start of a longer array. Where high - low
// overflows it is (1 - u) * low + u * high.
void fill_random(Array& array, uint64_t seed, uint32_t input, Range range);

}  // namespace ingot::tool
