#pragma once

#include <cstdint>
#include <string>

#include "check.h"

namespace ingot::oracle {

// Runs the random graph of this seed in these ways at every size, with one executable per way. Empty if all agree
// with the oracle and no size after the first compiled anything, else a report with the reduced graph.
std::string differential(uint64_t seed, std::span<const Way> ways = main_ways());

}  // namespace ingot::oracle
