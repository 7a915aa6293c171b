// Elementwise ops on one element, written from docs/numerics.md and nothing else.
#pragma once

#include "ir/graph.h"

namespace ingot::oracle {

// Bits of operands and result zero-extended; `type` is the operands' dtype (of select: that of the choices). Expects
// the default floating-point environment.
uint64_t scalar_op(const ir::Op& op, ir::DType type, uint64_t a, uint64_t b, uint64_t c);

uint64_t cast(ir::DType to, ir::DType from, uint64_t a);

}  // namespace ingot::oracle
