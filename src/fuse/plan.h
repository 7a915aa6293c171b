// What the planner hands to the engine: kernels in launch order, each with the bindings from its size slots and views to
// dims and tensors. Everything symbolic: one plan serves every size.
#pragma once

#include <string>
#include <vector>

#include "fuse/map.h"
#include "loop/kernel.h"

namespace ingot::fuse {

enum class RefKind : uint8_t { none, input, output, constant, buffer };

// A tensor of a run: graph input, graph output, constant (by value id) or intermediate buffer, by index.
struct TensorRef {
  RefKind kind = RefKind::none;
  uint32_t index = 0;
  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

// Where one view of a kernel points: element (dims[0], dims[1], ...) of the tensor, each an affine function of the
// kernel's axes.
struct ViewBinding {
  TensorRef ref;
  // Not empty: the tensor is addressed as compact memory of this shape (a reshape by alias); it has to be compact then.
  bool compact = false;
  std::vector<ir::DimId> shape;
  std::vector<Affine> dims;  // iota: exactly one, the value itself
};

struct Step {
  loop::Kernel kernel;
  std::vector<ir::DimId> sizes;    // per size slot
  std::vector<ViewBinding> views;  // per view
  std::vector<uint32_t> ops;       // graph ops computed here, ascending
};

struct Buffer {
  ir::DType dtype;
  std::vector<ir::DimId> shape;
  ir::ValueId value;
};

// Why a value that another kernel reads was stored and not fused, for `ingot explain`.
struct Edge {
  uint32_t producer, consumer;  // steps
  ir::ValueId value;
  std::string reason;
};

struct Plan {
  ir::DimTable dims;  // the graph's, with the expressions that bindings need
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
  std::vector<Edge> edges;
};

struct PlanOptions {
  bool fuse = true;              // false: every op is a kernel of its own
  uint32_t kernel_weight = 256;  // primitives a kernel may hold, unless one op alone needs more
};

// The graph is sealed and its composites are decomposed. Near linear in its size, deterministic, without recursion.
Plan plan_graph(const ir::Graph& graph, const PlanOptions& options);

}  // namespace ingot::fuse
