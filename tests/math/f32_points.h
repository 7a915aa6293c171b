// Single inputs of the f32 functions: where the worst errors are, and what the standard says of special ones.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ingot::test {

struct Known {
  std::string_view function;
  uint32_t x;
};
// The worst inputs that f32_exhaustive found, at least one for each function.
std::span<const Known> worst_inputs();

struct Exact {
  std::string_view function;
  float x, y;
};
// Annex F of C, written out; NaN stands for any NaN. gelu and silu at -inf: the limit.
std::span<const Exact> special_values();

struct ExactPair {
  std::string_view function;
  float x, y, z;
};
// The same of two arguments: function(x, y) = z.
std::span<const ExactPair> special_pairs();

}  // namespace ingot::test
