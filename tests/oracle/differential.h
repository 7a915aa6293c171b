#pragma once

#include <cstdint>
#include <string>

namespace ingot::oracle {

// Runs the random graph of this seed in the main ways at every size, with one executable per way. Empty if all agree
// with the oracle and no size after the first compiled anything, else a report with the reduced graph.
std::string differential(uint64_t seed);

}  // namespace ingot::oracle
