#include "jit/cuda/launch_plan.h"

#include <algorithm>

namespace ingot::jit::cuda {

using loop::Kernel;
using loop::Prim;
using loop::View;
using loop::ViewKind;

namespace {

constexpr uint32_t block_threads = 256;
// Blocks for each multiprocessor, all grids being loops: enough to hide the tail of the last wave.
constexpr uint64_t blocks_each = 32;

bool any_node(const Kernel& k, bool (*is)(const loop::Node&)) {
  return std::any_of(k.nodes.begin(), k.nodes.end(), is);
}

// Whether the views are what the linear entry wants: compact over the rows, 16-byte aligned.
bool fits_linear(const Kernel& k, const int64_t* sizes, const ViewArg* views) {
  for (size_t v = 0; v < k.views.size(); ++v) {
    if (k.views[v].axes == 0) continue;
    auto step = static_cast<int64_t>(ir::item_size(k.views[v].storage));
    if (reinterpret_cast<uintptr_t>(views[v].base) % 16 != 0) return false;
    for (size_t a = k.rows; a-- > 0;) {
      if (sizes[a] > 1 && views[v].stride[a] != step) return false;
      step *= sizes[a];
    }
  }
  return true;
}

}  // namespace

size_t linear_width(const Kernel& k) {
  if (k.cols > 0) return 0;
  size_t item = 0;
  for (const View& v : k.views) {
    if (!v.boxes.empty() || v.kind == ViewKind::iota || v.kind == ViewKind::inside) return 0;
    if (v.axes == 0) continue;
    const size_t own = ir::item_size(v.storage);
    if (v.axes != k.row_set() || (item != 0 && own != item)) return 0;
    item = own;
  }
  return item == 0 || item == 16 ? 0 : 16 / item;
}

std::vector<const char*> entry_names(const Kernel& k) {
  std::vector<const char*> names{"ingot_kernel"};
  if (linear_width(k) > 0) names.push_back("ingot_kernel_linear");
  return names;
}

LaunchPlan plan_launch(const Kernel& k, const int64_t* sizes, const ViewArg* views, const DeviceLimits& limits) {
  LaunchPlan plan;
  uint64_t rows = 1;
  for (size_t a = 0; a < k.rows; ++a) rows *= static_cast<uint64_t>(sizes[a]);
  if (rows == 0) return plan;
  const bool dot = any_node(k, [](const loop::Node& n) { return n.op == Prim::fold_dot; });
  const bool scan = any_node(k, [](const loop::Node& n) { return loop::is_scan(n.op); });
  const uint64_t most = blocks_each * limits.multiprocessors;
  const auto add = [&](uint32_t entry, uint64_t blocks) {
    plan.stages[plan.count++] = {entry, static_cast<uint32_t>(std::clamp<uint64_t>(blocks, 1, most)), block_threads};
  };
  const auto groups = [](uint64_t threads) { return (threads + block_threads - 1) / block_threads; };
  if (k.cols > 0 && !dot && !scan) {
    add(0, rows);
  } else if (const size_t width = linear_width(k); width > 0 && fits_linear(k, sizes, views)) {
    add(1, groups(rows / width + rows % width));
  } else {
    add(0, groups(rows));
  }
  return plan;
}

}  // namespace ingot::jit::cuda
