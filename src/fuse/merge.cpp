// Kernels over the same space become one, so that what they read is read once.
#include <algorithm>

#include "fuse/load.h"
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::ValueId;

namespace {
// Clusters looked at before a merge is given up: keeps planning near linear.
constexpr size_t reach_limit = 256;
// Readers of one value considered for merging, pair by pair.
constexpr size_t merge_limit = 64;
}  // namespace

uint32_t Planner::find(uint32_t c) {
  while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
  return c;
}

std::vector<Use> Planner::live_uses(ValueId v) {
  std::vector<Use> out = uses_[v];
  for (Use& u : out) u.cluster = find(u.cluster);
  std::sort(out.begin(), out.end(),
            [](const Use& a, const Use& b) { return std::pair(a.cluster, a.map) < std::pair(b.cluster, b.map); });
  out.erase(std::unique(out.begin(), out.end(),
                        [](const Use& a, const Use& b) { return a.cluster == b.cluster && a.map == b.map; }),
            out.end());
  return out;
}

std::vector<uint32_t> Planner::clusters_of(const std::vector<Use>& uses) {
  std::vector<uint32_t> out;  // uses are sorted by cluster
  for (const Use& u : uses)
    if (out.empty() || out.back() != u.cluster) out.push_back(u.cluster);
  return out;
}

// Whether `to` comes after `from`, as the reason that this would be.
std::optional<Reason> Planner::reaches(uint32_t from, uint32_t to) {
  std::vector<uint32_t> stack{from};
  std::vector<uint32_t> seen{from};
  while (!stack.empty()) {
    const uint32_t c = stack.back();
    stack.pop_back();
    for (const uint32_t next : clusters_[c].after) {
      const uint32_t n = find(next);
      if (n == to) return Reason{.why = Why::cycle};
      if (std::find(seen.begin(), seen.end(), n) != seen.end()) continue;
      // Not known: the safe answer forbids the merge.
      if (seen.size() >= reach_limit) return Reason{.why = Why::far, .limit = reach_limit};
      seen.push_back(n);
      stack.push_back(n);
    }
  }
  return std::nullopt;
}

// Why two kernels cannot be one; their axes are the same in number and order.
std::optional<Reason> Planner::unmergeable(uint32_t a, uint32_t b) {
  const Cluster& x = clusters_[a];
  const Cluster& y = clusters_[b];
  if (x.has_dot || y.has_dot) return Reason{.why = Why::apart_dot};
  bool same = x.axes.size() == y.axes.size();
  for (size_t i = 0; same && i < x.axes.size(); ++i) same = maps_.dims().known_equal(x.axes[i], y.axes[i]);
  if (!same) return Reason{.why = Why::apart_space, .own = extents(x, x.all()), .theirs = extents(y, y.all())};
  if (x.cols != y.cols && x.cols != 0 && y.cols != 0)
    return Reason{.why = Why::apart_sweep, .own = extents(x, x.cols), .theirs = extents(y, y.cols)};
  if (auto full = over_limit(sum(x.load, y.load), options_.kernel_weight)) return full;
  if (auto cycle = reaches(a, b)) return cycle;
  return reaches(b, a);
}

// Why two kernels that read a value stay two, or nothing if they can be one.
std::optional<Reason> Planner::apart(ValueId v, const Use& a, const Use& b) {
  const auto axes = plain_axes(clusters_[a.cluster], v, a.map);
  if (a.map == b.map && axes && mask_of(*axes) == clusters_[a.cluster].all()) return unmergeable(a.cluster, b.cluster);
  const Cluster& x = clusters_[a.cluster];
  const Cluster& y = clusters_[b.cluster];
  const std::vector<DimId> own = extents(x, x.all()), theirs = extents(y, y.all());
  if (own.size() != theirs.size()) return Reason{.why = Why::apart_space, .own = own, .theirs = theirs};
  return Reason{.why = Why::apart_maps};
}

uint32_t Planner::merge(uint32_t a, uint32_t b) {
  if (b < a) std::swap(a, b);
  Cluster& x = clusters_[a];
  Cluster& y = clusters_[b];
  x.cols |= y.cols;
  x.load = sum(x.load, y.load);
  x.roots.insert(x.roots.end(), y.roots.begin(), y.roots.end());
  x.after.insert(x.after.end(), y.after.begin(), y.after.end());
  y = {};
  parent_[b] = a;
  return a;
}

// Merges the kernels that read a value under one map, so that it is read (or computed) once.
void Planner::merge_readers(ValueId v) {
  std::vector<Use> uses = live_uses(v);
  if (uses.size() < 2 || uses.size() > merge_limit) return;
  for (size_t i = 0; i < uses.size(); ++i) {
    for (size_t j = i + 1; j < uses.size(); ++j) {
      const Use a{find(uses[i].cluster), uses[i].map}, b{find(uses[j].cluster), uses[j].map};
      if (a.cluster != b.cluster && !apart(v, a, b)) merge(a.cluster, b.cluster);
    }
  }
}

// What keeps apart two kernels that merge_readers() did not make one.
Reason Planner::why_apart(ValueId v, uint32_t a, uint32_t b, const std::vector<Use>& uses) {
  if (uses.size() > merge_limit) return {.why = Why::apart_many, .number = uses.size(), .limit = merge_limit};
  std::optional<Reason> out;
  for (const Use& x : uses) {
    for (const Use& y : uses) {
      if (x.cluster != a || y.cluster != b) continue;
      const auto why = apart(v, x, y);
      // Those that read it alike tell more than those that do not.
      if (why && (!out || out->why == Why::apart_maps)) out = why;
    }
  }
  // Merges since then may have brought near what was too far.
  return out.value_or(Reason{.why = Why::far, .limit = reach_limit});
}

}  // namespace ingot::fuse
