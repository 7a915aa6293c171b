// How the views and size slots of a kernel bind to the tensors and dims of a run. Shared by the planner, which makes
// bindings, and the executor, which evaluates them; no part of the kernel or its key.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/dim.h"
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
// kernel's axes.
struct ViewBinding {
  TensorRef ref;
  // True: the tensor is addressed as compact memory of `shape` (a reshape by alias); it has to be compact then.
  bool compact = false;
  std::vector<ir::DimId> shape;
  std::vector<Affine> dims;  // iota: exactly one, the value itself
};

struct Step {
  Kernel kernel;
  std::vector<ir::DimId> sizes;    // per size slot
  std::vector<ViewBinding> views;  // per view
  std::vector<uint32_t> ops;       // graph ops computed here, ascending; for dumps
};

}  // namespace ingot::loop
