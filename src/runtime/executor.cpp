#include "runtime/executor.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "runtime/fp_env.h"
#include "runtime/overlap.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

using loop::RefKind;
using loop::ViewKind;

// Non-temporal stores win once a launch moves more than the last-level cache keeps: measured at about 24 MB with a 32
// MB cache, and they lose ten times when the data would have stayed in it.
constexpr uint64_t stream_bytes = uint64_t{24} << 20;
// Scratch above this is not kept between runs.
constexpr size_t keep_scratch = size_t{64} << 20;

size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

bool binds_alike(const loop::ViewBinding& a, const loop::ViewBinding& b) {
  return !a.compact && !b.compact && a.dims == b.dims;
}

}  // namespace

void copy_strided(const Place& from, const Place& to, size_t item) {
  const uint32_t rank = from.rank;
  for (uint32_t d = 0; d < rank; ++d)
    if (from.extent[d] == 0) return;
  if (from.compact && to.compact) {
    std::memcpy(to.data, from.data, bytes_of(from, item));
    return;
  }
  int64_t index[ir::max_rank] = {};
  const char* a = from.data;
  char* b = to.data;
  for (;;) {
    const int64_t n = rank ? from.extent[rank - 1] : 1;
    const int64_t sa = rank ? from.stride[rank - 1] : 0, sb = rank ? to.stride[rank - 1] : 0;
    for (int64_t i = 0; i < n; ++i) std::memcpy(b + i * sb, a + i * sa, item);
    uint32_t d = rank ? rank - 1 : 0;
    for (;;) {
      if (d == 0) return;
      --d;
      a += from.stride[d];
      b += to.stride[d];
      if (++index[d] < from.extent[d]) break;
      a -= from.stride[d] * from.extent[d];
      b -= to.stride[d] * from.extent[d];
      index[d] = 0;
    }
  }
}

