#include "runtime/executor.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/fp_env.h"
#include "runtime/residence.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

using loop::RefKind;

// Scratch above this is not kept between runs.
constexpr size_t keep_scratch = size_t{64} << 20;
// A plan of more steps is not remembered from run to run: it would cost a kilobyte a step and workspace, to save a
// share of a run that is long anyway.
constexpr size_t most_remembered = 1024;

bool binds_alike(const loop::ViewBinding& a, const loop::ViewBinding& b) {
  return !a.compact && !b.compact && a.dims == b.dims;
}

}  // namespace

Executor::Executor(ExecutorPlan plan, std::shared_ptr<Tallies> tallies)
    : plan_(std::move(plan)), tallies_(tallies ? std::move(tallies) : std::make_shared<Tallies>()), waves_(plan_) {
  const size_t n_in = plan_.inputs.size(), n_out = plan_.outputs.size();
  needs_compact_.assign(n_in + n_out, false);
  uint32_t most = 0;
  for (const ConstantSpec& c : plan_.constants) most = std::max(most, c.value + 1);
  constant_at_.assign(most, 0);
  for (size_t i = 0; i < plan_.constants.size(); ++i) constant_at_[plan_.constants[i].value] = static_cast<uint32_t>(i);

  std::vector<size_t> input_last(n_in, 0), output_first(n_out, SIZE_MAX);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const StepSpec& step = plan_.steps[s];
    for (size_t v = 0; v < step.views.size(); ++v) {
      const loop::ViewBinding& b = step.views[v];
      if (b.ref.kind == RefKind::input) {
        input_last[b.ref.index] = s + 1;
        if (b.compact) needs_compact_[b.ref.index] = true;
      }
      if (b.ref.kind == RefKind::output && step.stores(v))
        output_first[b.ref.index] = std::min(output_first[b.ref.index], s);
    }
  }
  // In place is right where the one kernel that stores the output is the last to read the input, reads each of its
  // elements only to make the same element of the output, and is done with the input when the sweep with that store
  // begins.
  in_place_.assign(n_out * n_in, false);
  for (size_t o = 0; o < n_out; ++o) {
    if (output_first[o] == SIZE_MAX) continue;
    const StepSpec& step = plan_.steps[output_first[o]];
    const auto earlier = [&](size_t i) { return input_last[i] == 0 || input_last[i] - 1 < output_first[o]; };
    if (step.routine) {
      for (size_t i = 0; i < n_in; ++i) in_place_[o * n_in + i] = earlier(i);
      continue;
    }
    const auto& kernel = step.program->kernel;
    const loop::ViewBinding* target = nullptr;
    bool last_sweep = false;
    const auto& schedule = step.program->schedule;
    for (size_t s = 0; s < kernel.stores.size(); ++s) {
      const loop::ViewBinding& b = step.views[kernel.stores[s].view];
      if (b.ref != loop::TensorRef{RefKind::output, static_cast<uint32_t>(o)}) continue;
      target = &b;
      const auto& in_last = schedule.sweeps.back().stores;
      last_sweep = std::find(in_last.begin(), in_last.end(), s) != in_last.end();
    }
    for (size_t i = 0; i < n_in; ++i) {
      if (earlier(i)) {
        in_place_[o * n_in + i] = true;
        continue;
      }
      if (input_last[i] - 1 > output_first[o] || !last_sweep || schedule.mode == loop::LaneMode::row) continue;
      bool alike = true;
      for (const loop::ViewBinding& b : step.views)
        if (b.ref == loop::TensorRef{RefKind::input, static_cast<uint32_t>(i)})
          alike = alike && binds_alike(b, *target);
      in_place_[o * n_in + i] = alike;
    }
  }
}

Executor::~Executor() {
  const std::unique_ptr<Residence> resident(residences_.load(std::memory_order_relaxed));
  for (Slot& slot : idle_) {
    const std::unique_ptr<Workspace> owned(slot.workspace.load(std::memory_order_relaxed));
  }
}

size_t Executor::home_slot() noexcept {
  static_assert(idle_slots == 16);
  // The thread's control block differs from thread to thread and costs one register; Fibonacci hashing spreads it.
  const auto thread = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
  return static_cast<size_t>((uint64_t{thread} >> 6) * 0x9e3779b97f4a7c15u >> 60);
}

// Taking and giving a workspace is one exchange, no lock.
Executor::Workspace* Executor::take() const {
  const size_t home = home_slot();
  for (size_t i = 0; i < idle_slots; ++i) {
    auto& slot = idle_[(home + i) % idle_slots].workspace;
    if (slot.load(std::memory_order_relaxed))
      if (Workspace* w = slot.exchange(nullptr, std::memory_order_acquire)) return w;
  }
  auto w = std::make_unique<Workspace>(*tallies_);
  w->dims.assign(plan_.dims.size(), INT64_MIN);
  const auto places = [](std::vector<Place>& to, const std::vector<IoSpec>& specs) {
    to.resize(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      to[i].type = specs[i].dlpack;
      to[i].item = static_cast<uint32_t>(ir::item_size(specs[i].dtype));
    }
  };
  places(w->inputs, plan_.inputs);
  places(w->outputs, plan_.outputs);
  w->buffers.resize(plan_.buffers.size());
  w->constants.resize(plan_.constants.size());
  w->home.resize(plan_.inputs.size() + plan_.outputs.size());
  w->homes.resize(w->home.size());
  for (uint32_t i = 0; i < w->home.size(); ++i) w->by_address.push_back(i);
  w->around.resize(w->home.size());
  const size_t all = plan_.steps.size();
  w->steps.resize(all <= most_remembered ? all : waves_.differ ? most_remembered : 1);
  w->slot_of.resize(plan_.buffers.size());
  w->buffer_bytes.resize(plan_.buffers.size());
  size_t sizes = 0, views = 0;
  for (const StepSpec& s : plan_.steps) {
    sizes = std::max(sizes, s.sizes.size());
    views = std::max(views, s.views.size());
  }
  w->sizes.resize(sizes);
  w->views.resize(views);
  return w.release();
}

