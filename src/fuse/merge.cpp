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

bool Planner::reaches(uint32_t from, uint32_t to) {
  std::vector<uint32_t> stack{from};
  std::vector<uint32_t> seen{from};
  while (!stack.empty()) {
    const uint32_t c = stack.back();
    stack.pop_back();
    for (const uint32_t next : clusters_[c].after) {
      const uint32_t n = find(next);
      if (n == to) return true;
      if (std::find(seen.begin(), seen.end(), n) != seen.end()) continue;
      if (seen.size() >= reach_limit) return true;  // not known: the safe answer forbids the merge
      seen.push_back(n);
      stack.push_back(n);
    }
  }
  return false;
}

bool Planner::mergeable(uint32_t a, uint32_t b) {
  const Cluster& x = clusters_[a];
  const Cluster& y = clusters_[b];
  if (x.has_dot || y.has_dot || x.axes.size() != y.axes.size()) return false;
  if (x.cols != y.cols && x.cols != 0 && y.cols != 0) return false;
  if (!within_limits(x, y.load)) return false;
  for (size_t i = 0; i < x.axes.size(); ++i)
    if (!maps_.dims().known_equal(x.axes[i], y.axes[i])) return false;
  return !reaches(a, b) && !reaches(b, a);
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
      const uint32_t a = find(uses[i].cluster), b = find(uses[j].cluster);
      if (a == b || uses[i].map != uses[j].map) continue;
      const auto axes = plain_axes(clusters_[a], v, uses[i].map);
      if (axes && mask_of(*axes) == clusters_[a].all() && mergeable(a, b)) merge(a, b);
    }
  }
}

}  // namespace ingot::fuse
