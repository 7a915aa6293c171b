// The half of a run that checks the host's tensors: symbols are bound from input shapes, then everything is compared
// with what the graph says. Nothing has been written when one of these throws.
#include <bit>
#include <cstring>

#include "base/error.h"
#include "runtime/overlap.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

constexpr int64_t unset = INT64_MIN;

// Everything about one tensor but its extents' values. `p` receives extents and byte strides. Queries of shapes need no
// data.
void check_tensor(const char* what, size_t i, const IoSpec& spec, const Tensor* t, bool need_data, int32_t device,
                  Place& p) {
  const auto bad = [&](const auto&... why) { fail(Code::invalid_argument, label(what, i, spec), ": ", why...); };
  if (!t) bad("the tensor is NULL");
  const int32_t on = t->device.type;
  if (device == device_cpu && on != device_cpu) bad("device type ", on, ", expected 1 (CPU)");
  if (device == device_cuda && on != device_cpu && on != device_cuda && on != device_cuda_managed)
    bad("device type ", on, ", expected 2 (CUDA), 13 (CUDA managed), or 1 (CPU), which is copied");
  p.device = on;
  const DataType want = spec.dlpack;
  if (t->dtype.code != want.code || t->dtype.bits != want.bits || t->dtype.lanes != want.lanes)
    bad("dtype ", ir::name(from_dlpack(t->dtype)), " (DLPack code ", unsigned{t->dtype.code}, ", ",
        unsigned{t->dtype.bits}, " bits, ", unsigned{t->dtype.lanes}, t->dtype.lanes == 1 ? " lane" : " lanes",
        "), expected ", ir::name(spec.dtype), " (code ", unsigned{want.code}, ", ", unsigned{want.bits},
        " bits, 1 lane)");
  if (t->ndim < 0 || static_cast<size_t>(t->ndim) != spec.shape.size())
    bad("rank ", t->ndim, ", expected ", spec.shape.size());
  if (t->ndim > 0 && !t->shape) bad("shape is NULL");
  const auto item = static_cast<int64_t>(ir::item_size(spec.dtype));
  p.rank = static_cast<uint32_t>(t->ndim);
  int64_t bytes = item, step = item;
  bool empty = false, fits = true;
  for (uint32_t d = p.rank; d-- > 0;) {
    const int64_t extent = t->shape[d];
    if (extent < 0) bad("extent ", extent, " of dim ", d, " is negative");
    p.extent[d] = extent;
    empty = empty || extent == 0;
    // Zero extents count as 1, as they do in a graph: whichever dim is empty, the strides of the others must fit.
    fits = fits && (extent <= 1 || !__builtin_mul_overflow(bytes, extent, &bytes));
  }
  if (!fits) bad("its size overflows 63 bits", empty ? ", its extent of 0 counted as 1" : "");
  p.compact = true;
  for (uint32_t d = p.rank; d-- > 0;) {
    const int64_t extent = p.extent[d];
    p.stride[d] = step;
    if (t->strides && extent > 1) {
      int64_t reach;
      if (__builtin_mul_overflow(t->strides[d], item, &p.stride[d]) ||
          __builtin_mul_overflow(p.stride[d], extent - 1, &reach) || reach > INT64_MAX / 64 ||
          reach < -(INT64_MAX / 64))
        bad("stride ", t->strides[d], " of dim ", d, " overflows");
      p.compact = p.compact && p.stride[d] == step;
    }
    if (extent > 1) step *= extent;
  }
  if (empty) p.compact = true;
  if (need_data && !t->data && !empty) bad("data is NULL but its size is not zero");
  p.empty = empty;
  p.data = static_cast<char*>(t->data) + t->byte_offset;
  p.span = span_of({p.data, static_cast<size_t>(item), p.rank, p.extent, p.stride});
}

}  // namespace

void Executor::bind(std::span<const Tensor* const> ins, bool need_data, Workspace& w) const {
  if (ins.size() != plan_.inputs.size())
    fail(Code::invalid_argument, ins.size(), " inputs given, the graph has ", plan_.inputs.size());
  w.known = false;
  for (const ir::DimId d : plan_.dims.symbols()) w.dims[d] = unset;
  for (size_t i = 0; i < ins.size(); ++i) {
    const IoSpec& spec = plan_.inputs[i];
    Place& p = w.inputs[i];
    // What binds a symbol is read here, so it lies in host memory wherever the plan runs.
    const bool dim = spec.symbol != ir::no_dim;
    check_tensor("input", i, spec, ins[i], need_data || dim, dim ? device_cpu : plan_.device, p);
    if (spec.symbol != ir::no_dim) {
      int64_t v;
      std::memcpy(&v, p.data, sizeof v);
      // Checked here: the value that stands for "not bound yet" must not come from outside.
      if (v < 0)
        fail(Code::invalid_argument, label("input", i, spec), ": ", plan_.dims.to_string(spec.symbol), " is ", v,
             ", and no extent is negative");
      int64_t& bound = w.dims[spec.symbol];
      if (bound != unset && bound != v)
        fail(Code::invalid_argument, label("input", i, spec), ": ", plan_.dims.to_string(spec.symbol), " is ", v,
             " here and ", bound, " before");
      bound = v;
    }
    for (uint32_t d = 0; d < p.rank; ++d) {
      const ir::DimId dim = spec.shape[d];
      if (plan_.dims.kind(dim) != ir::DimKind::symbol) continue;
      int64_t& bound = w.dims[dim];
      if (bound == unset) bound = p.extent[d];
    }
  }
  plan_.dims.evaluate(w.dims);
  for (size_t i = 0; i < ins.size(); ++i) {
    const IoSpec& spec = plan_.inputs[i];
    for (uint32_t d = 0; d < w.inputs[i].rank; ++d)
      if (w.dims[spec.shape[d]] != w.inputs[i].extent[d])
        fail(Code::invalid_argument, label("input", i, spec), ": dim ", d, " is ", w.inputs[i].extent[d], ", expected ",
             plan_.dims.named(spec.shape[d], w.dims));
  }
  plan_.dims.check(w.dims);
}

void Executor::check_outputs(std::span<const Tensor* const> outs, bool need_data, Workspace& w) const {
  if (outs.size() != plan_.outputs.size())
    fail(Code::invalid_argument, outs.size(), " outputs given, the graph has ", plan_.outputs.size());
  for (size_t i = 0; i < outs.size(); ++i) {
    const IoSpec& spec = plan_.outputs[i];
    Place& p = w.outputs[i];
    check_tensor("output", i, spec, outs[i], need_data, plan_.device, p);
    for (uint32_t d = 0; d < p.rank; ++d)
      if (w.dims[spec.shape[d]] != p.extent[d])
        fail(Code::invalid_argument, label("output", i, spec), ": dim ", d, " is ", p.extent[d], ", expected ",
             plan_.dims.named(spec.shape[d], w.dims));
    if (!p.compact && self_overlap({p.data, ir::item_size(spec.dtype), p.rank, p.extent, p.stride}))
      fail(Code::invalid_argument, label("output", i, spec), ": its elements overlap (a stride is zero or too small)");
  }
}

}  // namespace ingot::runtime
