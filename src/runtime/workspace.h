// What one run of an executor works on; kept between runs so that a warm run allocates nothing. It also remembers the
// last run: one with tensors of the same shapes and strides only moves addresses (recall.cpp). Private to the
// executor's files.
#pragma once

#include <cstdlib>
#include <new>
#include <optional>

#include "base/error.h"
#include "jit/cuda/args.h"
#include "runtime/executor.h"
#include "runtime/overlap.h"

namespace ingot::runtime {

// A tensor of a run, resolved: where it lies and how, in bytes.
struct Place {
  char* data = nullptr;
  Span span{0, 0};    // of the host's memory
  DataType type{};    // of inputs and outputs: what the graph says
  uint32_t item = 0;  // bytes
  uint32_t rank = 0;
  bool compact = true;
  bool empty = false;
  int32_t device = device_cpu;    // DLDeviceType; of inputs and outputs
  const char* checked = nullptr;  // the address that was last found to be memory of device `checked_on`
  int checked_on = -1;
  int64_t extent[ir::max_rank];
  int64_t stride[ir::max_rank];  // bytes
  uint64_t offset = 0;           // of what lies in scratch: from its beginning
};

// 64-byte-aligned memory that only grows.
class Scratch {
 public:
  ~Scratch() { std::free(data_); }
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* reserve(size_t bytes) {
    if (bytes <= size_) return data_;
    std::free(data_);
    data_ = nullptr;
    size_ = 0;
    const size_t rounded = (bytes + 63) / 64 * 64;
    data_ = static_cast<char*>(std::aligned_alloc(64, rounded));
    if (!data_) throw std::bad_alloc();
    size_ = rounded;
    return data_;
  }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

// Where a view of a launch begins: at an offset from a place, which may move from run to run. Null: nowhere (iota,
// inside).
struct Origin {
  const Place* place = nullptr;
  uint64_t offset = 0;  // bytes, modulo 2^64
};

// One launch, prepared for the extents and strides at hand.
struct StepState {
  jit::Launch launch;
  std::vector<Origin> origins;  // per view
  uint64_t read = 0, written = 0;
  uint64_t footprint = 0;  // what the steps of its wave move together, where all that it stores are outputs

  // To where the places lie now.
  void move() noexcept {
    for (size_t v = 0; v < origins.size(); ++v)
      if (const Place* p = origins[v].place)
        launch.move(v, reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(p->data) + origins[v].offset));
  }
};

// The same for a launch on a device.
struct DeviceStep {
  std::optional<jit::cuda::ArgLayout> layout;
  std::vector<int64_t> sizes;
  std::vector<jit::ViewArg> views;
  std::vector<uint64_t> args;

  // From the workspace's sizes and views.
  void prepare(const loop::Kernel& kernel, const Executor::Workspace& w);
  void move(std::span<const Origin> origins) noexcept;
};

// The failure of a run that counts: that of the first step, in the order of the plan, that has one.
struct Failure {
  uint32_t step = UINT32_MAX;  // none
  jit::Fault fault;

  void note(uint32_t s, const jit::Fault& f) noexcept {
    if (f.check == 0 || s >= step) return;
    step = s;
    fault = f;
  }
};

// The least work, in units of jit::Launch::work() (some 30 a nanosecond), that is worth waking threads for: that takes
// microseconds of the caller, and tens of them until they run.
constexpr int64_t least_waking_work = int64_t{3} << 19;

// A launch of a wave.
struct WaveItem {
  jit::Launch* launch;
  const jit::Body* body;
  uint32_t step;
  size_t shared_at;  // where its shared memory begins
  uint64_t footprint;
  int64_t end = 0;  // its last chunk, and one more, when those of the items before it are counted, too
};

struct Executor::Workspace {
  explicit Workspace(Tallies& tallies) : tally(tallies.claim()) {}
  ~Workspace() { Tallies::release(tally); }