void Executor::give(Workspace* w) const noexcept {
  std::unique_ptr<Workspace> held(w);
  if (w->scratch.size() + w->task_scratch.size() > keep_scratch) return;
  const size_t home = home_slot();
  for (size_t i = 0; i < idle_slots; ++i) {
    auto& slot = idle_[(home + i) % idle_slots].workspace;
    Workspace* none = nullptr;
    if (slot.load(std::memory_order_relaxed)) continue;
    if (!slot.compare_exchange_strong(none, w, std::memory_order_release, std::memory_order_relaxed)) continue;
    static_cast<void>(held.release());
    return;
  }
}

void Executor::resolve(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs, Workspace& w) const {
  w.temporaries = false;
  std::fill(w.home.begin(), w.home.end(), nullptr);
  bind(ins, true, w);
  check_outputs(outs, true, w);
  check_overlap(w);
  lay_out(w);
}

namespace {

// Scratch of one run from the host's allocator.
class Borrowed {
 public:
  Borrowed() = default;
  ~Borrowed() {
    if (p_) from_.give_back(p_, bytes_, alignment);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  char* get(const Allocator& from, size_t bytes) {
    from_ = from;
    bytes_ = bytes;
    p_ = from.get(bytes, alignment);
    return static_cast<char*>(p_);
  }

 private:
  static constexpr size_t alignment = 64;
  Allocator from_;
  size_t bytes_ = 0;
  void* p_ = nullptr;
};

}  // namespace

void Executor::run(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
                   std::span<const jit::Body* const> bodies, const RunOptions& options) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> held(take(), back);
  run(*held, false, ins, outs, bodies, options);
}

void Executor::run(Workspace& w, bool unchanged, std::span<const Tensor* const> ins,
                   std::span<const Tensor* const> outs, std::span<const jit::Body* const> bodies,
                   const RunOptions& options) const {
  const bool wide = waves_.differ && in_waves(width_of(options));
  const bool again = w.known && w.wide == wide && (unchanged || recall(ins, outs, w));
  if (again && w.calls_of == bodies.data() && !options.cancel) return call(w, unchanged, bodies);
  if (!again) {
    w.wide = wide;
    w.run_work = 0;
    resolve(ins, outs, w);
  }
  Borrowed borrowed;
  if (w.scratch_bytes > 0) {
    char* base;
    if (options.scratch && options.scratch_bytes >= w.scratch_bytes) base = static_cast<char*>(options.scratch);
    else if (options.allocator.allocate) base = borrowed.get(options.allocator, w.scratch_bytes);
    else base = w.reserve(w.scratch, w.scratch_bytes);
    for (Place& p : w.buffers) p.data = base + p.offset;
    if (w.temporaries) copy_in(base, w);
  }
  const FpEnv env;
  RunCounts counts{.runs = 1};
  Failure failure;
  const Lists& waves = w.order->waves;
  for (size_t i = 0; i < waves.size(); ++i) run_wave(waves[i], again, bodies, options, w, counts, failure);
  if (failure.fault.check != 0) fail_for(failure.fault, plan_.steps[failure.step]);
  if (w.temporaries) copy_out(w);
  const bool remember = w.steps.size() == plan_.steps.size();
  w.known = remember && !w.temporaries;
  if (!again && w.known && waves_.differ) note_footprints(w);
  w.run_work = counts.work;
  bool calls = w.known && w.scratch_bytes == 0 && (!wide || w.run_work < least_waking_work);
  for (size_t s = 0; calls && s < bodies.size(); ++s)
    calls = bodies[s] && w.steps[s].launch.one_call() && bodies[s]->scratch_bytes() == 0;
  w.calls_of = calls ? bodies.data() : nullptr;
  w.call_counts = counts;
  w.tally.add(counts);
}

void Executor::call(Workspace& w, bool unchanged, std::span<const jit::Body* const> bodies) const {
  const FpEnv env;
  jit::Fault fault;
  for (size_t s = 0; s < bodies.size(); ++s) {
    if (!unchanged) w.steps[s].move();
    w.steps[s].launch.call(*bodies[s], fault);
    if (fault.check != 0) fail_for(fault, plan_.steps[s]);
  }
  w.tally.add(w.call_counts);
}

void Executor::check(Workspace& w, std::span<const Tensor* const> ins, std::span<const Tensor* const> outs) const {
  bind(ins, false, w);
  check_outputs(outs, false, w);
}

std::vector<int64_t> Executor::output_shape(std::span<const Tensor* const> ins, size_t i) const {
  if (i >= plan_.outputs.size()) fail(Code::invalid_argument, "output ", i, " of ", plan_.outputs.size());
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> w(take(), back);
  if (!w->known || !recall_inputs(ins, false, *w)) bind(ins, false, *w);
  std::vector<int64_t> shape;
  for (const ir::DimId d : plan_.outputs[i].shape) shape.push_back(w->dims[d]);
  return shape;
}

uint64_t Executor::scratch_size(std::span<const Tensor* const> ins, uint32_t threads) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> w(take(), back);
  std::fill(w->home.begin(), w->home.end(), nullptr);
  bind(ins, false, *w);
  w->ordered = false;
  uint64_t most = 0;
  for (const bool wide : {false, true}) {
    if (wide && !in_waves(threads)) break;
    w->wide = wide;
    lay_out(*w);
    most = std::max(most, w->scratch_bytes);
  }
  return most;
}

}  // namespace ingot::runtime
