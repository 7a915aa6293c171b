// Runs a plan: binds symbols from the tensors at hand, checks everything the host can get wrong, lays out scratch
// memory and launches the kernels in order. Immutable after construction and free-threaded; a warm run allocates
// nothing and takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/kernel.h"
#include "ir/graph.h"
#include "jit/program.h"
#include "jit/strip/launch.h"
#include "loop/binding.h"
#include "runtime/fp_env.h"
#include "runtime/parallel.h"
#include "runtime/tally.h"
#include "runtime/tensor.h"
#include "runtime/waves.h"

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
  std::shared_ptr<const jit::Program> program;  // null: a routine
  std::vector<ir::DimId> sizes;
  std::vector<loop::ViewBinding> views;
  std::vector<loop::IndexCheck> checks;  // loop::Step::checks
  loop::Routine routine;

  bool stores(size_t view) const;
};

struct ExecutorPlan {
  ir::DimTable dims;
  std::vector<IoSpec> inputs, outputs;
  std::vector<ConstantSpec> constants;
  std::vector<BufferSpec> buffers;
  std::vector<StepSpec> steps;
  int32_t device = device_cpu;  // where it runs
};

// The host's memory, for what lives during one run. `allocate` returns null when there is none, and get() throws then,
// and for memory that is not aligned.
struct Allocator {
  void* (*allocate)(void* user, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void* user, void* p, size_t bytes, size_t alignment) = nullptr;
  void* user = nullptr;

  void* get(size_t bytes, size_t alignment) const {
    const HostFpEnv env;
    void* const p = allocate(user, bytes, alignment);
    if (!p) throw std::bad_alloc();
    if (reinterpret_cast<uintptr_t>(p) % alignment == 0) return p;
    release(user, p, bytes, alignment);
    fail(Code::invalid_argument, "the allocator returned memory that is not aligned to ", alignment, " bytes");
  }
  void give_back(void* p, size_t bytes, size_t alignment) const {
    const HostFpEnv env;
    release(user, p, bytes, alignment);
  }
};

struct RunOptions {
  Parallel* parallel = nullptr;                   // null: the caller's thread alone
  const std::atomic<uint32_t>* cancel = nullptr;  // non-zero: stop between kernels and chunks with CANCELLED
  void* scratch = nullptr;  // lent memory of scratch_bytes, 64-byte aligned; null: the executor's own
  uint64_t scratch_bytes = 0;
  Allocator allocator;  // for scratch that is not lent; none: the executor's own memory, kept between runs
  device::StreamHandle stream = nullptr;  // of CUDA; null: the default stream

  bool cancelled() const noexcept { return cancel && cancel->load(std::memory_order_relaxed) != 0; }
};

// The code of a plan for a device.
struct DeviceCode {
  const device::Device& device;
  std::span<const device::Kernel* const> of_step;
  const device::Kernel& copier;  // jit::cuda::copy_text()
};

struct Failure;
struct Place;
struct Residence;
struct RoutineTensor;
struct StepState;

class Executor {
 public:
  struct Workspace;

  // `tallies` counts the runs; null: nobody asks.
  explicit Executor(ExecutorPlan plan, std::shared_ptr<Tallies> tallies = nullptr);
  ~Executor();

  const ExecutorPlan& plan() const { return plan_; }

  // `bodies` holds one body per step, null for a routine. Throws invalid_argument before anything is written when a
  // tensor does not fit; cancelled, out_of_memory or, where an index is no index of its tensor, out_of_range later.
  void run(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
           std::span<const jit::Body* const> bodies, const RunOptions& options) const;

  // The same in a workspace of the caller's (take()); `unchanged` says that the tensors are those of its last run.
  void run(Workspace& w, bool unchanged, std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
           std::span<const jit::Body* const> bodies, const RunOptions& options) const;
  // On a device (plan().device): returns once the launches are enqueued, unless a tensor lies in host memory; that is
  // copied, and the run waits for its end. Throws what the other run() throws, not_ready for what a capture of the
  // stream forbids, and what Driver::must() throws. Indices out of range are told by take_faults().
  void run(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs, const DeviceCode& code,
           const RunOptions& options) const;
  void run(Workspace& w, bool unchanged, std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
           const DeviceCode& code, const RunOptions& options) const;
  // Puts what the plan needs of a device into the scope's context: modules, constants.
  void settle(const DeviceCode& code, const device::Scope& scope) const;
  // Throws out_of_range for the first failed check of the runs in the scope's context that have ended, and forgets all.
  void take_faults(const device::Driver& driver, const device::Scope& scope, device::StreamHandle stream) const;

  // Checks shapes, types and strides of tensors whose data may be missing.
  void check(Workspace& w, std::span<const Tensor* const> ins, std::span<const Tensor* const> outs) const;

  // Workspaces, for those who keep one: each take() needs its give().
  Workspace* take() const;
  void give(Workspace* w) const noexcept;

