// One step of a plan: prepared for the tensors at hand, then launched, by one thread or by several.
#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "runtime/fp_env.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

using loop::RefKind;
using loop::ViewKind;

// Non-temporal stores win once a launch moves more than the last-level cache keeps: measured at about 24 MB with a 32
// MB cache, and they lose ten times when the data would have stayed in it.
constexpr uint64_t stream_bytes = uint64_t{24} << 20;

}  // namespace

void fail_for(const jit::Fault& fault, const StepSpec& step) {
  const auto& [what, from_end] = step.checks[fault.check - 1];
  // A negative index was counted from the end.
  const int64_t index = from_end && fault.index < 0 ? fault.index - fault.extent : fault.index;
  if (fault.extent == 0) fail(Code::out_of_range, what, " is ", index, ", but there is nothing along that axis");
  fail(Code::out_of_range, what, " is ", index, ", expected ", from_end ? -fault.extent : 0, " to ", fault.extent - 1);
}

bool StepSpec::stores(size_t view) const {
  return routine ? view >= loop::operand_count(routine) : program->kernel.views[view].kind == ViewKind::store;
}

const Place& Executor::place_of(const loop::TensorRef& ref, const Workspace& w) const {
  switch (ref.kind) {
    case RefKind::input: return w.inputs[ref.index];
    case RefKind::output: return w.outputs[ref.index];
    case RefKind::constant: return w.constants[constant_at_[ref.index]];
    case RefKind::buffer: return w.buffers[ref.index];
    case RefKind::none: break;
  }
  bug("a view of no tensor");
}

void Executor::prepare(const StepSpec& step, StepState& state, Workspace& w) const {
  const loop::Kernel& kernel = step.program->kernel;
  for (size_t i = 0; i < step.sizes.size(); ++i) w.sizes[i] = w.dims[step.sizes[i]];
  const size_t axes = kernel.axis_count();
  const auto places = [&](loop::AxisSet set) {
    uint64_t n = 1;
    for (size_t a = 0; a < axes; ++a)
      if (set >> a & 1) n *= static_cast<uint64_t>(w.sizes[a]);
    return n;
  };
  state.origins.assign(step.views.size(), {});
  state.read = state.written = 0;
  for (size_t v = 0; v < step.views.size(); ++v) {
    const loop::ViewBinding& b = step.views[v];
    jit::ViewArg& arg = w.views[v];
    std::fill(arg.stride, arg.stride + axes, 0);
    if (kernel.views[v].kind == ViewKind::inside) continue;
    const bool offsets = kernel.views[v].kind == ViewKind::iota;
    if (offsets && b.ref.kind == RefKind::none) {
      arg.value = w.dims[b.dims[0].offset];
      for (const loop::Term& t : b.dims[0].terms) arg.stride[t.axis] = w.dims[t.coef];
      continue;
    }
    const Place* p = &place_of(b.ref, w);
    if (!offsets) state.origins[v].place = p;
    Place alias;
    if (b.compact) {
      alias.rank = static_cast<uint32_t>(b.shape.size());
      for (uint32_t d = 0; d < alias.rank; ++d) alias.extent[d] = w.dims[b.shape[d]];
      alias.item = p->item;
      make_compact(alias, alias.item);
      p = &alias;
    }
    // Unsigned arithmetic: where boxes cut, the address of index 0 may lie outside of the tensor, or of memory.
    uint64_t& offset = state.origins[v].offset;
    for (size_t d = 0; d < b.dims.size(); ++d) {
      const auto stride = static_cast<uint64_t>(p->stride[d]);
      offset += static_cast<uint64_t>(w.dims[b.dims[d].offset]) * stride;
      for (const loop::Term& t : b.dims[d].terms)
        arg.stride[t.axis] = static_cast<int64_t>(static_cast<uint64_t>(arg.stride[t.axis]) +
                                                  static_cast<uint64_t>(w.dims[t.coef]) * stride);
    }
    if (offsets) {
      const int64_t item = p->item;
      arg.value = static_cast<int64_t>(offset) / item;
      for (size_t a = 0; a < axes; ++a) arg.stride[a] /= item;
      continue;
    }
    const uint64_t bytes = ir::item_size(kernel.views[v].storage) * places(kernel.views[v].axes);
    (kernel.views[v].kind == ViewKind::store ? state.written : state.read) += bytes;
  }
  // What is fetched counts by the times, not by the items, which may be the same again and again.
  if (!step.checks.empty())
    for (const loop::Node& n : kernel.nodes)
      if (n.op == loop::Prim::fetch) state.read += ir::item_size(n.type) * (places(n.axes) - 1);
  state.launch.prepare(*step.program, w.sizes.data(), w.views.data());
}

void Executor::launch(const StepSpec& step, const jit::Body& body, const RunOptions& options, StepState& state,
                      Workspace& w, RunCounts& counts) const {
  counts.bytes_read += state.read;
  counts.bytes_written += state.written;
  jit::Launch& launch = state.launch;
  launch.allow_stream(state.read + state.written >= stream_bytes && !w.in_place);
  state.move();
  const int64_t chunks = launch.chunks();
  if (chunks == 0) return;
  ++counts.launches;

  const size_t each = aligned(launch.scratch_bytes(body));
  if (options.cancelled()) fail(Code::cancelled, "the run was cancelled");
  const uint32_t width = options.parallel ? options.parallel->width() : 1;
  const auto tasks = static_cast<uint32_t>(std::min<int64_t>(chunks, width));
  char* scratch = w.reserve(w.task_scratch, std::max<size_t>(each, 64) * std::max<uint32_t>(tasks, 1));
  if (tasks <= 1) {
    jit::Fault fault;
    for (int64_t c = 0; c < chunks; ++c) {
      if (c > 0 && options.cancelled()) fail(Code::cancelled, "the run was cancelled");
      launch.run_chunk(body, c, scratch, fault);
      if (fault.check != 0) fail_for(fault, step);
    }
    return;
  }
  struct Shared {
    const jit::Launch& launch;
    const jit::Body& body;
    char* scratch;
    size_t each;
    int64_t chunks;
    const RunOptions& options;
    std::atomic<int64_t> next{0};
    // Of the first chunk that has one, so that threads make no difference to the message.
    std::mutex mutex;
    jit::Fault fault{};
    int64_t fault_chunk = INT64_MAX;
  } shared{launch, body, scratch, each, chunks, options};
  // Each task claims chunks until none is left, so any number of tasks may run one after the other.
  options.parallel->run(
      tasks,
      [](void* context, uint32_t task) {
        auto& s = *static_cast<Shared*>(context);
        const FpEnv env;
        for (;;) {
          const int64_t c = s.next.fetch_add(1, std::memory_order_relaxed);
          if (c >= s.chunks || s.options.cancelled()) return;
          jit::Fault fault;
          s.launch.run_chunk(s.body, c, s.scratch + task * s.each, fault);
          if (fault.check == 0) continue;
          const std::lock_guard lock(s.mutex);
          if (c < s.fault_chunk) {
            s.fault = fault;
            s.fault_chunk = c;
          }
        }
      },
      &shared);
  if (shared.fault.check != 0) fail_for(shared.fault, step);
  if (options.cancelled()) fail(Code::cancelled, "the run was cancelled");
}

}  // namespace ingot::runtime
