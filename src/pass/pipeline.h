// The graph passes in their one order.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace ingot::pass {

// Computes the outputs of a sealed graph without inputs, one compact constant each.
using Evaluate = std::function<std::vector<ir::Constant>(const ir::Graph& graph)>;

// Called after each pass with its name, its result and the microseconds it took.
using Observe = std::function<void(std::string_view pass, const ir::Graph& graph, int64_t microseconds)>;

struct Options {
  bool simplify = true;                     // false: composites are decomposed and nothing else is done
  uint64_t fold_bytes = uint64_t{1} << 20;  // results larger than this stay ops
};

// Takes a sealed graph and returns a sealed graph with the same inputs (ids and all), the same outputs in the same
// order, and no composite ops. Near linear in the number of ops, without recursion.
ir::Graph run(const ir::Graph& graph, const Options& options, const Evaluate& evaluate, const Observe& observe);

}  // namespace ingot::pass
