// A compiled graph: what a host runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/event.h"
#include "fuse/plan.h"
#include "runtime/bound_run.h"
#include "runtime/executor.h"

namespace ingot::engine {

struct CompileOptions {
  Backend backend = Backend::automatic;
  std::string target;  // an ISA level, or the kind of GPU, to generate code for; empty: that of the machine, or device
  bool fuse = true;
  bool simplify = true;
};

struct RunOptions {
  bool serial = false;                    // the caller's thread alone
  runtime::Parallel* parallel = nullptr;  // overrides the context's
  const std::atomic<uint32_t>* cancel = nullptr;
  void* scratch = nullptr;
  uint64_t scratch_bytes = 0;
  runtime::Allocator allocator;  // overrides the context's
  // Where machine code is not there yet, it is prepared in the background and this run is the interpreter's; for a
  // backend named explicitly the run throws not_ready instead.
  bool never_stall = false;
  void* stream = nullptr;  // a CUstream; null: the default stream
};

// What the plan says of one kernel, for dumps and `explain`.
struct KernelInfo {
  std::string text;  // kernel IR
  std::string schedule;
  std::vector<uint32_t> ops;  // of the optimised graph
  uint32_t program;           // equal kernels share one; no_program: it is no kernel
};
inline constexpr uint32_t no_program = 0xffffffffu;

class Executable : public std::enable_shared_from_this<Executable> {
 public:
  // Plans; machine code comes on first need or by prepare(). The graph is sealed. Free-threaded.
  static std::shared_ptr<Executable> compile(std::shared_ptr<Context> context, std::shared_ptr<const ir::Graph> graph,
                                             const CompileOptions& options);

  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Gets the code of every kernel, compiling in parallel what is in no cache. Throws cancelled once `cancel` is set;
  // kernels that were compiled by then are in the caches.
  // `ordinal` names a CUDA device; negative: that of the thread's current CUDA context, else the first.
  void prepare(const std::atomic<bool>* cancel = nullptr, int ordinal = -1);
  // The same in the background; without threads it is done when this returns.
  std::shared_ptr<Event> prepare_async(int ordinal = -1);
  bool ready() const { return bodies_.load(std::memory_order_acquire) != nullptr; }
  void run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
           const RunOptions& options);
  void run(runtime::BoundRun& bound, const RunOptions& options);
  // With the defaults, which takes less time where all is ready.
  void run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs);
  void run(runtime::BoundRun& bound);
  // The part of the graph between values of graph(), compiled with the same options: ir::subset. Equal requests give
  // the same executable, which this one keeps.
  std::shared_ptr<Executable> subset(std::span<const ir::ValueId> feeds, std::span<const ir::ValueId> fetches);
  // Handles that hosts hold. The last detach() ends what goes on in the background for this executable, waiting for a
  // compile that has begun: after it no thread of the library works for it.
  void attach() noexcept { attached_.fetch_add(1, std::memory_order_relaxed); }
  void detach() noexcept;

  const ir::Graph& graph() const { return *graph_; }         // as given
  const ir::Graph& optimised() const { return optimised_; }  // what the plan was made of
  const fuse::Plan& plan() const { return plan_; }
  const runtime::Executor& executor() const { return *executor_; }
  // That a run has unless its options say otherwise.
  uint32_t threads() const { return default_run_.parallel ? default_run_.parallel->width() : 1; }
  const std::shared_ptr<Context>& context() const { return context_; }
  const CompileOptions& options() const { return options_; }
  size_t distinct_kernels() const { return programs_.size(); }
  KernelInfo kernel(size_t step) const;
  size_t first_step(size_t program) const;  // of those that run it
  std::span<const uint8_t> kernel_bytes(size_t step) const { return programs_[program_of_[step]].bytes; }
  // Bytes for intermediate values of a run with these inputs.
  uint64_t scratch_size(std::span<const runtime::Tensor* const> ins) const;
  // Where outputs belong that the library makes for these inputs: on their device if one lies on a device.
  runtime::Device outputs_on(std::span<const runtime::Tensor* const> ins) const;
  // Memory there, on a device.
  std::unique_ptr<device::Memory> allocate(runtime::Device where, const RunOptions& options, size_t bytes) const;
  // "cpu", "interpreter" or "cuda" once prepared.
  std::string_view backend_used() const;

 private:
  Executable() = default;
  runtime::RunOptions for_run(const RunOptions& options) const;
  std::string profile_name(size_t program) const;
  // Even a span that is not wanted would be felt in a tiny run.
  template <class Run>
  void traced_run(Run&& run) const {
    if (!context_->trace()) return run();
    const Span span(context_->trace(), "run", [&] { return graph_->name(); });
    run();
  }
  // The code of all kernels. Published whole, once, by an exchange: no lock, which a fork could leave locked.
  struct Bodies {
    std::vector<std::shared_ptr<const jit::Body>> of_program;
    std::vector<const jit::Body*> of_step;
  };
  struct Subset {
    std::vector<ir::ValueId> feeds, fetches;
    std::shared_ptr<Executable> executable;
    Subset* older;
  };
  const Bodies& publish(std::atomic<const Bodies*>& to, std::vector<std::shared_ptr<const jit::Body>> of_program);
  const Bodies& bodies(const RunOptions& options);
  const Bodies& interim();
  // Calls get(i) for each of the kernels that are in no cache, on the threads that compile.
  void compile_all(size_t kernels, const std::atomic<bool>* cancel, const std::function<void(size_t)>& get);

  // The same for devices (device_executable.cpp): an item for each kind of device, in a list that only ever grows.
  struct DeviceBodies;
  bool on_device() const { return options_.backend == Backend::cuda; }
  // The tensor's, or the preferred one where there is none.
  const device::Device& device_of(const runtime::Tensor* tensor) const;
  const std::string& target_for(const device::Device& device) const;
  const DeviceBodies* find(std::string_view target) const noexcept;
  const DeviceBodies& compile_for(const device::Device& device, const std::atomic<bool>* cancel);
  const DeviceBodies& device_bodies(const device::Device& device, const RunOptions& options);
  uint64_t scratch_size_on_device(std::span<const runtime::Tensor* const> ins) const;
  void prepare_device(int ordinal, const std::atomic<bool>* cancel);
  void drop_device_bodies() noexcept;
  void run_device(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                  const RunOptions& options);
  void run_device(runtime::BoundRun& bound, const RunOptions& options);
  template <class Run>
  void with_device_code(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                        const RunOptions& options, Run&& run);

  struct ProgramEntry {
    std::shared_ptr<const jit::Program> program;
    std::vector<uint8_t> bytes;
  };
  std::shared_ptr<Context> context_;
  std::shared_ptr<const ir::Graph> graph_;
  CompileOptions options_;
  ir::Graph optimised_;
  fuse::Plan plan_;
  std::unique_ptr<runtime::Executor> executor_;
  runtime::RunOptions default_run_;
  std::vector<ProgramEntry> programs_;
  std::vector<uint32_t> program_of_;  // per step; no_program for a routine
  std::atomic<uint32_t> attached_{0};
  std::atomic<const Bodies*> bodies_{nullptr};
  std::atomic<const Bodies*> interim_{nullptr};  // the interpreter's, for runs that must not stall
  std::atomic<DeviceBodies*> device_bodies_{nullptr};
  std::atomic<int64_t> preparing_{0};      // the process in which such a run has asked for code
  std::atomic<Subset*> subsets_{nullptr};  // only ever grows
};

// Computes a graph without inputs by the interpreter, unfused: what constant folding and tests use.
std::vector<ir::Constant> evaluate(const ir::Graph& graph);

}  // namespace ingot::engine
