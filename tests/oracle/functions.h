// Function ops on one element: the expansion's primitives by the scalar reference (loop/eval.h). Their accuracy is
// judged elsewhere; here they only serve to compute what a graph around them should give.
#pragma once

#include "ir/graph.h"

namespace ingot::oracle {

uint64_t function_op(const ir::Op& op, ir::DType type, uint64_t a, uint64_t b);

}  // namespace ingot::oracle
