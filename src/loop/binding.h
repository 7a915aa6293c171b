// How the views and size slots of a kernel bind to the tensors and dims of a run. Shared by the planner, which makes
// bindings, and the executor, which evaluates them; no part of the kernel or its key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/op.h"
#include "loop/kernel.h"

namespace ingot::loop {

// coef * (index of axis); the coefficient is a dim expression, so steps, reversals and broadcasts that depend on a
// run-time extent are all the same thing.
struct Term {
  uint32_t axis;
  ir::DimId coef;
  friend bool operator==(const Term&, const Term&) = default;
};

// The index into one dim of a value: offset + sum of terms, axes ascending and distinct.
struct Affine {
  ir::DimId offset;
  std::vector<Term> terms;
  friend bool operator==(const Affine&, const Affine&) = default;
};

enum class RefKind : uint8_t { none, input, output, constant, buffer };

// A tensor of a run: graph input, graph output, constant (by value id) or intermediate buffer, by index.
struct TensorRef {
  RefKind kind = RefKind::none;
  uint32_t index = 0;
  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

// Where one view of a kernel points: element (dims[0], dims[1], ...) of the tensor, each an affine function of the
// kernel's axes. An iota view of a tensor yields how many items from its first element that element lies, in the
// strides of the run: what `fetch` takes.
struct ViewBinding {
  TensorRef ref;
  // True: the tensor is addressed as compact memory of `shape` (a reshape by alias); it has to be compact then.
  bool compact = false;
  std::vector<ir::DimId> shape;
  std::vector<Affine> dims;  // iota without a tensor: exactly one, the value itself
};

// An op that no kernel computes, since it writes where its indices say, searches, or moves whole rows: plain code of
// the library's own does, the same for every backend.
struct Routine {
  ir::OpCode op = ir::OpCode::invalid;  // scatter, scatter_add, searchsorted, gather; invalid: the step is a kernel
  uint32_t axis = 0;                    // scatter, scatter_add, gather
  bool right = false;                   // searchsorted: behind equal elements
  std::vector<DType> types;             // per view of the step
  explicit operator bool() const { return op != ir::OpCode::invalid; }
};
inline size_t operand_count(const Routine& r) {
  return r.op == ir::OpCode::op_scatter || r.op == ir::OpCode::op_scatter_add ? 3 : 2;
}

// What to say of an index that is none.
struct IndexCheck {
  std::string what;  // what comes before the index
  bool from_end;     // whether negative ones count from the end
};

struct Step {
  Kernel kernel;
  Routine routine;                 // with views of the operands, then of where the result goes, and no kernel
  std::vector<ir::DimId> sizes;    // per size slot
  std::vector<ViewBinding> views;  // per view
  std::vector<uint32_t> ops;       // graph ops computed here, ascending; for dumps
  std::vector<IndexCheck> checks;  // per number of a check
};

}  // namespace ingot::loop
