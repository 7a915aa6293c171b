// A compiled graph: what a host runs.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/context.h"
#include "fuse/plan.h"
#include "runtime/executor.h"

namespace ingot::engine {

struct CompileOptions {
  Backend backend = Backend::automatic;
  std::string target;  // an ISA level to generate code for; empty: the highest of this machine
  bool fuse = true;
  bool simplify = true;
};

struct RunOptions {
  bool serial = false;                    // the caller's thread alone
  runtime::Parallel* parallel = nullptr;  // overrides the context's
  const std::atomic<uint32_t>* cancel = nullptr;
  void* scratch = nullptr;
  uint64_t scratch_bytes = 0;
};

// What the plan says of one kernel, for dumps and `explain`.
struct KernelInfo {
  std::string text;  // kernel IR
  std::string schedule;
  std::vector<uint32_t> ops;  // of the optimised graph
  uint32_t program;           // equal kernels share one
};

class Executable {
 public:
  // Plans; machine code comes on first need or by prepare(). The graph is sealed. Free-threaded.
  static std::shared_ptr<Executable> compile(std::shared_ptr<Context> context, std::shared_ptr<const ir::Graph> graph,
                                             const CompileOptions& options);

  ~Executable() { delete bodies_.load(std::memory_order_relaxed); }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Gets the code of every kernel, compiling in parallel what is in no cache.
  void prepare() { bodies(); }
  void run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
           const RunOptions& options);

  const ir::Graph& graph() const { return *graph_; }         // as given
  const ir::Graph& optimised() const { return optimised_; }  // what the plan was made of
  const fuse::Plan& plan() const { return plan_; }
  const runtime::Executor& executor() const { return *executor_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  const CompileOptions& options() const { return options_; }
  size_t distinct_kernels() const { return programs_.size(); }
  KernelInfo kernel(size_t step) const;
  std::span<const uint8_t> kernel_bytes(size_t step) const { return programs_[program_of_[step]].bytes; }
  // "cpu" or "interpreter" once prepared.
  std::string_view backend_used() const;

 private:
  Executable() = default;

  struct ProgramEntry {
    std::shared_ptr<const jit::Program> program;
    std::vector<uint8_t> bytes;
  };
  // The code of all kernels. Published whole, once, by an exchange: no lock, which a fork could leave locked.
  struct Bodies {
    std::vector<std::shared_ptr<const jit::Body>> of_program;
    std::vector<const jit::Body*> of_step;
  };
  const Bodies& bodies();
  std::shared_ptr<Context> context_;
  std::shared_ptr<const ir::Graph> graph_;
  CompileOptions options_;
  ir::Graph optimised_;
  fuse::Plan plan_;
  std::unique_ptr<runtime::Executor> executor_;
  std::vector<ProgramEntry> programs_;
  std::vector<uint32_t> program_of_;  // per step
  std::atomic<const Bodies*> bodies_{nullptr};
};

// Computes a graph without inputs by the interpreter, unfused: what constant folding and tests use.
std::vector<ir::Constant> evaluate(const ir::Graph& graph);

}  // namespace ingot::engine
