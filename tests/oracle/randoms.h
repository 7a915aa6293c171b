// Random numbers by docs/numerics.md, one element at a time.
#pragma once

#include <array>

#include "ir/graph.h"

namespace ingot::oracle {

// The words of one block of Philox4x32-10.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Element `index`, row-major, of a random op's result.
uint64_t random_element(const ir::Op& op, ir::DType type, uint64_t seed, uint64_t index);

}  // namespace ingot::oracle
