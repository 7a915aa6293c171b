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

// A kernel can store what covers all its rows, and all of its cols or none; those of a matrix product never.
std::optional<Reason> Planner::unstorable(const Cluster& c, ValueId v, MapId map) {
  const uint32_t op = g_.value(v).source;
  const auto axes = plain_axes(c, v, map);
  if (!axes) return Reason{.why = Why::moved, .op = op};
  const uint32_t mask = mask_of(*axes);
  if (mask == c.rows()) return std::nullopt;
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