Executor::Executor(ExecutorPlan plan) : plan_(std::move(plan)) {
  const size_t n_in = plan_.inputs.size(), n_out = plan_.outputs.size();
  needs_compact_.assign(n_in + n_out, false);
  uint32_t most = 0;
  for (const ConstantSpec& c : plan_.constants) most = std::max(most, c.value + 1);
  constant_at_.assign(most, 0);
  for (size_t i = 0; i < plan_.constants.size(); ++i) constant_at_[plan_.constants[i].value] = static_cast<uint32_t>(i);

  // Lifetimes: a buffer lives from the step that stores it to the last that reads it.
  std::vector<size_t> first(plan_.buffers.size(), 0), last(plan_.buffers.size(), 0);
  std::vector<size_t> input_last(n_in, 0), output_first(n_out, SIZE_MAX);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const StepSpec& step = plan_.steps[s];
    for (size_t v = 0; v < step.views.size(); ++v) {
      const loop::ViewBinding& b = step.views[v];
      const bool stores = step.program->kernel.views[v].kind == ViewKind::store;
      if (b.ref.kind == RefKind::buffer) (stores ? first : last)[b.ref.index] = s;
      if (b.ref.kind == RefKind::input) {
        input_last[b.ref.index] = s + 1;
        if (b.compact) needs_compact_[b.ref.index] = true;
      }
      if (b.ref.kind == RefKind::output && stores) output_first[b.ref.index] = std::min(output_first[b.ref.index], s);
    }
  }
  // A slot is free for the next buffer once the last reader of its buffer has run.
  slot_of_.assign(plan_.buffers.size(), 0);
  std::vector<std::vector<uint32_t>> starts(plan_.steps.size()), ends(plan_.steps.size());
  for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
    starts[first[b]].push_back(b);
    ends[std::max(first[b], last[b])].push_back(b);
  }
  std::vector<uint32_t> idle;
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    for (const uint32_t b : starts[s]) {
      if (idle.empty()) idle.push_back(slots_++);
      slot_of_[b] = idle.back();
      idle.pop_back();
    }
    for (const uint32_t b : ends[s]) idle.push_back(slot_of_[b]);
  }
  // In place is right where the one kernel that stores the output is the last to read the input, reads each of its
  // elements only to make the same element of the output, and is done with the input when the sweep with that store
  // begins.
  in_place_.assign(n_out * n_in, false);
  for (size_t o = 0; o < n_out; ++o) {
    if (output_first[o] == SIZE_MAX) continue;
    const StepSpec& step = plan_.steps[output_first[o]];
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
      if (input_last[i] == 0 || input_last[i] - 1 < output_first[o]) {
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
  for (auto& slot : idle_) delete slot.load(std::memory_order_relaxed);
}

// Idle workspaces wait in a few slots; taking and giving one is an exchange, no lock.
Executor::Workspace* Executor::take() const {
  for (auto& slot : idle_)
    if (slot.load(std::memory_order_relaxed))
      if (Workspace* w = slot.exchange(nullptr, std::memory_order_acquire)) return w;
  auto w = std::make_unique<Workspace>();
  w->dims.assign(plan_.dims.size(), INT64_MIN);
  w->inputs.resize(plan_.inputs.size());
  w->outputs.resize(plan_.outputs.size());
  w->buffers.resize(plan_.buffers.size());
  w->constants.resize(plan_.constants.size());
  w->home.resize(plan_.inputs.size() + plan_.outputs.size());
  w->homes.resize(w->home.size());
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
  if (w->scratch.size() + w->task_scratch.size() <= keep_scratch)
    for (auto& slot : idle_) {
      Workspace* none = nullptr;
      if (!slot.load(std::memory_order_relaxed) && slot.compare_exchange_strong(none, w, std::memory_order_release))
        return;
    }
  delete w;
}

// Extents of buffers and constants, and the offsets of buffers and temporaries in one block of scratch.
void Executor::lay_out(Workspace& w) const {
  const auto shape = [&](Place& p, std::span<const ir::DimId> dims, ir::DType t) {
    p.rank = static_cast<uint32_t>(dims.size());
    size_t bytes = ir::item_size(t);
    bool empty = false;
    for (uint32_t d = 0; d < p.rank; ++d) {
      p.extent[d] = w.dims[dims[d]];
      if (p.extent[d] < 0)
        fail(Code::invalid_argument, "the extent ", plan_.dims.to_string(dims[d]), " is ", p.extent[d]);
      empty = empty || p.extent[d] == 0;
    }
    for (uint32_t d = 0; d < p.rank; ++d)
      if (p.extent[d] > 1 &&
          (__builtin_mul_overflow(bytes, static_cast<size_t>(p.extent[d]), &bytes) || bytes > INT64_MAX / 64))
        fail(Code::invalid_argument, "an intermediate value is too large for 64 bits");
    make_compact(p, ir::item_size(t));
    return empty ? 0 : bytes;
  };
  for (size_t i = 0; i < plan_.constants.size(); ++i) {
    const ConstantSpec& c = plan_.constants[i];
    shape(w.constants[i], c.shape, c.dtype);
    w.constants[i].data = const_cast<char*>(reinterpret_cast<const char*>(c.data));
  }
  uint64_t total = 0;
  if (slots_ > 0) {
    std::vector<size_t>& bytes = w.slot_bytes;
    bytes.assign(slots_, 0);
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      const size_t need = shape(w.buffers[b], plan_.buffers[b].shape, plan_.buffers[b].dtype);
      bytes[slot_of_[b]] = std::max(bytes[slot_of_[b]], need);
    }
    std::vector<uint64_t>& at = w.slot_at;
    at.assign(slots_, 0);
    for (size_t s = 0; s < slots_; ++s) {
      at[s] = total;
      if (__builtin_add_overflow(total, aligned(bytes[s]), &total))
        fail(Code::out_of_memory, "scratch overflows 64 bits");
    }
    // Offsets for now: the block's address is known when all of it is laid out.
    for (size_t b = 0; b < plan_.buffers.size(); ++b) w.buffers[b].data = reinterpret_cast<char*>(at[slot_of_[b]]);
  }
  for (size_t h = 0; h < w.home.size(); ++h) {
    const bool input = h < w.inputs.size();
    Place& p = input ? w.inputs[h] : w.outputs[h - w.inputs.size()];
    const ir::DType t = input ? plan_.inputs[h].dtype : plan_.outputs[h - w.inputs.size()].dtype;
    if (input && needs_compact_[h] && !p.compact) w.home[h] = &w.homes[h];
    if (!w.home[h]) continue;
    w.homes[h] = p;
    make_compact(p, ir::item_size(t));
    p.data = reinterpret_cast<char*>(total);
    if (__builtin_add_overflow(total, aligned(bytes_of(p, ir::item_size(t))), &total) || total > INT64_MAX)
      fail(Code::out_of_memory, "temporaries of more than 63 bits");
  }
  w.scratch_bytes = total;
}