  // Of `scratch` or `task_scratch`.
  char* reserve(Scratch& of, size_t bytes) {
    if (bytes <= of.size()) return of.reserve(0);
    char* const data = of.reserve(bytes);
    tally.keeps_scratch(scratch.size() + task_scratch.size());
    return data;
  }

  Tally& tally;
  std::vector<int64_t> dims;  // values of the plan's dim table
  std::vector<Place> inputs, outputs, constants, buffers;
  std::vector<uint32_t> by_address;  // inputs, then outputs, as their spans lay in memory at the last run
  std::vector<uint32_t> around;      // of them, those whose spans reach to the address at hand
  // Where the host's memory is when a temporary stands in for it: copied in before, or out after, the steps.
  std::vector<const Place*> home;  // per input, then output; null: no temporary
  std::vector<Place> homes;
  bool temporaries = false;  // whether any
  // Buffers that never live together share a slot of scratch.
  std::vector<size_t> buffer_bytes, slot_bytes;
  std::vector<uint64_t> slot_at;
  std::vector<uint32_t> slot_of;           // per buffer
  std::vector<uint32_t> idle_slots, born;  // while slots are given out
  bool wide = false;                       // the run has threads for waves
  bool ordered = false;                    // an output in the memory of an input wants the order of the plan
  const StepOrder* order = nullptr;        // in which the scratch is right
  std::vector<WaveItem> wave;              // launches that wait for each other to be started
  std::vector<int64_t> sizes;
  std::vector<jit::ViewArg> views;
  // One a step; where there are more steps than are worth remembering, as many as run at once.
  std::vector<StepState> steps;
  std::vector<DeviceStep> device_steps;
  // Scratch on a device: buffers and temporaries, faults of the run's own where it waits for its end since a tensor
  // lies in host memory, then what the stages of a launch share.
  bool waits = false;
  size_t faults_at = 0, stages_at = 0, device_bytes = 0;
  bool known = false;  // `steps` and the places describe a whole run without temporaries, addresses apart
  // Where `known` holds: the bodies with which each step is one call that needs no scratch (Launch::one_call), and what
  // such a run counts. Null: no bodies are known to be so.
  const jit::Body* const* calls_of = nullptr;
  RunCounts call_counts;
  int64_t run_work = 0;  // of the remembered run
  bool in_place = false;
  uint64_t scratch_bytes = 0;  // of buffers and temporaries, before the tasks' own
  Scratch scratch;             // buffers and temporaries
  Scratch task_scratch;        // one part per concurrent task
};

inline size_t bytes_of(const Place& p, size_t item) {
  size_t n = item;
  for (uint32_t d = 0; d < p.rank; ++d) n *= static_cast<size_t>(p.extent[d]);
  return n;
}

// Strides of a compact tensor with the place's extents.
inline void make_compact(Place& p, size_t item) {
  auto stride = static_cast<int64_t>(item);
  for (uint32_t d = p.rank; d-- > 0;) {
    p.stride[d] = stride;
    stride *= p.extent[d] > 0 ? p.extent[d] : 1;
  }
  p.compact = true;
}

// "input 2 (%name)", for messages.
inline std::string label(const char* what, size_t i, const IoSpec& spec) {
  return spec.name.empty() ? cat(what, " ", i) : cat(what, " ", i, " (%", spec.name, ")");
}

// Throws what a failed check comes to.
[[noreturn]] void fail_for(const jit::Fault& fault, const StepSpec& step);

inline uint32_t width_of(const RunOptions& options) { return options.parallel ? options.parallel->width() : 1; }

inline size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

// Whether no output shares a byte with another output or an input, going by their spans alone.
bool outputs_apart(Executor::Workspace& w) noexcept;

// Copies between two places of equal extents, item by item along the innermost dim.
void copy_strided(const Place& from, const Place& to, size_t item);

}  // namespace ingot::runtime
