// The movement ops that the engine decomposes, element by element from where NumPy has each result element come from.
#pragma once

#include <span>

#include "array.h"
#include "ir/graph.h"

namespace ingot::oracle {

// Fills result `which` of an op, whose dtype and shape are set; `dims` are the values of the graph's dims. False if it
// is no op of these.
bool arranged(const ir::Op& op, std::span<const Array* const> operands, std::span<const int64_t> dims, size_t which,
              Array& out);

}  // namespace ingot::oracle
