// The short way into a run: tensors that fit as those of the last run did, wherever they lie now, need no check of
// shapes against the graph, no dim arithmetic and no new geometry. Whatever is not plainly alike goes the long way,
// which also makes the messages.
#include <bit>
#include <cstring>

#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

// Whether `t` is as the tensor that `p` was made of; then `p` is moved to where it lies.
bool fits(const Tensor* t, bool need_data, Place& p) noexcept {
  if (!t || t->device.type != p.device || std::bit_cast<uint32_t>(t->dtype) != std::bit_cast<uint32_t>(p.type) ||
      t->ndim != static_cast<int32_t>(p.rank) || (p.rank > 0 && !t->shape))
    return false;
  for (uint32_t d = 0; d < p.rank; ++d)
    if (t->shape[d] != p.extent[d]) return false;
  if (t->strides) {
    const auto item = static_cast<int64_t>(p.item);
    for (uint32_t d = 0; d < p.rank; ++d) {
      int64_t bytes;
      if (p.extent[d] > 1 && (__builtin_mul_overflow(t->strides[d], item, &bytes) || bytes != p.stride[d]))
        return false;
    }
  } else if (!p.compact) {
    return false;
  }
  if (need_data && !t->data && !p.empty) return false;
  char* const data = static_cast<char*>(t->data) + t->byte_offset;
  const auto moved = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(p.data);
  p.span.lo += moved;
  p.span.hi += moved;
  p.data = data;
  return true;
}

}  // namespace

bool Executor::recall_inputs(std::span<const Tensor* const> ins, bool need_data, Workspace& w) const noexcept {
  if (ins.size() != w.inputs.size()) return false;
  for (size_t i = 0; i < ins.size(); ++i) {
    const ir::DimId symbol = plan_.inputs[i].symbol;
    if (!fits(ins[i], need_data || symbol != ir::no_dim, w.inputs[i])) return false;
    if (symbol != ir::no_dim && std::memcmp(w.inputs[i].data, &w.dims[symbol], sizeof(int64_t)) != 0) return false;
  }
  return true;
}

bool Executor::recall(std::span<const Tensor* const> ins, std::span<const Tensor* const> outs,
                      Workspace& w) const noexcept {
  if (outs.size() != w.outputs.size() || !recall_inputs(ins, true, w)) return false;
  for (size_t o = 0; o < outs.size(); ++o)
    if (!fits(outs[o], true, w.outputs[o])) return false;
  const bool ordered = w.ordered;
  w.in_place = w.ordered = false;
  if (outputs_apart(w)) return !ordered;
  return overlaps_fit(w) && w.ordered == ordered;
}

}  // namespace ingot::runtime