  // The shape of output i for inputs of these shapes (their data is not touched, except that of dim inputs).
  std::vector<int64_t> output_shape(std::span<const Tensor* const> ins, size_t i) const;
  // Bytes for intermediate values that a run with these inputs needs, outputs not overlapping inputs, whether it has
  // one thread or as many as `threads`.
  uint64_t scratch_size(std::span<const Tensor* const> ins, uint32_t threads) const;
  // The same on a device, outputs lying there.
  uint64_t scratch_size(std::span<const Tensor* const> ins, const jit::cuda::DeviceLimits& limits) const;
  // How each step is launched there, for inputs and outputs that are compact and well aligned.
  std::vector<jit::cuda::LaunchPlan> launches(std::span<const Tensor* const> ins,
                                              const jit::cuda::DeviceLimits& limits) const;

 private:
  // Whether tensors fit as those of the remembered run did; then the places point at them. If not, w.known still holds:
  // what was remembered is as it was, addresses apart.
  bool recall_inputs(std::span<const Tensor* const> ins, bool need_data, Workspace& w) const noexcept;
  bool recall(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs, Workspace& w) const noexcept;
  // The long way: all checks, dims, places and scratch offsets. Throws what run() throws before anything is written.
  void resolve(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs, Workspace& w) const;
  void bind(std::span<const Tensor* const> ins, bool need_data, Workspace& w) const;
  void check_outputs(std::span<const Tensor* const> outs, bool need_data, Workspace& w) const;
  void check_overlap(Workspace& w) const;
  void take_place(Workspace& w, size_t output, size_t input) const noexcept;
  // Whether outputs whose spans meet that of an input may lie there, and meet no other output's.
  bool overlaps_fit(Workspace& w) const noexcept;
  bool may_be_in_place(const Workspace& w, size_t output, size_t input) const noexcept;
  // Whether a run of so many threads runs waves.
  bool in_waves(uint32_t threads) const noexcept { return waves_.differ && threads > 1; }
  void lay_out(Workspace& w) const;
  uint64_t place_buffers(const StepOrder& order, Workspace& w) const;
  void copy_in(char* scratch, Workspace& w) const;
  void copy_out(Workspace& w) const;
  void check_space(const StepSpec& step, const Workspace& w) const;
  // Fills w.sizes and w.views for a step, and the state's origins and traffic.
  void bind_views(const StepSpec& step, StepState& state, Workspace& w) const;
  void prepare(const StepSpec& step, StepState& state, Workspace& w) const;
  void check_devices(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
                     const device::Device& device, Workspace& w) const;
  void lay_out_device(const jit::cuda::DeviceLimits& limits, Workspace& w) const;
  // The same for inputs whose data may be missing, outputs being compact.
  void lay_out_shapes(std::span<const Tensor* const> ins, const jit::cuda::DeviceLimits& limits, Workspace& w) const;
  const Residence* find_residence(const device::Scope& scope) const noexcept;
  const Residence& residence(const DeviceCode& code, const device::Scope& scope, const RunOptions& options) const;
  // The short way of a run like the last: each step is one call (Workspace::calls_of).
  void call(Workspace& w, bool unchanged, std::span<const jit::Body* const> bodies) const;
  // Runs the steps of one wave that come before the first failure in the plan, and notes those that fail.
  void run_wave(std::span<const uint32_t> steps, bool again, std::span<const jit::Body* const> bodies,
                const RunOptions& options, Workspace& w, RunCounts& counts, Failure& failure) const;
  // Notes how much the steps of each wave move together, also where they run in turn.
  void note_footprints(Workspace& w) const noexcept;
  // The operands of a step that is no kernel, then its result; counts the launch.
  void bind_routine(const StepSpec& step, const Workspace& w, std::span<RoutineTensor> tensors,
                    RunCounts& counts) const;
  jit::Fault run_routine(const StepSpec& step, const RunOptions& options, Workspace& w, RunCounts& counts) const;
  const Place& place_of(const loop::TensorRef& ref, const Workspace& w) const;

  ExecutorPlan plan_;
  std::shared_ptr<Tallies> tallies_;
  const Waves waves_;
  std::vector<uint32_t> constant_at_;  // per graph value: index among constants
  // Per output and input: whether the output may be the input's own memory, elementwise in place.
  std::vector<bool> in_place_;
  // Inputs, then outputs: some reshape shares the memory, which has to be compact.
  std::vector<bool> needs_compact_;
  // Idle workspaces. Each thread begins at a slot of its own, and each slot has a cache line of its own, so that
  // threads that run at once do not meet.
  static constexpr size_t idle_slots = 16;
  struct alignas(64) Slot {
    std::atomic<Workspace*> workspace{nullptr};
  };
  static size_t home_slot() noexcept;
  mutable std::array<Slot, idle_slots> idle_;
  // What lies in CUDA contexts; only ever grows.
  mutable std::mutex settling_;
  mutable std::atomic<Residence*> residences_{nullptr};
};

}  // namespace ingot::runtime
