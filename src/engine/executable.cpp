#include "engine/executable.h"

#include <unistd.h>

#include <algorithm>

#include "engine/background.h"
#include "engine/kernels.h"
#include "engine/workers.h"
#include "ir/subset.h"
#include "jit/interp/interp.h"
#include "runtime/fp_env.h"

namespace ingot::engine {

Executable::~Executable() {
  for (auto* published : {&bodies_, &interim_}) {
    const std::unique_ptr<const Bodies> owned(published->load(std::memory_order_relaxed));
  }
  // Freeing what lies on a device waits for the work that uses it; only then may modules go.
  if (on_device()) executor_.reset();
  drop_device_bodies();
  for (Subset* s = subsets_.load(std::memory_order_relaxed); s;) {
    const std::unique_ptr<Subset> owned(s);
    s = owned->older;
  }
}

const Executable::Bodies& Executable::publish(std::atomic<const Bodies*>& to,
                                              std::vector<std::shared_ptr<const jit::Body>> of_program) {
  auto fresh = std::make_unique<Bodies>();
  fresh->of_step.reserve(program_of_.size());
  for (const uint32_t p : program_of_) fresh->of_step.push_back(p == no_program ? nullptr : of_program[p].get());
  fresh->of_program = std::move(of_program);
  const Bodies* published = nullptr;
  if (to.compare_exchange_strong(published, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    published = fresh.release();
  return *published;
}

// No lock is held while kernels are had: a cache callback may run this very executable, and a fork may come at any
// time. Threads that prepare at once share the work through the memory cache; the first to finish publishes.
void Executable::prepare(const std::atomic<bool>* cancel, int ordinal) {
  if (on_device()) return prepare_device(ordinal, cancel);
  if (ready()) return;
  const Span span(context_->trace(), "prepare", [&] { return graph_->name(); });
  const runtime::FpEnv env;
  std::vector<std::shared_ptr<const jit::Body>> made(programs_.size());
  std::vector<KernelRequest> requests;
  for (const ProgramEntry& p : programs_)
    requests.push_back({p.program, p.bytes, options_.backend, options_.target, {}});
  if (context_->perf_map())
    for (size_t i = 0; i < requests.size(); ++i) requests[i].name = profile_name(i);
  // Alone it would have nothing to share a mapping with.
  if (requests.size() > 1) context_->kernels().get_stored(requests, made);
  std::vector<size_t> missing;
  for (size_t i = 0; i < made.size(); ++i)
    if (!made[i]) missing.push_back(i);
  compile_all(missing.size(), cancel,
              [&](size_t i) { made[missing[i]] = context_->kernels().get(requests[missing[i]]); });
  publish(bodies_, std::move(made));
}

void Executable::compile_all(size_t kernels, const std::atomic<bool>* cancel, const std::function<void(size_t)>& get) {
  const bool threads = !context_->options().no_threads && options_.backend != Backend::interpreter;
  // Each leaves the queue when it is done, also where it fails or is never begun.
  struct Queued {
    Alarms& alarms;
    std::atomic<uint64_t> left;
    Queued(Alarms& a, uint64_t n) : alarms(a), left(n) { alarms.queued(n); }
    void done() {
      left.fetch_sub(1, std::memory_order_relaxed);
      alarms.unqueued(1);
    }
    ~Queued() { alarms.unqueued(left); }
  } queued(context_->alarms(), kernels);
  run_on_workers(kernels, threads, [&](size_t i) {
    if (cancel && cancel->load(std::memory_order_relaxed)) fail(Code::cancelled, "the compile was cancelled");
    // A callback that comes on this thread may make the last release.
    const Background::Working here(context_->background(), this);
    get(i);
    queued.done();
  });
}

// "ingot:softmax/reduce_max+sub+exp+reduce_sum+div": the graph, and the ops of the first step that runs the program.
std::string Executable::profile_name(size_t program) const {
  constexpr size_t most_ops = 12;
  std::string out = cat("ingot:", graph_->name(), "/");
  const std::vector<uint32_t>& ops = plan_.steps[first_step(program)].ops;
  for (size_t i = 0; i < std::min(ops.size(), most_ops); ++i)
    out += cat(i > 0 ? "+" : "", ir::op_info(optimised_.op(ops[i]).code)->name);
  return ops.size() > most_ops ? cat(out, "+", ops.size() - most_ops, "more") : out;
}

std::shared_ptr<Event> Executable::prepare_async(int ordinal) {
  auto event = std::make_shared<Event>();
  // A thread of the library's own has nobody to throw to: without memory for a message, the code has to do.
  const auto work = [event, ordinal, self = shared_from_this()](Event::Result& result) noexcept {
    const auto failed = [&](Code code, const char* why) noexcept {
      result.code = code;
      try {
        result.message = why;
      } catch (const std::bad_alloc&) {
      }
    };
    try {
      self->prepare(&event->cancelled(), ordinal);
    } catch (const Error& e) {
      failed(e.code(), e.what());
    } catch (const std::exception& e) {
      failed(Code::out_of_memory, e.what());
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

const Executable::Bodies& Executable::interim() {
  if (const Bodies* known = interim_.load(std::memory_order_acquire)) return *known;
  std::vector<std::shared_ptr<const jit::Body>> made;
  for (const ProgramEntry& p : programs_) made.push_back(jit::interpreter(*p.program));
  return publish(interim_, std::move(made));
}

const Executable::Bodies& Executable::bodies(const RunOptions& options) {
  const auto known = [this] { return bodies_.load(std::memory_order_acquire); };
  if (const Bodies* b = known()) return *b;
  if (!options.never_stall || options_.backend == Backend::interpreter) {
    prepare();
    return *known();
  }
  // Without threads nothing can be prepared behind the host's back: it calls prepare() when it has the time.
  // What a forked child's parent has asked for goes on in the parent alone.
  if (const int64_t process = getpid(); !context_->options().no_threads && preparing_.exchange(process) != process) {
    const std::shared_ptr<Event> event = prepare_async();
    // A failure, of memory say, is tried again by the next run.
    event->on_done([weak = weak_from_this()](const Event::Result& result) {
      if (result.code == Code::ok) return;
      if (const auto self = weak.lock()) self->preparing_.store(0);
    });
  }
  if (const Bodies* b = known()) return *b;
  if (options_.backend == Backend::cpu) fail(Code::not_ready, "the machine code is not ready yet");
  return interim();
}

runtime::RunOptions Executable::for_run(const RunOptions& options) const {
  runtime::RunOptions run;
  run.parallel = options.serial ? nullptr : options.parallel ? options.parallel : context_->parallel();
  run.cancel = options.cancel;
  run.scratch = options.scratch;
  run.scratch_bytes = options.scratch_bytes;
  if (options.stream && !on_device())
    fail(Code::invalid_argument, "a stream is given, but the executable is none of INGOT_BACKEND_CUDA");
  run.stream = static_cast<device::StreamHandle>(options.stream);
  // The context's hands out host memory.
  run.allocator = options.allocator.allocate || on_device() ? options.allocator : context_->options().allocator;
  return run;
}

void Executable::run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs,
                     const RunOptions& options) {
  if (on_device()) return run_device(ins, outs, options);
  traced_run([&] { executor_->run(ins, outs, bodies(options).of_step, for_run(options)); });
}

void Executable::run(runtime::BoundRun& bound, const RunOptions& options) {
  if (on_device()) return run_device(bound, options);
  traced_run([&] { bound.run(bodies(options).of_step, for_run(options)); });
}

void Executable::run(std::span<const runtime::Tensor* const> ins, std::span<const runtime::Tensor* const> outs) {
  const Bodies* const known = bodies_.load(std::memory_order_acquire);
  if (known && !context_->trace()) return executor_->run(ins, outs, known->of_step, default_run_);
  run(ins, outs, RunOptions{});
}

void Executable::run(runtime::BoundRun& bound) {
  const Bodies* const known = bodies_.load(std::memory_order_acquire);
  if (known && !context_->trace()) return bound.run(known->of_step, default_run_);
  run(bound, RunOptions{});
}

std::shared_ptr<Executable> Executable::subset(std::span<const ir::ValueId> feeds,
                                               std::span<const ir::ValueId> fetches) {
  const auto find = [&](const Subset* from) -> const Subset* {
    while (from && !(std::ranges::equal(from->feeds, feeds) && std::ranges::equal(from->fetches, fetches)))
      from = from->older;
    return from;
  };
  Subset* newest = subsets_.load(std::memory_order_acquire);
  if (const Subset* known = find(newest)) return known->executable;
  // Two threads may both plan it; the first to be done is the one that is kept.
  auto fresh = std::make_unique<Subset>();
  fresh->feeds.assign(feeds.begin(), feeds.end());
  fresh->fetches.assign(fetches.begin(), fetches.end());
  fresh->executable =
      compile(context_, std::make_shared<const ir::Graph>(ir::subset(*graph_, feeds, fetches)), options_);
  for (;;) {
    newest = subsets_.load(std::memory_order_acquire);
    if (const Subset* known = find(newest)) return known->executable;
    fresh->older = newest;
    if (subsets_.compare_exchange_strong(newest, fresh.get(), std::memory_order_acq_rel)) break;
  }
  return fresh.release()->executable;
}

size_t Executable::first_step(size_t program) const {
  return static_cast<size_t>(std::ranges::find(program_of_, program) - program_of_.begin());
}

KernelInfo Executable::kernel(size_t step) const {
  const uint32_t p = program_of_[step];
  if (p == no_program) return {{}, {}, plan_.steps[step].ops, p};
  const jit::Program& program = *programs_[p].program;
  return {loop::to_text(program.kernel), loop::to_text(program.kernel, program.schedule), plan_.steps[step].ops, p};
}

uint64_t Executable::scratch_size(std::span<const runtime::Tensor* const> ins) const {
  return on_device() ? scratch_size_on_device(ins) : executor_->scratch_size(ins, threads());
}

std::string_view Executable::backend_used() const {
  if (on_device()) return device_bodies_.load(std::memory_order_acquire) ? "cuda" : "";
  const Bodies* known = bodies_.load(std::memory_order_acquire);
  if (!known) return "";
  const bool compiled = std::ranges::all_of(known->of_step, [](const jit::Body* b) { return !b || b->compiled(); });
  return compiled ? "cpu" : "interpreter";
}

}  // namespace ingot::engine
