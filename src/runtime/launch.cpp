// One step of a plan, prepared for the tensors at hand.
#include <algorithm>

#include "base/error.h"
#include "runtime/fp_env.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

using loop::RefKind;
using loop::ViewKind;

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

void Executor::bind_views(const StepSpec& step, StepState& state, Workspace& w) const {
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
  state.read = state.written = state.footprint = 0;
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
}

void Executor::prepare(const StepSpec& step, StepState& state, Workspace& w) const {
  bind_views(step, state, w);
  state.launch.prepare(*step.program, w.sizes.data(), w.views.data());
}

}  // namespace ingot::runtime
