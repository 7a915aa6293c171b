#include "jit/cuda/launch_plan.h"

#include <algorithm>

#include "jit/cuda/kinds.h"

namespace ingot::jit::cuda {

using loop::Kernel;
using loop::View;
using loop::ViewKind;

namespace {

// Nodes that an entry computes for the items of a pack, all told: beyond that its text takes too long to compile.
constexpr size_t most_packed = 2000;

bool aligned(uintptr_t at, size_t width, size_t item) { return at % std::min<size_t>(16, width * item) == 0; }

// Whether the views are what the linear entry wants: compact over the rows, packs aligned.
bool fits_linear(const Kernel& k, size_t width, const int64_t* sizes, const ViewArg* views) {
  for (size_t v = 0; v < k.views.size(); ++v) {
    if (k.views[v].axes == 0) continue;
    auto step = static_cast<int64_t>(ir::item_size(k.views[v].storage));
    if (!aligned(reinterpret_cast<uintptr_t>(views[v].base), width, static_cast<size_t>(step))) return false;
    for (size_t a = k.rows; a-- > 0;) {
      if (sizes[a] > 1 && views[v].stride[a] != step) return false;
      step *= sizes[a];
    }
  }
  return true;
}

// Whether they are what the packed entry wants: whole, aligned packs along the last axis.
bool fits_packed(const Kernel& k, size_t width, const int64_t* sizes, const ViewArg* views) {
  const size_t last = k.rows - 1u;
  if (sizes[last] % static_cast<int64_t>(width) != 0) return false;
  for (size_t v = 0; v < k.views.size(); ++v) {
    if (!in_packs(k, k.views[v])) continue;
    const size_t item = ir::item_size(k.views[v].storage);
    if (views[v].stride[last] != static_cast<int64_t>(item)) return false;
    if (!aligned(reinterpret_cast<uintptr_t>(views[v].base), width, item)) return false;
    for (size_t a = 0; a < last; ++a)
      if (sizes[a] > 1 && k.views[v].axes >> a & 1 && !aligned(static_cast<uintptr_t>(views[v].stride[a]), width, item))
        return false;
  }
  return true;
}

// Items a thread: 16 bytes of the smallest, at most 64 of the largest.
size_t width_of(size_t smallest, size_t largest) {
  return smallest == 0 ? 0 : std::min<size_t>(16 / smallest, 64 / largest);
}

}  // namespace

size_t linear_width(const Kernel& k) {
  if (k.cols > 0) return 0;
  size_t smallest = 0, largest = 0;
  for (const View& v : k.views) {
    if (!v.boxes.empty() || v.kind == ViewKind::iota || v.kind == ViewKind::inside) return 0;
    if (v.axes == 0) continue;
    if (v.axes != k.row_set()) return 0;
    const size_t item = ir::item_size(v.storage);
    smallest = smallest == 0 ? item : std::min(smallest, item);
    largest = std::max(largest, item);
  }
  const size_t width = width_of(smallest, largest);
  return width > 1 ? width : 0;
}

bool in_packs(const Kernel& k, const View& v) {
  return (v.kind == ViewKind::load || v.kind == ViewKind::store) && v.boxes.empty() && v.axes >> (k.rows - 1u) & 1;
}

size_t packed_width(const Kernel& k) {
  if (k.cols > 0 || k.rows == 0) return 0;
  if (k.rows == 1 && linear_width(k) > 0) return 0;  // the same
  size_t smallest = 0, largest = 0;
  for (const View& v : k.views) {
    if (!in_packs(k, v)) continue;
    const size_t item = ir::item_size(v.storage);
    smallest = smallest == 0 ? item : std::min(smallest, item);
    largest = std::max(largest, item);
  }
  const size_t width = width_of(smallest, largest);
  return width > 1 && width * k.nodes.size() <= most_packed ? width : 0;
}

std::vector<const char*> entry_names(const Kernel& k) {
  const Traits t = traits(k);
  std::vector<const char*> names{"ingot_kernel"};
  switch (t.kind) {
    case Kind::elements:
      if (linear_width(k) > 0) names.push_back("ingot_kernel_linear");
      if (packed_width(k) > 0) names.push_back("ingot_kernel_packed");
      break;
    case Kind::product:
      if (tile_axes(k, t).fits) names.push_back("ingot_kernel_tile");
      break;
    default:
      if (t.kind == Kind::rows && t.scan_count == 0) names.push_back("ingot_kernel_warp");
      if (in_parts(t)) names.insert(names.end(), {"ingot_kernel_parts", "ingot_kernel_join"});
      if (in_walks(t)) names.push_back("ingot_kernel_thread");
  }
  return names;
}

namespace {

class Planner {
 public:
  Planner(const Kernel& k, const int64_t* sizes, const ViewArg* views, const DeviceLimits& limits)
      : k_(k), sizes_(sizes), views_(views), limits_(limits), traits_(traits(k)) {}

