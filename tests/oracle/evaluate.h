// A plain, slow evaluator of graphs: op by op, element by element, from docs/numerics.md and the op table's docs. It
// shares nothing with the planner, the kernels or their drivers, so that a fault of those shows as a difference.
#pragma once

#include <span>

#include "array.h"
#include "ir/graph.h"

namespace ingot::oracle {

// The values of all dims of the graph for these inputs; throws invalid_argument where they contradict it.
std::vector<int64_t> bind_dims(const ir::Graph& graph, std::span<const Array> inputs);

// Every value of the graph by its id. Inputs in the graph's order; a dim input is a 0-d i64. Bool elements are 0 or 1.
std::vector<Array> evaluate_all(const ir::Graph& graph, std::span<const Array> inputs);

// The outputs alone.
std::vector<Array> evaluate(const ir::Graph& graph, std::span<const Array> inputs);

}  // namespace ingot::oracle
