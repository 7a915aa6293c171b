#include "engine/executable.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/kernels.h"
#include "runtime/fp_env.h"

namespace ingot::engine {

// No lock is held while kernels are had: a cache callback may run this very executable, and a fork may come at any
// time. Threads that prepare at once share the work through the memory cache; the first to finish publishes.
const Executable::Bodies& Executable::bodies() {
  if (const Bodies* known = bodies_.load(std::memory_order_acquire)) return *known;
  const runtime::FpEnv env;
  auto fresh = std::make_unique<Bodies>();
  auto& made = fresh->of_program;
  made.resize(programs_.size());
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
  fresh->of_step.reserve(program_of_.size());
  for (const uint32_t p : program_of_) fresh->of_step.push_back(made[p].get());
  const Bodies* published = nullptr;
  if (bodies_.compare_exchange_strong(published, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    published = fresh.release();
  return *published;
}

void Executable::run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                     const RunOptions& options) {
  const Bodies& bodies = this->bodies();
  runtime::RunOptions run;
  run.parallel = options.serial ? nullptr : options.parallel ? options.parallel : context_->parallel();
  run.cancel = options.cancel;
  run.scratch = options.scratch;
  run.scratch_bytes = options.scratch_bytes;
  runtime::RunCounts counts;
  executor_->run(ins, outs, bodies.of_step, run, counts);
  Counters& c = context_->counters();
  c.runs.fetch_add(1, std::memory_order_relaxed);
  c.launches.fetch_add(counts.launches, std::memory_order_relaxed);
  c.bytes_read.fetch_add(counts.bytes_read, std::memory_order_relaxed);
  c.bytes_written.fetch_add(counts.bytes_written, std::memory_order_relaxed);
}

KernelInfo Executable::kernel(size_t step) const {
  const uint32_t p = program_of_[step];
  const jit::Program& program = *programs_[p].program;
  return {loop::to_text(program.kernel), loop::to_text(program.kernel, program.schedule), plan_.steps[step].ops, p};
}

std::string_view Executable::backend_used() const {
  const Bodies* known = bodies_.load(std::memory_order_acquire);
  if (!known) return "";
  const bool compiled = std::ranges::all_of(known->of_step, [](const jit::Body* b) { return b->compiled(); });
  return compiled ? "cpu" : "interpreter";
}

}  // namespace ingot::engine
