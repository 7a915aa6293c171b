// Runs a plan: binds symbols from the tensors at hand, checks everything the host can get wrong, lays out scratch
// memory and launches the kernels in order. Immutable after construction and free-threaded; a warm run allocates
// nothing and takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "jit/program.h"
#include "jit/strip/launch.h"
#include "loop/binding.h"
#include "runtime/parallel.h"
#include "runtime/tensor.h"

namespace ingot::runtime {

struct IoSpec {
  std::string name;
  ir::DType dtype;
  std::vector<ir::DimId> shape;
  ir::DimId symbol = ir::no_dim;  // a dim input: the symbol that its value binds
  DataType dlpack = to_dlpack(dtype);
};

struct BufferSpec {
  ir::DType dtype;
  std::vector<ir::DimId> shape;
};

struct ConstantSpec {
  uint32_t value;  // the graph's value id, as TensorRef names it
  std::shared_ptr<const void> owner;
  const uint8_t* data;
  ir::DType dtype;
  std::vector<ir::DimId> shape;
};

struct StepSpec {
  std::shared_ptr<const jit::Program> program;
  std::vector<ir::DimId> sizes;
  std::vector<loop::ViewBinding> views;
};

struct ExecutorPlan {
  ir::DimTable dims;
  std::vector<IoSpec> inputs, outputs;
  std::vector<ConstantSpec> constants;
  std::vector<BufferSpec> buffers;
  std::vector<StepSpec> steps;
};

struct RunOptions {
  Parallel* parallel = nullptr;                   // null: the caller's thread alone
  const std::atomic<uint32_t>* cancel = nullptr;  // non-zero: stop between kernels and chunks with CANCELLED
  void* scratch = nullptr;  // lent memory of scratch_bytes, 64-byte aligned; null: the executor's own
  uint64_t scratch_bytes = 0;
};

// What one run did, for the context's counters.
struct RunCounts {
  uint64_t launches = 0;
  uint64_t bytes_read = 0, bytes_written = 0;
};

class Executor {
 public:
  explicit Executor(ExecutorPlan plan);
  ~Executor();

  const ExecutorPlan& plan() const { return plan_; }

  // `bodies` holds one body per step. Throws invalid_argument before anything is written when a tensor does not fit;
  // cancelled or out_of_memory later.
  void run(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
           std::span<const jit::Body* const> bodies, const RunOptions& options, RunCounts& counts) const;

  // The shape of output i for inputs of these shapes (their data is not touched, except that of dim inputs).
  std::vector<int64_t> output_shape(std::span<const Tensor* const> ins, size_t i) const;
  // Bytes for intermediate values that a run with these inputs needs, outputs not overlapping inputs.
  uint64_t scratch_size(std::span<const Tensor* const> ins) const;

 private:
  struct Workspace;
  struct View;

  Workspace* take() const;
  void give(Workspace* w) const noexcept;
  void bind(std::span<const Tensor* const> ins, bool need_data, Workspace& w) const;
  void check_outputs(std::span<const Tensor* const> outs, Workspace& w) const;
  void check_overlap(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs, Workspace& w) const;
  void lay_out(Workspace& w) const;
  void launch(size_t step, const jit::Body& body, const RunOptions& options, Workspace& w, RunCounts& counts) const;

  ExecutorPlan plan_;
  std::vector<uint32_t> slot_of_;      // per buffer: its slot; buffers that never live together share one
  std::vector<uint32_t> constant_at_;  // per graph value: index among constants
  uint32_t slots_ = 0;
  // Per output and input: whether the output may be the input's own memory, elementwise in place.
  std::vector<bool> in_place_;
  // Inputs, then outputs: some reshape shares the memory, which has to be compact.
  std::vector<bool> needs_compact_;
  static constexpr size_t idle_slots = 16;
  mutable std::array<std::atomic<Workspace*>, idle_slots> idle_{};
};

}  // namespace ingot::runtime
