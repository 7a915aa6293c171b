// One step of a plan: prepared for the tensors at hand, then launched, by one thread or by several.
#include <algorithm>

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

void Executor::prepare(const StepSpec& step, StepState& state, Workspace& w) const {
  const loop::Kernel& kernel = step.program->kernel;
  for (size_t i = 0; i < step.sizes.size(); ++i) w.sizes[i] = w.dims[step.sizes[i]];
  const size_t axes = kernel.axis_count();
  state.origins.assign(step.views.size(), {});
  state.read = state.written = 0;
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
    state.origins[v].place = p;
    Place alias;
    if (b.compact) {
      alias.rank = static_cast<uint32_t>(b.shape.size());
      for (uint32_t d = 0; d < alias.rank; ++d) alias.extent[d] = w.dims[b.shape[d]];
      make_compact(alias, ir::item_size(kernel.views[v].storage));
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
    uint64_t bytes = ir::item_size(kernel.views[v].storage);
    for (size_t a = 0; a < axes; ++a)
      if (kernel.views[v].axes >> a & 1) bytes *= static_cast<uint64_t>(w.sizes[a]);
    (kernel.views[v].kind == ViewKind::store ? state.written : state.read) += bytes;
  }
  state.launch.prepare(*step.program, w.sizes.data(), w.views.data());
}

void Executor::launch(const jit::Body& body, const RunOptions& options, StepState& state, Workspace& w,
                      RunCounts& counts) const {
  counts.bytes_read += state.read;
  counts.bytes_written += state.written;
  jit::Launch& launch = state.launch;
  launch.allow_stream(state.read + state.written >= stream_bytes && !w.in_place);
  state.move();
  const int64_t chunks = launch.chunks();
  if (chunks == 0) return;
  ++counts.launches;

  const size_t each = aligned(launch.scratch_bytes(body));
  const auto cancelled = [&] { return options.cancel && options.cancel->load(std::memory_order_relaxed) != 0; };
  if (cancelled()) fail(Code::cancelled, "the run was cancelled");
  const uint32_t width = options.parallel ? options.parallel->width() : 1;
  const auto tasks = static_cast<uint32_t>(std::min<int64_t>(chunks, width));
  char* scratch = w.reserve(w.task_scratch, std::max<size_t>(each, 64) * std::max<uint32_t>(tasks, 1));
  if (tasks <= 1) {
    for (int64_t c = 0; c < chunks; ++c) {
      if (c > 0 && cancelled()) fail(Code::cancelled, "the run was cancelled");
      launch.run_chunk(body, c, scratch);
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
  } shared{launch, body, scratch, each, chunks, options.cancel};
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

}  // namespace ingot::runtime