void Executor::run(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
                   std::span<const jit::Body* const> bodies, const RunOptions& options, RunCounts& counts) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> held(take(), back);
  Workspace& w = *held;
  std::fill(w.home.begin(), w.home.end(), nullptr);
  bind(ins, true, w);
  check_outputs(outs, w);
  check_overlap(ins, outs, w);
  lay_out(w);
  if (w.scratch_bytes > 0) {
    const bool lent = options.scratch && options.scratch_bytes >= w.scratch_bytes;
    char* base = lent ? static_cast<char*>(options.scratch) : w.scratch.reserve(w.scratch_bytes);
    for (Place& p : w.buffers) p.data = base + reinterpret_cast<uintptr_t>(p.data);
    for (size_t h = 0; h < w.home.size(); ++h) {
      if (!w.home[h]) continue;
      Place& p = h < ins.size() ? w.inputs[h] : w.outputs[h - ins.size()];
      p.data = base + reinterpret_cast<uintptr_t>(p.data);
      if (h < ins.size()) copy_strided(w.homes[h], p, ir::item_size(plan_.inputs[h].dtype));
    }
  }
  const FpEnv env;
  for (size_t s = 0; s < plan_.steps.size(); ++s) launch(s, *bodies[s], options, w, counts);
  for (size_t o = 0; o < outs.size(); ++o)
    if (w.home[ins.size() + o])
      copy_strided(w.outputs[o], w.homes[ins.size() + o], ir::item_size(plan_.outputs[o].dtype));
}

