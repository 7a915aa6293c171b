// Which values are stored although kernels could compute them again, because that would cost more.
#include <algorithm>

#include "fuse/cost.h"
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::OpClass;
using ir::ValueId;

Cone Planner::cone(ValueId v) {
  return cone_of(g_, maps_.dims(), v, [&](ValueId at) {
    return is_output_[at] || must_store_[at] || out_.stored_by[at] != no_cluster || out_.alias_of[at] != at;
  });
}

// The reason not to compute an op anew for each of the uses, if memory is cheaper.
std::optional<Reason> Planner::dear_again(uint32_t index, const Cone& cone, const Repeats& repeats) const {
  const ValueId v = g_.op(index).results[0];
  return dearer(cone, static_cast<double>(ir::item_size(g_.value(v).dtype)), repeats, index);
}

// Whether several kernels each compute an op that all of them need; what that would cost is noted where they do not.
bool Planner::repeats(uint32_t index, const std::vector<Use>& uses) {
  const ir::Op& op = g_.op(index);
  if (!inlines(op)) return false;
  if (ir::op_info(op.code)->cls == OpClass::movement) return true;
  const ValueId v = op.results[0];
  const Cone behind = cone(v);
  // A fold joins one of the kernels, and what reads it goes with it.
  if (behind.folds) return false;
  const auto times = static_cast<double>(uses.size());
  const bool joins = std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
    return !unstorable(clusters_[u.cluster], v, u.map, clusters_[u.cluster].rows());
  });
  again_ = dear_again(index, behind, {.times = times, .passes = times, .joins = joins});
  return !again_;
}

// How often a kernel computes an element that it needs under a map: for each index along the axes that the map lacks,
// but that rows without a col are computed once before the lanes.
double Planner::times_computed(const Use& use) {
  const Cluster& c = clusters_[use.cluster];
  uint32_t seen = 0;
  for (const Affine& d : maps_[use.map].dims)
    for (const Term& t : d.terms) seen |= uint32_t{1} << t.axis;
  // The loop of a matrix product is long against what it does once for each of its results.
  if (seen == 0 || c.has_dot) return 1;
  const uint32_t looped = c.cols != 0 && !(seen & c.cols) ? c.rows() : c.all();
  return estimate(maps_.dims(), extents(c, looped & ~seen));
}

// Of a plan that computes all it can where it is needed: the values that are broadcast there, so that elements are
// computed many times, and whose cost is above that of memory. Only the last of a chain: what is behind it is then
// computed where it is.
std::vector<Stored> Planner::dear_broadcasts() {
  std::vector<Stored> out;
  std::vector<bool> needed(g_.value_count(), false);
  for (const ir::Output& o : g_.outputs()) needed[o.value] = true;
  for (size_t i = g_.op_count(); i-- > 0;) {
    const ir::Op& op = g_.op(static_cast<uint32_t>(i));
    const ValueId v = op.results[0];
    if (!needed[v]) continue;
    if (!out_.computed_in[i].empty() && out_.stored_by[v] == no_cluster && inlines(op) &&
        ir::op_info(op.code)->cls != OpClass::movement) {
      const std::vector<Use> uses = live_uses(v);
      double times = 0;
      for (const Use& u : uses) times += times_computed(u);
      if (times > static_cast<double>(uses.size())) {
        // What is behind a broadcast is read from the cache after the first time.
        if (auto why = dear_again(static_cast<uint32_t>(i), cone(v), {.times = times})) {
          out.push_back({v, std::move(*why)});
          continue;
        }
      }
    }
    for (const ValueId a : op.operands) needed[a] = true;
  }
  return out;
}

}  // namespace ingot::fuse
