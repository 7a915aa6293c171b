// Reductions and composites that the engine decomposes, by what docs/numerics.md says of them.
#pragma once

#include <span>

#include "array.h"
#include "ir/graph.h"

namespace ingot::oracle {

// An elementwise or function op of one or two operands on one element.
uint64_t compute(ir::OpCode code, ir::DType type, uint64_t a, uint64_t b = 0);

// The result of a derived reduction over the elements k in order.
uint64_t derived_fold(const ir::Op& op, ir::DType type, std::span<const uint64_t> k);

// Fills the result `which` of a composite, whose dtype and shape are set. False if it is none of these.
bool composite(const ir::Op& op, std::span<const Array* const> operands, size_t which, Array& out);

}  // namespace ingot::oracle
