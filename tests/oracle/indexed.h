// The indexed ops, element by element from what NumPy, ONNX and PyTorch have them do.
#pragma once

#include <span>

#include "array.h"
#include "ir/graph.h"

namespace ingot::oracle {

// Fills the result of an op, whose dtype and shape are set. False if it is no op of these. Throws out_of_range.
bool indexed(const ir::Op& op, std::span<const Array* const> operands, Array& out);

}  // namespace ingot::oracle
