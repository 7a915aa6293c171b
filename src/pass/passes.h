// The single rewrites; pipeline.h runs them. Each takes a sealed graph and returns a sealed one.
#pragma once

#include "pass/pipeline.h"

namespace ingot::pass {

// Composite ops become what they mean (NUMERICS.md); wide concats become trees. The planner knows no composites.
ir::Graph decompose(const ir::Graph& graph);

// Local rewrites that keep every bit: neutral elements where NUMERICS.md allows them, chains of moves, repeated
// negation.
ir::Graph simplify(const ir::Graph& graph);

// Ops whose operands are all constants become constants, computed by `evaluate`.
ir::Graph fold_constants(const ir::Graph& graph, uint64_t limit_bytes, const Evaluate& evaluate);

// Equal ops over equal operands, and constants of equal content, become one.
ir::Graph common_subexpressions(const ir::Graph& graph);

// Drops what no output reaches.
ir::Graph dead_code(const ir::Graph& graph);

}  // namespace ingot::pass