void Executor::launch(size_t index, const jit::Body& body, const RunOptions& options, Workspace& w,
                      RunCounts& counts) const {
  const StepSpec& step = plan_.steps[index];
  const loop::Kernel& kernel = step.program->kernel;
  for (size_t i = 0; i < step.sizes.size(); ++i) w.sizes[i] = w.dims[step.sizes[i]];
  const size_t axes = kernel.axis_count();
  uint64_t read = 0, written = 0;
  for (size_t v = 0; v < step.views.size(); ++v) {
    const loop::ViewBinding& b = step.views[v];
    jit::ViewArg& arg = w.views[v];
    std::fill(arg.stride, arg.stride + axes, 0);
    if (kernel.views[v].kind == ViewKind::inside) continue;
    if (kernel.views[v].kind == ViewKind::iota) {
      arg.value = w.dims[b.dims[0].offset];
      for (const loop::Term& t : b.dims[0].terms) arg.stride[t.axis] = w.dims[t.coef];
      continue;
    }
    const Place* p = nullptr;
    switch (b.ref.kind) {
      case RefKind::input: p = &w.inputs[b.ref.index]; break;
      case RefKind::output: p = &w.outputs[b.ref.index]; break;
      case RefKind::constant: p = &w.constants[constant_at_[b.ref.index]]; break;
      case RefKind::buffer: p = &w.buffers[b.ref.index]; break;
      case RefKind::none: bug("a view of no tensor");
    }
    Place alias;
    if (b.compact) {
      alias.data = p->data;
      alias.rank = static_cast<uint32_t>(b.shape.size());
      for (uint32_t d = 0; d < alias.rank; ++d) alias.extent[d] = w.dims[b.shape[d]];
      make_compact(alias, ir::item_size(kernel.views[v].storage));
      p = &alias;
    }
    // Unsigned arithmetic: where boxes cut, the address of index 0 may lie outside of the tensor, or of memory.
    auto base = reinterpret_cast<uintptr_t>(p->data);
    for (size_t d = 0; d < b.dims.size(); ++d) {
      const auto stride = static_cast<uint64_t>(p->stride[d]);
      base += static_cast<uint64_t>(w.dims[b.dims[d].offset]) * stride;
      for (const loop::Term& t : b.dims[d].terms)
        arg.stride[t.axis] = static_cast<int64_t>(static_cast<uint64_t>(arg.stride[t.axis]) +
                                                  static_cast<uint64_t>(w.dims[t.coef]) * stride);
    }
    arg.base = reinterpret_cast<char*>(base);
    uint64_t bytes = ir::item_size(kernel.views[v].storage);
    for (size_t a = 0; a < axes; ++a)
      if (kernel.views[v].axes >> a & 1) bytes *= static_cast<uint64_t>(w.sizes[a]);
    (kernel.views[v].kind == ViewKind::store ? written : read) += bytes;
  }
  counts.bytes_read += read;
  counts.bytes_written += written;
  w.launch.prepare(*step.program, w.sizes.data(), w.views.data(), read + written >= stream_bytes && !w.in_place);
  const int64_t chunks = w.launch.chunks();
  if (chunks == 0) return;
  ++counts.launches;

  const size_t each = aligned(w.launch.scratch_bytes(body));
  const auto cancelled = [&] { return options.cancel && options.cancel->load(std::memory_order_relaxed) != 0; };
  if (cancelled()) fail(Code::cancelled, "the run was cancelled");
  const uint32_t width = options.parallel ? options.parallel->width() : 1;
  const auto tasks = static_cast<uint32_t>(std::min<int64_t>(chunks, width));
  char* scratch = w.task_scratch.reserve(std::max<size_t>(each, 64) * std::max<uint32_t>(tasks, 1));
  if (tasks <= 1) {
    for (int64_t c = 0; c < chunks; ++c) {
      if (c > 0 && cancelled()) fail(Code::cancelled, "the run was cancelled");
      w.launch.run_chunk(body, c, scratch);
    }
    return;
  }
  struct Shared {
    const jit::Launch& launch;
    const jit::Body& body;
    char* scratch;
    size_t each;
    int64_t chunks;
    const std::atomic<uint32_t>* cancel;
    std::atomic<int64_t> next{0};
  } shared{w.launch, body, scratch, each, chunks, options.cancel};
  // Each task claims chunks until none is left, so any number of tasks may run one after the other.
  options.parallel->run(
      tasks,
      [](void* context, uint32_t task) {
        auto& s = *static_cast<Shared*>(context);
        const FpEnv env;
        for (;;) {
          const int64_t c = s.next.fetch_add(1, std::memory_order_relaxed);
          if (c >= s.chunks || (s.cancel && s.cancel->load(std::memory_order_relaxed) != 0)) return;
          s.launch.run_chunk(s.body, c, s.scratch + task * s.each);
        }
      },
      &shared);
  if (cancelled()) fail(Code::cancelled, "the run was cancelled");
}

std::vector<int64_t> Executor::output_shape(std::span<const Tensor* const> ins, size_t i) const {
  if (i >= plan_.outputs.size()) fail(Code::invalid_argument, "output ", i, " of ", plan_.outputs.size());
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> w(take(), back);
  bind(ins, false, *w);
  std::vector<int64_t> shape;
  for (const ir::DimId d : plan_.outputs[i].shape) shape.push_back(w->dims[d]);
  return shape;
}

uint64_t Executor::scratch_size(std::span<const Tensor* const> ins) const {
  const auto back = [this](Workspace* w) { give(w); };
  const std::unique_ptr<Workspace, decltype(back)> w(take(), back);
  std::fill(w->home.begin(), w->home.end(), nullptr);
  bind(ins, false, *w);
  lay_out(*w);
  return w->scratch_bytes;
}

}  // namespace ingot::runtime
