// The steps of one wave: launches that need nothing of each other run as one, their chunks handed out to all threads
// together.
#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "runtime/fp_env.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

// Non-temporal stores win once a launch moves more than the last-level cache keeps: measured at about 24 MB with a 32
// MB cache, and they lose ten times when the data would have stayed in it.
constexpr uint64_t stream_bytes = uint64_t{24} << 20;

// In units of jit::Launch::work(): the least work that is handed to threads that look out for it, and the least that is
// claimed at once.
constexpr int64_t least_shared_work = int64_t{1} << 17;
constexpr int64_t least_claimed_work = 1 << 15;

void ask(const RunOptions& options) {
  if (options.cancelled()) fail(Code::cancelled, "the run was cancelled");
}

// One thread's way through a wave, in the order of the plan.
void run_alone(std::span<const WaveItem> wave, char* scratch, char* shared, const RunOptions& options,
               Failure& failure) {
  for (const WaveItem& item : wave) {
    const int64_t chunks = item.launch->chunks();
    for (unsigned phase = 0; phase < item.launch->phases(); ++phase)
      for (int64_t c = 0; c < chunks; ++c) {
        ask(options);
        jit::Fault fault;
        item.launch->run_chunk(*item.body, phase, c, scratch, shared + item.shared_at, fault);
        if (fault.check == 0) continue;
        failure.note(item.step, fault);
        return;
      }
  }
}

// What the tasks of a wave, or of one phase of it, share. Each claims chunks until none is left, so any number of tasks
// may run one after the other.
class Crew {
 public:
  Crew(std::span<const WaveItem> wave, unsigned phase, int64_t work, uint32_t tasks, char* scratch, size_t each,
       char* shared, const RunOptions& options)
      : wave_(wave),
        phase_(phase),
        chunks_(wave.back().end),
        tasks_(tasks),
        scratch_(scratch),
        each_(each),
        shared_(shared),
        options_(options) {
    most_ = std::max<int64_t>(1, least_claimed_work / std::max<int64_t>(1, work / chunks_));
  }

  void run(Failure& failure) {
    options_.parallel->run(tasks_, [](void* context, uint32_t task) { static_cast<Crew*>(context)->work(task); }, this);
    if (fault_.check != 0) failure.note(wave_[fault_item_].step, fault_);
    else ask(options_);
  }

 private:
  // The next chunks, [first, last); none if they are equal. Many where they are small, fewer towards the end.
  std::pair<int64_t, int64_t> claim() {
    int64_t first = next_.load(std::memory_order_relaxed), count;
    do {
      count = std::clamp<int64_t>((chunks_ - first) / (4 * int64_t{tasks_}), 1, most_);
      if (first >= chunks_) return {chunks_, chunks_};
    } while (!next_.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
    return {first, first + count};
  }

  void work(uint32_t task) {
    const FpEnv env;
    char* const scratch = scratch_ + task * each_;
    size_t i = 0;
    for (;;) {
      const auto [first, last] = claim();
      if (first == last) return;
      for (int64_t c = first; c < last; ++c) {
        while (c >= wave_[i].end) ++i;
        // What follows a failed launch in the plan need not run; what precedes it must, for it may fail, too.
        if (i > failed_.load(std::memory_order_relaxed) || options_.cancelled()) return;
        const WaveItem& item = wave_[i];
        jit::Fault fault;
        item.launch->run_chunk(*item.body, phase_, c - (item.end - item.launch->chunks()), scratch,
                               shared_ + item.shared_at, fault);
        if (fault.check != 0) note(i, c, fault);
      }
    }
  }

  // Of the first chunk that has one, so that threads make no difference to the message.
  void note(size_t item, int64_t chunk, const jit::Fault& fault) {
    const std::lock_guard lock(mutex_);
    if (chunk >= fault_chunk_) return;
    fault_ = fault;
    fault_item_ = item;
    fault_chunk_ = chunk;
    failed_.store(item, std::memory_order_relaxed);
  }

  const std::span<const WaveItem> wave_;
  const unsigned phase_;
  const int64_t chunks_;
  int64_t most_;  // chunks of one claim
  const uint32_t tasks_;
  char* const scratch_;
  const size_t each_;
  char* const shared_;
  const RunOptions& options_;
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<size_t> failed_{SIZE_MAX};
  std::mutex mutex_;
  jit::Fault fault_{};
  size_t fault_item_ = 0;
  int64_t fault_chunk_ = INT64_MAX;
};

// Numbers the chunks of all launches; how many there are.
int64_t chunks_of(std::span<WaveItem> wave) {
  int64_t chunks = 0;
  for (WaveItem& item : wave) item.end = chunks += item.launch->chunks();
  return chunks;
}

// How many tasks share the work of a wave, in a run that is known to have `run_work` in all.
uint32_t tasks_for(std::span<WaveItem> wave, int64_t work, const RunOptions& options, int64_t run_work) {
  const int64_t width = width_of(options);
  if (width < 2 || work < least_shared_work) return 1;
  if (work < least_waking_work && run_work < least_waking_work && !options.parallel->awake()) return 1;
  return static_cast<uint32_t>(std::min(chunks_of(wave), width));
}

}  // namespace

