// Contractions of any dims, and attention, element by element.
#pragma once

#include <span>

#include "array.h"
#include "ir/graph.h"

namespace ingot::oracle {

// Fill the result, whose dtype and shape are set.
void dot_general(const ir::Op& op, const Array& a, const Array& b, Array& out);
// In f32 or f64: q, k, v, and where there is one the mask.
void attention(const ir::Op& op, std::span<const Array* const> operands, Array& out);

}  // namespace ingot::oracle
