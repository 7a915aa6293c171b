// Index maps that name kernel axes plainly: what a kernel can store, and which of its axes a fold keeps.
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::ValueId;

std::optional<std::vector<uint32_t>> Planner::plain_axes(const Cluster& c, ValueId v, MapId id) {
  const Map& m = maps_[id];
  if (!m.boxes.empty()) return std::nullopt;
  std::vector<uint32_t> out;
  uint32_t seen = 0;
  for (size_t d = 0; d < m.dims.size(); ++d) {
    const Affine& a = m.dims[d];
    if (!maps_.dims().is_constant(a.offset, 0)) return std::nullopt;
    if (a.terms.empty()) {
      if (!maps_.dims().is_constant(g_.value(v).shape[d], 1)) return std::nullopt;
      out.push_back(no_axis);
      continue;
    }
    const Term& t = a.terms[0];
    if (a.terms.size() > 1 || !maps_.dims().is_constant(t.coef, 1) || (seen >> t.axis & 1) ||
        !maps_.dims().known_equal(g_.value(v).shape[d], c.axes[t.axis]))
      return std::nullopt;
    seen |= uint32_t{1} << t.axis;
    out.push_back(t.axis);
  }
  return out;
}

uint32_t Planner::mask_of(const std::vector<uint32_t>& axes) {
  uint32_t mask = 0;
  for (const uint32_t a : axes)
    if (a != no_axis) mask |= uint32_t{1} << a;
  return mask;
}

// What the rows of a kernel without cols are to be once this op joins it and its result is stored: what a fold keeps,
// or what a value varies along that a fold is behind. Then the kernel gets its cols before the fold (repeat.cpp weighs
// computing again by folds as well), which has to come: keeps_promises(). Not where memory runs along the rows, since
// lanes would stride.
uint32_t Planner::rows_with(const Cluster& c, uint32_t index, MapId map) {
  const ir::Op& op = g_.op(index);
  const bool fold = ir::op_info(op.code)->cls == ir::OpClass::reduce;
  if (c.cols != 0 || c.axes.empty() || !(fold || (promises_ && inlines(op)))) return c.rows();
  const auto kept = fold ? kept_axes(c, op, map) : plain_axes(c, op.results[0], map);
  if (!kept) return c.rows();
  const uint32_t rows = mask_of(*kept);
  if (rows == c.all() || rows >> (c.axes.size() - 1) & 1 || (!fold && !cone(op.results[0]).folds)) return c.rows();
  return rows;
}

// Whether every kernel with cols has a fold or scan to go over them.
bool Planner::keeps_promises() {
  std::vector<bool> folds(clusters_.size(), false);
  for (size_t i = 0; i < g_.op_count(); ++i) {
    const ir::Op& op = g_.op(static_cast<uint32_t>(i));
    const ir::OpClass cls = ir::op_info(op.code)->cls;
    if (cls != ir::OpClass::reduce && cls != ir::OpClass::scan && !contracts(op)) continue;
    for (const uint32_t c : out_.computed_in[i]) folds[find(c)] = true;
  }
  for (uint32_t c = 0; c < clusters_.size(); ++c)
    if (parent_[c] == c && clusters_[c].cols != 0 && !folds[c]) return false;
  return true;
}

// A kernel can store what covers all its rows, and all of its cols or none; those of a matrix product never.
std::optional<Reason> Planner::unstorable(const Cluster& c, ValueId v, MapId map, uint32_t rows) {
  const uint32_t op = g_.value(v).source;
  const auto axes = plain_axes(c, v, map);
  if (!axes) return Reason{.why = Why::moved, .op = op};
  const uint32_t mask = mask_of(*axes);
  if (mask == rows) return std::nullopt;
  if (mask != c.all())
    return Reason{.why = Why::other_space, .op = op, .own = g_.value(v).shape, .theirs = extents(c, c.all())};
  if (c.has_dot) return Reason{.why = Why::apart_dot};
  return std::nullopt;
}

std::vector<DimId> Planner::extents(const Cluster& c, uint32_t mask) {
  std::vector<DimId> out;
  for (const uint32_t a : axes_in(mask)) out.push_back(c.axes[a]);
  return out;
}

// plain_axes of the dims a fold keeps; the unit dims of keepdims do not count.
std::optional<std::vector<uint32_t>> Planner::kept_axes(const Cluster& c, const ir::Op& op, MapId id) {
  const ValueId v = op.results[0];
  if (contracts(op) || attr(op, "keepdims").i == 0) return plain_axes(c, v, id);
  Map m = maps_[id];
  for (const int64_t a : attr(op, "axes").ints) m.dims[static_cast<size_t>(a)] = {maps_.zero(), {}};
  return plain_axes(c, v, maps_.intern(std::move(m)));
}

}  // namespace ingot::fuse
