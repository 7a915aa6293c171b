#include "jit/cuda/args.h"

#include <algorithm>

namespace ingot::jit::cuda {

ArgLayout::ArgLayout(const loop::Kernel& kernel)
    : sizes_(std::max<size_t>(kernel.sizes, 1)),
      views_(std::max<size_t>(kernel.views.size(), 1)),
      axes_(std::max<size_t>(kernel.axis_count(), 1)),
      view_words_(2 + axes_),
      fault_(std::any_of(kernel.nodes.begin(), kernel.nodes.end(),
                         [](const loop::Node& n) { return n.op == loop::Prim::check; })) {
  bytes_ = 8 * (sizes_ + views_ * view_words_ + (fault_ ? 1 : 0) + 1);
}

void ArgLayout::pack(const int64_t* sizes, const ViewArg* views, uint64_t fault, uint64_t scratch,
                     uint64_t* out) const {
  for (size_t i = 0; i < sizes_; ++i) *out++ = static_cast<uint64_t>(sizes[i]);
  for (size_t v = 0; v < views_; ++v) {
    *out++ = reinterpret_cast<uintptr_t>(views[v].base);
    *out++ = static_cast<uint64_t>(views[v].value);
    for (size_t a = 0; a < axes_; ++a) *out++ = static_cast<uint64_t>(views[v].stride[a]);
  }
  if (fault_) *out++ = fault;
  *out = scratch;
}

}  // namespace ingot::jit::cuda
