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

// Where two kernels read every element of a value under plain maps they go over the same elements: for each axis of b's
// the one of a's.
std::optional<std::vector<uint32_t>> Planner::same_axes(ValueId v, const Use& a, const Use& b) {
  const Cluster& x = clusters_[a.cluster];
  const Cluster& y = clusters_[b.cluster];
  const auto own = plain_axes(x, v, a.map), theirs = plain_axes(y, v, b.map);
  if (!own || !theirs || mask_of(*own) != x.all() || mask_of(*theirs) != y.all()) return std::nullopt;
  std::vector<uint32_t> to(y.axes.size());
  for (size_t d = 0; d < own->size(); ++d) {
    if (((*own)[d] == no_axis) != ((*theirs)[d] == no_axis)) return std::nullopt;
    if ((*own)[d] != no_axis) to[(*theirs)[d]] = (*own)[d];
  }
  // A kernel has its rows first and then its cols, so how the two interleave in a cluster is all the same. Nothing else
  // is: the order of cols is that of sums, and lanes lie along the last axis.
  if (std::is_sorted(to.begin(), to.end())) return to;
  const auto kept = [&](uint32_t axes) {
    const std::vector<uint32_t> list = axes_in(axes);
    return std::is_sorted(list.begin(), list.end(), [&](uint32_t i, uint32_t j) { return to[i] < to[j]; });
  };
  const auto in_order = [](std::vector<uint32_t> axes) {
    std::erase(axes, no_axis);
    return std::is_sorted(axes.begin(), axes.end());
  };
  if (!kept(y.cols) || (x.cols != 0 && y.cols != 0 && !kept(y.rows()))) return std::nullopt;
  // One without cols is to follow the memory of the value, then it does so still.
  if ((x.cols == 0 && !in_order(*own)) || (y.cols == 0 && !in_order(*theirs))) return std::nullopt;
  return to;
}

// Why two kernels cannot be one, the second one's axes being those of the first.
std::optional<Reason> Planner::unmergeable(uint32_t a, uint32_t b, std::span<const uint32_t> to) {
  const Cluster& x = clusters_[a];
  const Cluster& y = clusters_[b];
  if (x.has_dot || y.has_dot) return Reason{.why = Why::apart_dot};
  if (x.cols != 0 && y.cols != 0 && x.cols != renamed(y.cols, to))
    return Reason{.why = Why::apart_sweep, .own = extents(x, x.cols), .theirs = extents(y, y.cols)};
  if (auto full = over_limit(sum(x.load, y.load), options_.kernel_weight)) return full;
  if (auto cycle = reaches(a, b)) return cycle;
  return reaches(b, a);
}

uint32_t Planner::renamed(uint32_t mask, std::span<const uint32_t> to) {
  uint32_t out = 0;
  for (const uint32_t a : axes_in(mask)) out |= uint32_t{1} << to[a];
  return out;
}

// Gives the axes of a kernel other numbers.
void Planner::rename_axes(uint32_t c, std::span<const uint32_t> to) {
  Cluster& k = clusters_[c];
  std::vector<DimId> axes(k.axes.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[to[i]] = k.axes[i];
  k.axes = std::move(axes);
  k.cols = renamed(k.cols, to);
  for (Cluster::Root& r : k.roots) r.map = maps_.rename(r.map, to);
  std::vector<ValueId>& read = read_by_[c];
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  for (const ValueId v : read)
    for (Use& u : uses_[v])
      if (find(u.cluster) == c) u.map = maps_.rename(u.map, to);
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
  read_by_[a].insert(read_by_[a].end(), read_by_[b].begin(), read_by_[b].end());
  read_by_[b] = {};
  parent_[b] = a;
  return a;
}

// Merges the kernels that read all of a value, so that it is read (or computed) once.
void Planner::merge_readers(ValueId v) {
  std::vector<Use> uses = live_uses(v);
  if (uses.size() < 2 || uses.size() > merge_limit) return;
  for (size_t i = 0; i < uses.size(); ++i) {
    for (size_t j = i + 1; j < uses.size(); ++j) {
      const Use a{find(uses[i].cluster), uses[i].map}, b{find(uses[j].cluster), uses[j].map};
      if (a.cluster == b.cluster) continue;
      const auto to = same_axes(v, a, b);
      if (!to || unmergeable(a.cluster, b.cluster, *to)) continue;
      const bool renames = !std::is_sorted(to->begin(), to->end());
      if (renames) rename_axes(b.cluster, *to);
      merge(a.cluster, b.cluster);
      if (!renames) continue;
      // The maps at hand are no longer those of the kernels.
      uses = live_uses(v);
      i = static_cast<size_t>(-1);
      break;
    }
  }
}

// Why two kernels that read a value stay two, or nothing if they can be one.
std::optional<Reason> Planner::apart(ValueId v, const Use& a, const Use& b) {
  if (const auto to = same_axes(v, a, b)) return unmergeable(a.cluster, b.cluster, *to);
  const Cluster& x = clusters_[a.cluster];
  const Cluster& y = clusters_[b.cluster];
  if (x.axes.size() == y.axes.size()) return Reason{.why = Why::apart_maps};
  return Reason{.why = Why::apart_space, .own = extents(x, x.all()), .theirs = extents(y, y.all())};
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

// An input that several kernels read lies in memory anyway, so no edge tells why it is read again.
void Planner::note_shared_input(ValueId v) {
  const std::vector<Use> uses = live_uses(v);
  const std::vector<uint32_t> users = clusters_of(uses);
  for (size_t i = 1; i < users.size() && i < merge_limit; ++i)
    out_.shared.push_back({users[0], users[i], v, why_apart(v, users[0], users[i], uses)});
}

}  // namespace ingot::fuse