  LaunchPlan run() {
    for (size_t a = 0; a < k_.rows; ++a) rows_ *= sizes_[a];
    for (size_t a = k_.rows; a < k_.axis_count(); ++a) n_ *= sizes_[a];
    if (rows_ == 0) return plan_;
    switch (traits_.kind) {
      case Kind::elements: elements(); break;
      case Kind::product: product(); break;
      case Kind::columns: columns(); break;
      default: rows();
    }
    return plan_;
  }

 private:
  static int64_t ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

  // All grids are loops over the work: no more blocks than hide the tail of the last wave.
  void add(uint32_t entry, int64_t blocks) {
    const int64_t most = blocks_each * std::max<int64_t>(limits_.multiprocessors, 1);
    plan_.stages[plan_.count++] = {entry, static_cast<uint32_t>(std::clamp<int64_t>(blocks, 1, most)), block_threads};
  }

  void elements() {
    const size_t linear = linear_width(k_), packed = packed_width(k_);
    const auto width = static_cast<int64_t>(std::max(linear, packed));
    if (linear > 0 && fits_linear(k_, linear, sizes_, views_)) {
      add(1, ceil(rows_ / width + rows_ % width, block_threads));
    } else if (packed > 0 && fits_packed(k_, packed, sizes_, views_)) {
      add(linear > 0 ? 2 : 1, ceil(rows_ / width, block_threads));
    } else {
      add(0, ceil(rows_, block_threads));
    }
  }

  // A tile of which little counts is slower than a thread an element.
  void product() {
    if (const TileAxes tile = tile_axes(k_, traits_); tile.fits) {
      const int64_t high = sizes_[k_.rows - 2], wide = sizes_[k_.rows - 1];
      if (high >= tile_least && wide >= tile_least)
        return add(1, rows_ / high / wide * ceil(high, tile_high(tile.type)) * ceil(wide, tile_side));
    }
    add(0, ceil(rows_, block_threads));
  }

  void columns() {
    const int64_t units = ceil(rows_, warp_threads);
    if (!parts(1, units, 1)) add(0, units);
  }

  void rows() {
    if (traits_.scan_count > 0) return scans();
    if (n_ <= warp_row) add(1, ceil(rows_, block_warps));
    else if (!parts(2, rows_, 8)) add(0, rows_);
  }

  void scans() {
    if (in_walks(traits_) && n_ <= walk_row) return add(1, ceil(rows_, block_threads));
    // Each block in flight has a row of each scan in scratch.
    int64_t row = 0;
    for (const loop::Node& n : k_.nodes)
      if (loop::is_scan(n.op)) row += ceil(n_ * static_cast<int64_t>(ir::item_size(n.type)), 8) * 8;
    const int64_t room = row > 0 ? std::max<int64_t>(scratch_most / row, 1) : rows_;
    const int64_t blocks = std::min({rows_, room, 8 * std::max<int64_t>(limits_.multiprocessors, 1)});
    add(0, blocks);
    plan_.scratch_bytes = static_cast<size_t>(row * blocks);
  }

  // Two stages, where whole rows or columns would leave multiprocessors idle. `entry` is that of the first.
  bool parts(uint32_t entry, int64_t units, int64_t more_than) {
    const int64_t blocks = ceil(n_, 1024);
    if (!in_parts(traits_) || blocks <= more_than || units >= 4 * std::max<int64_t>(limits_.multiprocessors, 1))
      return false;
    const int64_t count = ceil(blocks, part_blocks(traits_.kind, blocks));
    add(entry, units * count);
    add(entry + 1, units);
    plan_.scratch_bytes = static_cast<size_t>(rows_ * count * part_bytes * traits_.fold_count);
    return true;
  }

  static constexpr int64_t walk_row = 256;
  static constexpr int64_t tile_least = 16;
  static constexpr int64_t scratch_most = int64_t{1} << 28;

  const Kernel& k_;
  const int64_t* sizes_;
  const ViewArg* views_;
  const DeviceLimits& limits_;
  const Traits traits_;
  int64_t rows_ = 1, n_ = 1;
  LaunchPlan plan_;
};

}  // namespace

LaunchPlan plan_launch(const Kernel& k, const int64_t* sizes, const ViewArg* views, const DeviceLimits& limits) {
  return Planner(k, sizes, views, limits).run();
}

}  // namespace ingot::jit::cuda
