#include "jit/strip/geometry.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "jit/strip/items.h"
#include "jit/strip/plan.h"
#include "loop/rules.h"

namespace ingot::jit {

using loop::max_axes;
using loop::ViewKind;

namespace {

// The axes of one sort (outer, lane or k) before merging: kernel axes [first, last) with more than one index.
struct Builder {
  const loop::Kernel& kernel;
  const int64_t* sizes;
  const ViewArg* args;
  Geometry& g;
  uint8_t order[max_axes];  // the kernel axes as they are walked, outermost first: rows, then cols
  unsigned count = 0;       // merged axes made so far

  int64_t stride(size_t view, unsigned axis) const {
    const loop::View& v = kernel.views[view];
    return v.kind != ViewKind::inside && (v.axes >> axis & 1) ? args[view].stride[axis] : 0;
  }

  // A view's boxes on one axis as one range; false if they leave nothing. Without a box all is left, be it nothing: the
  // view may not have the axis, and then an empty one is none of its business.
  bool range(const loop::View& view, unsigned axis, int64_t& lo, int64_t& hi) const {
    lo = 0;
    hi = sizes[axis];
    bool boxed = false;
    for (const loop::Box& box : view.boxes)
      if (box.axis == axis) {
        boxed = true;
        lo = std::max(lo, sizes[box.lo]);
        hi = std::min(hi, sizes[box.hi]);
      }
    return lo < hi || !boxed;
  }

  bool cut(const loop::View& view, unsigned axis) const {
    if (view.boxes.empty()) return false;
    int64_t lo, hi;
    range(view, axis, lo, hi);
    return lo > 0 || hi < sizes[axis];
  }

  // Whether kernel axis `axis` can join the merged axis outside it: every view steps evenly over the pair and no box
  // cuts the inner one. Cuts of the outer one scale.
  bool joins(unsigned axis) const {
    for (size_t v = 0; v < kernel.views.size(); ++v)
      if (g.views[v].stride[count - 1] != stride(v, axis) * sizes[axis] || cut(kernel.views[v], axis)) return false;
    return true;
  }

  // Returns how many merged axes the kernel axes at [first, last) of the order gave.
  unsigned merge(unsigned first, unsigned last, unsigned (*cut_axis)[max_axes]) {
    const unsigned start = count;
    for (unsigned i = first; i < last; ++i) {
      const unsigned axis = order[i];
      if (sizes[axis] == 1) continue;
      if (count > start && joins(axis)) {
        g.extent[count - 1] *= sizes[axis];
      } else {
        g.extent[count++] = sizes[axis];
      }
      for (size_t v = 0; v < kernel.views.size(); ++v) g.views[v].stride[count - 1] = stride(v, axis);
      (*cut_axis)[axis] = count - 1;
    }
    return count - start;
  }

