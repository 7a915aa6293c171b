#include "jit/cuda/kinds.h"

#include <algorithm>

namespace ingot::jit::cuda {

using loop::Kernel;
using loop::Node;
using loop::Prim;

Traits traits(const Kernel& k) {
  Traits t;
  bool dot = false;
  uint8_t level[loop::max_nodes];
  for (size_t i = 0; i < k.nodes.size(); ++i) {
    const Node& n = k.nodes[i];
    uint8_t own = 0;
    for (const loop::NodeId a : n.arg)
      if (a != loop::no_node) own = std::max(own, level[a]);
    if (loop::ends_sweep(n.op)) {
      own = std::min<uint8_t>(static_cast<uint8_t>(own + 1), 2);
      if (n.op == Prim::fold_dot) dot = true;
      else t.folds |= loop::is_fold(n.op);
      if (loop::is_fold(n.op)) ++t.fold_count;
      if (loop::is_scan(n.op)) {
        ++t.scan_count;
        t.scan_directions |= n.imm & loop::scan_reverse ? 2 : 1;
      }
    }
    t.checks |= n.op == Prim::check;
    t.levels = std::max(t.levels, own);
    level[i] = own;
  }
  for (const loop::Store& s : k.stores) t.stores_along |= (k.views[s.view].axes & k.col_set()) != 0;
  t.kind = k.cols == 0 ? Kind::elements : dot ? Kind::product : k.row_lanes ? Kind::columns : Kind::rows;
  return t;
}

bool in_parts(const Traits& t) {
  return (t.kind == Kind::rows || t.kind == Kind::columns) && t.levels == 1 && t.scan_count == 0 && !t.stores_along;
}

bool in_walks(const Traits& t) {
  return t.kind == Kind::rows && t.scan_count > 0 && !t.folds && t.scan_directions != 3;
}

TileAxes tile_axes(const Kernel& k, const Traits& t) {
  if (t.kind != Kind::product || t.fold_count != 1 || k.rows < 2) return {};
  const auto dot = std::find_if(k.nodes.begin(), k.nodes.end(), [](const Node& n) { return loop::is_fold(n.op); });
  if (!ir::is_float(dot->type)) return {};
  const loop::AxisSet last = loop::AxisSet{1} << (k.rows - 1), before = last >> 1;
  const loop::AxisSet first = k.nodes[dot->arg[0]].axes, second = k.nodes[dot->arg[1]].axes;
  if (!(first & last) && !(second & before)) return {true, false, dot->type};
  if (!(first & before) && !(second & last)) return {true, true, dot->type};
  return {};
}

}  // namespace ingot::jit::cuda
