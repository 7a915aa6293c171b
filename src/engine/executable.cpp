#include "engine/executable.h"

#include <algorithm>

#include "engine/background.h"
#include "engine/kernels.h"
#include "engine/workers.h"
#include "ir/subset.h"
#include "jit/interp/interp.h"
#include "runtime/fp_env.h"

namespace ingot::engine {

// No lock is held while kernels are had: a cache callback may run this very executable, and a fork may come at any
// time. Threads that prepare at once share the work through the memory cache; the first to finish publishes.
void Executable::prepare(const std::atomic<bool>* cancel) {
  if (ready()) return;
  const runtime::FpEnv env;
  std::vector<std::shared_ptr<const jit::Body>> made(programs_.size());
  std::vector<KernelRequest> requests;
  for (const ProgramEntry& p : programs_) requests.push_back({p.program, p.bytes, options_.backend, options_.target});
  // Alone it would have nothing to share a mapping with, and asking in get() keeps other threads from asking as well.
  if (requests.size() > 1) context_->kernels().get_stored(requests, made);
  std::vector<size_t> missing;
  for (size_t i = 0; i < made.size(); ++i)
    if (!made[i]) missing.push_back(i);
  const bool threads = !context_->options().no_threads && options_.backend != Backend::interpreter;
  run_on_workers(missing.size(), threads, [&](size_t i) {
    if (cancel && cancel->load(std::memory_order_relaxed)) fail(Code::cancelled, "the compile was cancelled");
    made[missing[i]] = context_->kernels().get(requests[missing[i]]);
  });
  const std::lock_guard lock(publishing_);
  if (ready_.load(std::memory_order_relaxed)) return;
  for (size_t i = 0; i < programs_.size(); ++i) programs_[i].body = std::move(made[i]);
  for (const uint32_t p : program_of_) bodies_.push_back(programs_[p].body.get());
  ready_.store(true, std::memory_order_release);
}

std::shared_ptr<Event> Executable::prepare_async() {
  auto event = std::make_shared<Event>();
  const auto work = [event, self = shared_from_this()](Event::Result& result) {
    try {
      self->prepare(&event->cancelled());
    } catch (const Error& e) {
      result = {e.code(), e.message()};
    } catch (const std::exception& e) {
      result = {Code::out_of_memory, e.what()};
    }
  };
  if (ready() || context_->options().no_threads) {
    Event::Result result;
    work(result);
    event->finish(std::move(result));
    return event;
  }
  // Dropped before it began, the job leaves CANCELLED.
  auto result = std::make_shared<Event::Result>(Event::Result{Code::cancelled, "the compile was cancelled"});
  context_->background().submit(
      this,
      [work, result] {
        *result = {};
        work(*result);
      },
      [event, result] { event->finish(std::move(*result)); });
  return event;
}

void Executable::detach() noexcept {
  if (attached_.fetch_sub(1, std::memory_order_acq_rel) == 1) context_->background().forget(this);
}

std::span<const jit::Body* const> Executable::interim_bodies() {
  if (!interim_ready_.load(std::memory_order_acquire)) {
    std::vector<std::shared_ptr<const jit::Body>> made;
    for (const ProgramEntry& p : programs_) made.push_back(jit::interpreter(*p.program));
    std::vector<const jit::Body*> each;
    for (const uint32_t p : program_of_) each.push_back(made[p].get());
    const std::lock_guard lock(publishing_);
    if (!interim_ready_.load(std::memory_order_relaxed)) {
      interim_ = std::move(made);
      interim_bodies_ = std::move(each);
      interim_ready_.store(true, std::memory_order_release);
    }
  }
  return interim_bodies_;
}

std::span<const jit::Body* const> Executable::bodies(const RunOptions& options) {
  if (ready()) return bodies_;
  if (!options.never_stall || options_.backend == Backend::interpreter) {
    prepare();
    return bodies_;
  }
  // Without threads nothing can be prepared behind the host's back: it calls prepare() when it has the time.
  if (!context_->options().no_threads && !preparing_.exchange(true)) {
    const std::shared_ptr<Event> event = prepare_async();
    // A failure, of memory say, is tried again by the next run.
    event->on_done([weak = weak_from_this()](const Event::Result& result) {
      if (result.code == Code::ok) return;
      if (const auto self = weak.lock()) self->preparing_.store(false);
    });
  }
  if (ready()) return bodies_;
  if (options_.backend == Backend::cpu) fail(Code::not_ready, "the machine code is not ready yet");
  return interim_bodies();
}

runtime::RunOptions Executable::for_run(const RunOptions& options) const {
  runtime::RunOptions run;
  run.parallel = options.serial ? nullptr : options.parallel ? options.parallel : context_->parallel();
  run.cancel = options.cancel;
  run.scratch = options.scratch;
  run.scratch_bytes = options.scratch_bytes;
  run.allocator = options.allocator.allocate ? options.allocator : context_->options().allocator;
  return run;
}

void Executable::run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                     const RunOptions& options) {
  executor_->run(ins, outs, bodies(options), for_run(options));
}

void Executable::run(runtime::BoundRun& bound, const RunOptions& options) {
  bound.run(bodies(options), for_run(options));
}

std::shared_ptr<Executable> Executable::subset(std::span<const ir::ValueId> feeds,
                                               std::span<const ir::ValueId> fetches) {
  std::pair key(std::vector(feeds.begin(), feeds.end()), std::vector(fetches.begin(), fetches.end()));
  {
    const std::lock_guard lock(subset_lock_);
    if (const auto at = subsets_.find(key); at != subsets_.end()) return at->second;
  }
  // Planned without the lock: two threads may both do it, and the first to finish is the one that is kept.
  auto child = compile(context_, std::make_shared<const ir::Graph>(ir::subset(*graph_, feeds, fetches)), options_);
  const std::lock_guard lock(subset_lock_);
  return subsets_.try_emplace(std::move(key), std::move(child)).first->second;
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
