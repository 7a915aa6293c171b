// What the planner hands to the engine: kernels in launch order, each with the bindings from its size slots and views
// to dims and tensors. Everything symbolic: one plan serves every size.
#pragma once

#include <string>
#include <vector>

#include "fuse/map.h"
#include "fuse/reason.h"
#include "loop/kernel.h"

namespace ingot::fuse {

using loop::RefKind;
using loop::Step;
using loop::TensorRef;
using loop::ViewBinding;

struct Buffer {
  ir::DType dtype;
  std::vector<ir::DimId> shape;
  ir::ValueId value;
};

// A value that one step stores and another reads, and why they are two, for `ingot explain`.
struct Edge {
  uint32_t producer, consumer;
  ir::ValueId value;
  Reason reason;
};

// An input that two steps read, and why they are two.
struct SharedRead {
  uint32_t first, second;
  ir::ValueId value;
  Reason reason;
};

struct Plan {
  ir::DimTable dims;  // the graph's, with the expressions that bindings need
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
  std::vector<Edge> edges;
  std::vector<SharedRead> shared;
};

struct PlanOptions {
  bool fuse = true;              // false: every op is a kernel of its own
  uint32_t kernel_weight = 256;  // primitives a kernel may hold, unless one op alone needs more
};

// The graph is sealed and its composites are decomposed. Near linear in its size, deterministic, without recursion.
Plan plan_graph(const ir::Graph& graph, const PlanOptions& options);

}  // namespace ingot::fuse