void Executor::run_wave(std::span<const uint32_t> steps, bool again, std::span<const jit::Body* const> bodies,
                        const RunOptions& options, Workspace& w, RunCounts& counts, Failure& failure) const {
  const bool remember = w.steps.size() == plan_.steps.size();
  std::vector<WaveItem>& wave = w.wave;
  for (size_t begin = 0; begin < steps.size();) {
    // As many as there are states to prepare.
    const size_t end = remember ? steps.size() : std::min(steps.size(), begin + w.steps.size());
    wave.clear();
    int64_t work = 0;
    size_t each = 64, shared = 0;
    uint64_t moved = 0;  // by the wave
    for (size_t i = begin; i < end && steps[i] < failure.step; ++i) {
      const uint32_t s = steps[i];
      const StepSpec& step = plan_.steps[s];
      if (step.routine) {
        failure.note(s, run_routine(step, options, w, counts));
        continue;
      }
      StepState& state = w.steps[remember ? s : i - begin];
      if (!again) prepare(step, state, w);
      state.move();
      moved += state.read + state.written;
      counts.bytes_read += state.read;
      counts.bytes_written += state.written;
      jit::Launch& launch = state.launch;
      if (launch.chunks() == 0) continue;
      ++counts.launches;
      work += launch.work();
      counts.work += launch.work();
      each = std::max(each, aligned(launch.scratch_bytes(*bodies[s])));
      wave.push_back({&launch, bodies[s], s, shared, state.footprint});
      shared += aligned(launch.shared_bytes());
    }
    begin = end;
    // A routine may have failed that comes before some of them.
    while (!wave.empty() && wave.back().step >= failure.step) wave.pop_back();
    if (wave.empty()) continue;
    for (const WaveItem& item : wave) {
      item.launch->allow_stream(std::max(moved, item.footprint) >= stream_bytes && !w.in_place);
      item.launch->allow_twice(!w.in_place);
    }
    const uint32_t tasks = tasks_for(wave, work, options, w.run_work);
    char* const scratch = w.reserve(w.task_scratch, each * tasks + shared);
    char* const all = scratch + each * tasks;
    if (shared > 0)
      for (const WaveItem& item : wave) item.launch->begin(all + item.shared_at);
    ask(options);
    if (tasks == 1) {
      run_alone(wave, scratch, all, options, failure);
      continue;
    }
    for (unsigned phase = 0;; ++phase) {
      std::erase_if(wave, [&](const WaveItem& i) { return i.step >= failure.step || i.launch->phases() <= phase; });
      if (wave.empty()) break;
      ++counts.forks;
      chunks_of(wave);
      Crew(wave, phase, work, tasks, scratch, each, all, options).run(failure);
    }
  }
}

void Executor::note_footprints(Workspace& w) const noexcept {
  const Lists& waves = waves_.together.waves;
  for (size_t i = 0; i < waves.size(); ++i) {
    uint64_t moved = 0;
    for (const uint32_t s : waves[i])
      if (!plan_.steps[s].routine) moved += w.steps[s].read + w.steps[s].written;
    for (const uint32_t s : waves[i]) {
      const StepSpec& step = plan_.steps[s];
      bool outputs = !step.routine;
      for (size_t v = 0; v < step.views.size(); ++v)
        outputs = outputs && (!step.stores(v) || step.views[v].ref.kind == loop::RefKind::output);
      w.steps[s].footprint = outputs ? moved : 0;
    }
  }
}

}  // namespace ingot::runtime
