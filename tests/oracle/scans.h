// Scans of a run of elements, transcribed from docs/numerics.md.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace ingot::oracle {

// `op` is a scan; elements and results as bits, in the order of the axis.
std::vector<uint64_t> scan(const ir::Op& op, ir::DType type, std::span<const uint64_t> x);

}  // namespace ingot::oracle
