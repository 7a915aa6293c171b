// From a graph op on elements to primitives: the one place where the meaning of an elementwise or function op is
// written (docs/adding-an-op.md). Interpreter, CPU and CUDA all consume what comes out.
#pragma once

#include <span>

#include "ir/op.h"
#include "loop/expr.h"

namespace ingot::loop {

// Expands one elementwise or function op. `args` have the op's operand types (f32 where the dtype is narrower); `attrs`
// are in the row's order. The result's type is that of the op's result. Throws unimplemented for an op without
// expansion.
Val expand(ir::OpCode code, std::span<const ir::Attr> attrs, std::span<const Val> args);

// About how many primitives expand() makes, for the planner: 1 for an add, tens for a function.
uint32_t expansion_weight(ir::OpCode code, DType type);

}  // namespace ingot::loop
