// Random valid graphs with inputs for several sizes, and a reducer for those that fail.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "array.h"
#include "ir/graph.h"

namespace ingot::oracle {

struct RandomGraph {
  std::shared_ptr<const ir::Graph> graph;
  std::vector<std::vector<Array>> inputs;  // per size assignment, per input
};

// The same seed gives the same graph. All assignments fit the graph: broadcasts of symbols hold in each of them.
RandomGraph random_graph(uint64_t seed);

// Random elements: special values of the dtype among ordinary ones.
Array random_array(uint64_t seed, ir::DType dtype, std::vector<int64_t> shape);

// A smaller graph for which `fails` still holds: outputs dropped, ops replaced by inputs that hold their values.
struct Failing {
  std::shared_ptr<const ir::Graph> graph;
  std::vector<Array> inputs;
};
Failing reduce(Failing failing, const std::function<bool(const Failing&)>& fails);

}  // namespace ingot::oracle
