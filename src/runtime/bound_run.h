// A run with tensors bound once: shapes are checked when they are bound, and a run whose addresses are those of the run
// before only launches. Used by one thread at a time.
#pragma once

#include <span>
#include <vector>

#include "runtime/executor.h"

namespace ingot::runtime {

class BoundRun {
 public:
  explicit BoundRun(const Executor& executor);  // which has to outlive it
  // A copy with the same tensors, for another thread.
  BoundRun(const BoundRun& other);
  BoundRun& operator=(const BoundRun&) = delete;
  ~BoundRun();

  // Copies the descriptions (not the data) of the tensors, those of dim inputs with their value. `outs` may be empty:
  // outputs are then compact, and their data comes later. Data may be NULL so far. Throws invalid_argument where a
  // tensor does not fit; what was bound before then stays.
  void bind(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs);
  bool bound() const { return !pointers_.empty(); }
  // Of the bound tensors; pointers into this object. Throws failed_precondition before bind().
  const Tensor& output(size_t i) const;
  // Of a dim input: reads the value there.
  void set_data(bool is_output, size_t i, void* data);
  void run(std::span<const jit::Body* const> bodies, const RunOptions& options);
  void run(const DeviceCode& code, const RunOptions& options);
  std::span<const Tensor* const> tensors() const { return pointers_; }  // inputs, then outputs

 private:
  void adopt(std::span<const Tensor* const> all);
  void read_dim_input(size_t i);

  const Executor& executor_;
  const size_t plan_inputs_, plan_outputs_;
  Executor::Workspace* const workspace_;
  std::vector<Tensor> tensors_;          // inputs, then outputs
  std::vector<int64_t> extents_;         // shapes and strides of all of them
  std::vector<int64_t> dim_values_;      // per input; of dim inputs
  std::vector<const Tensor*> pointers_;  // to tensors_
  bool changed_ = true;                  // since the last run
};

}  // namespace ingot::runtime
