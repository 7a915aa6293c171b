#include "engine/executable.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "engine/kernels.h"
#include "runtime/fp_env.h"

namespace ingot::engine {

// No lock is held while kernels are had: a cache callback may run this very executable, and a fork may come at any
// time. Threads that prepare at once share the work through the memory cache; the first to finish publishes.
void Executable::prepare() {
  if (ready_.load(std::memory_order_acquire)) return;
  const runtime::FpEnv env;
  std::vector<std::shared_ptr<const jit::Body>> made(programs_.size());
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex error_lock;
  const auto work = [&]() noexcept {
    for (size_t i = next.fetch_add(1); i < programs_.size(); i = next.fetch_add(1)) {
      try {
        const ProgramEntry& p = programs_[i];
        made[i] = context_->kernels().get({p.program, p.bytes, options_.backend, options_.target});
      } catch (...) {
        const std::lock_guard hold(error_lock);
        if (!error) error = std::current_exception();
        next.store(programs_.size());
      }
    }
  };
  // Compiles do not contend, so as many run as there are threads to use; the caller is one of them.
  std::vector<std::jthread> helpers;
  if (!context_->options().no_threads && programs_.size() > 1 && options_.backend != Backend::interpreter) {
    const size_t most = std::min<size_t>(runtime::available_cpus(), programs_.size());
    const runtime::SignalsBlocked blocked;
    try {
      for (size_t i = 1; i < most; ++i) helpers.emplace_back(work);
    } catch (const std::exception&) {
      // No more threads to be had: those that run do all of it.
    }
  }
  work();
  helpers.clear();
  if (error) std::rethrow_exception(error);
  const std::lock_guard lock(publishing_);
  if (ready_.load(std::memory_order_relaxed)) return;
  for (size_t i = 0; i < programs_.size(); ++i) programs_[i].body = std::move(made[i]);
  for (const uint32_t p : program_of_) bodies_.push_back(programs_[p].body.get());
  ready_.store(true, std::memory_order_release);
}

void Executable::run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                     const RunOptions& options) {
  prepare();
  runtime::RunOptions run;
  run.parallel = options.serial ? nullptr : options.parallel ? options.parallel : context_->parallel();
  run.cancel = options.cancel;
  run.scratch = options.scratch;
  run.scratch_bytes = options.scratch_bytes;
  executor_->run(ins, outs, bodies_, run);
}

KernelInfo Executable::kernel(size_t step) const {
  const uint32_t p = program_of_[step];
  const jit::Program& program = *programs_[p].program;
  return {loop::to_text(program.kernel), loop::to_text(program.kernel, program.schedule), plan_.steps[step].ops, p};
}

std::string_view Executable::backend_used() const {
  if (!ready_.load(std::memory_order_acquire)) return "";
  const bool compiled = std::all_of(bodies_.begin(), bodies_.end(), [](const jit::Body* b) { return b->compiled(); });
  return compiled ? "cpu" : "interpreter";
}

}  // namespace ingot::engine