  // Rows may be walked in any order. Without cols: as the first store lies in memory, so that a transposed result is
  // written along its lines. With cols: the row along which a view is consecutive goes innermost, if the view is not
  // consecutive along the cols, so that it can be read in tiles.
  void order_rows(bool pointwise) {
    const auto axes = static_cast<unsigned>(kernel.axis_count());
    for (unsigned a = 0; a < axes; ++a) order[a] = static_cast<uint8_t>(a);
    if (pointwise) {
      const size_t v = kernel.stores[0].view;
      const auto step = [&](unsigned a) { return sizes[a] > 1 ? std::abs(stride(v, a)) : 0; };
      for (unsigned i = 1; i < axes; ++i)
        for (unsigned j = i; j > 0 && step(order[j - 1]) < step(order[j]); --j) std::swap(order[j - 1], order[j]);
      return;
    }
    for (size_t v = 0; v < kernel.views.size(); ++v) {
      if (kernel.views[v].kind != ViewKind::load || !(kernel.views[v].axes & kernel.col_set())) continue;
      unsigned inner = axes;
      while (inner > kernel.rows && sizes[inner - 1] == 1) --inner;
      if (inner == kernel.rows || stride(v, inner - 1) == g.views[v].size) continue;
      for (unsigned a = 0; a < kernel.rows; ++a)
        if (sizes[a] > 1 && stride(v, a) == g.views[v].size) {
          std::rotate(order + a, order + a + 1, order + kernel.rows);
          return;
        }
    }
  }
};

// Whether one stride describes a view along axes [first, first + count).
bool linear(const Geometry& g, const ViewPlan& v, unsigned first, unsigned count) {
  for (unsigned a = first; a + 1 < first + count; ++a)
    if (v.stride[a] != v.stride[a + 1] * g.extent[a + 1]) return false;
  return true;
}

Access lane_access(const Geometry& g, const ViewPlan& v) {
  if (v.outside) return Access::splat;
  if (g.lane > 1 && v.lane_cuts) return Access::odometer;
  if (v.kind == ViewKind::inside) return v.lane_cuts ? Access::odometer : Access::splat;
  if (!linear(g, v, g.outer, g.lane)) return Access::odometer;
  const int64_t stride = v.stride[g.outer + g.lane - 1];
  // A single lane has no stride to speak of; as consecutive items it needs no case of its own.
  if (v.kind != ViewKind::iota && g.lanes == 1) return Access::direct;
  if (stride == 0 && v.kind != ViewKind::store) return Access::splat;
  if (v.kind == ViewKind::iota) return Access::strided;
  return stride == v.size ? Access::direct : Access::strided;
}

// Whether, over the linear order of all its lane axes, a view would be copied item by item: it is neither consecutive
// nor one value, nor the same in every row of the innermost axis, which is copied once.
bool copied(const Geometry& g, const loop::View& view, const ViewPlan& plan) {
  if (!view.boxes.empty()) return true;
  if (view.kind == ViewKind::inside) return false;
  const bool repeats = std::all_of(plan.stride, plan.stride + g.lane - 1, [](int64_t s) { return s == 0; });
  if (repeats && view.kind != ViewKind::store) return false;
  return !linear(g, plan, 0, g.lane) || plan.stride[g.lane - 1] != plan.size;
}

// Whether the innermost of several lane axes is walked row by row.
bool by_rows(const Geometry& g, const loop::Kernel& kernel) {
  const int64_t inner = g.extent[g.lane - 1];
  if (inner >= Geometry::row_lanes) return true;
  if (inner < Geometry::least_row_lanes && inner % loop::plain_granule != 0) return false;
  if (inner * std::min(g.extent[g.lane - 2], most_rows) < Geometry::least_tile_lanes) return false;
  for (size_t v = 0; v < g.views.size(); ++v)
    if (copied(g, kernel.views[v], g.views[v])) return true;
  return false;
}

}  // namespace

void Geometry::build(const Program& program, const int64_t* sizes, const ViewArg* args) {
  const loop::Kernel& kernel = program.kernel;
  const bool row_mode = program.schedule.mode == loop::LaneMode::row;
  const bool pointwise = kernel.cols == 0 && !row_mode;
  const unsigned axis_count = static_cast<unsigned>(kernel.axis_count());
  views.resize(kernel.views.size());
  cuts.clear();
  for (size_t v = 0; v < views.size(); ++v) {
    const loop::View& kv = kernel.views[v];
    ViewPlan& plan = views[v];
    plan.base = args[v].base;
    plan.value = args[v].value;
    plan.fill = kv.fill;
    plan.kind = kv.kind;
    plan.size = static_cast<uint8_t>(storage_size(kv.storage));
    plan.outside = false;
    plan.tile = false;
    plan.outer_cuts = plan.lane_cuts = plan.k_cuts = 0;
    plan.strip = plan.tail = 0;
  }

  Builder b{kernel, sizes, args, *this, {}};
  if (row_mode) std::iota(b.order, b.order + axis_count, uint8_t{0});  // the lanes are those of the last row axis
  else b.order_rows(pointwise);
  unsigned at[max_axes];
  const unsigned outer_axes = pointwise ? 0u : row_mode ? std::max<unsigned>(kernel.rows, 1) - 1 : kernel.rows;
  const unsigned lane_end = pointwise || row_mode ? kernel.rows : axis_count;
  outer = b.merge(0, outer_axes, &at);
  lane = b.merge(outer_axes, lane_end, &at);
  if (lane == 0) {
    for (ViewPlan& v : views) v.stride[b.count] = 0;
    extent[b.count++] = 1;
    lane = 1;
  }
  ks = row_mode ? b.merge(kernel.rows, axis_count, &at) : 0;
  if (pointwise && lane > 1 && by_rows(*this, kernel)) {
    outer = lane - 1;
    lane = 1;
  }

  const auto product = [&](unsigned first, unsigned count) {
    int64_t p = 1;
    for (unsigned a = first; a < first + count; ++a) p *= extent[a];
    return p;
  };
  rows = product(0, outer);
  lanes = product(outer, lane);
  k = product(outer + lane, ks);

  const loop::AxisSet lane_set = pointwise  ? kernel.row_set()
                                 : row_mode ? (kernel.rows ? loop::AxisSet{1} << (kernel.rows - 1) : 0)
                                            : kernel.col_set();
  for (size_t v = 0; v < views.size(); ++v) {
    const loop::View& kv = kernel.views[v];
    ViewPlan& plan = views[v];
    plan.first_cut = static_cast<uint32_t>(cuts.size());
    if (!kv.boxes.empty()) {
      for (unsigned i = 0; i < axis_count; ++i) {
        const unsigned axis = b.order[i];
        int64_t lo, hi;
        if (!b.range(kv, axis, lo, hi)) plan.outside = true;
        if (lo == 0 && hi == sizes[axis]) continue;
        if (sizes[axis] == 1) continue;  // a cut of a single index leaves nothing: `outside` says so
        // The axes merged into this one from the inside scale the range.
        const unsigned m = at[axis];
        int64_t scale = 1;
        for (unsigned j = i + 1; j < axis_count && (sizes[b.order[j]] == 1 || at[b.order[j]] == m); ++j)
          scale *= sizes[b.order[j]];
        cuts.push_back({static_cast<uint8_t>(m), lo * scale, hi * scale});
        ++(m < outer ? plan.outer_cuts : m < outer + lane ? plan.lane_cuts : plan.k_cuts);
      }
    }
    // Without cols every store has lanes, those of a kernel without rows included: it has one.
    const bool lanes_here = (kv.axes & lane_set) || (kv.kind == ViewKind::store && lane_end == kernel.rows);
    plan.access = lanes_here ? lane_access(*this, plan) : Access::uniform;
    const bool staged =
        plan.access == Access::odometer || (kv.kind == ViewKind::iota && plan.access == Access::strided);
    plan.still = plan.access == Access::splat && !plan.outside && !plan.lane_cuts && !plan.outer_cuts &&
                 loop::may_stand_still(kernel, kv);
    plan.periodic = staged && !plan.outer_cuts && !plan.lane_cuts && kv.kind != ViewKind::store;
    for (unsigned a = 0; a + 1 < outer + lane; ++a) plan.periodic &= plan.stride[a] == 0;
  }
}

}  // namespace ingot::jit
