// From a graph op on elements to primitives: the one place where the meaning of an elementwise or function op is
// written (docs/adding-an-op.md). Interpreter, CPU and CUDA all consume what comes out.
#pragma once

#include <span>

#include "ir/op.h"
#include "loop/narrow.h"

namespace ingot::loop {

// Expands one elementwise or function op. `args` have the op's operand types; `attrs` are in the row's order. The
// result's type is that of the op's result: on f16 and bf16 an op is the one on f32, rounded once, but for what only
// moves bits. Throws unimplemented for an op without expansion.
Val expand(ir::OpCode code, std::span<const ir::Attr> attrs, std::span<const Val> args,
           Rounding rounding = Rounding::every_op);

// About how many primitives expand() makes, for the planner: 1 for an add, tens for a function.
uint32_t expansion_weight(ir::OpCode code, DType type);

}  // namespace ingot::loop
