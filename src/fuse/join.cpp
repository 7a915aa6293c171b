// An op joins the kernels that use it, or is refused.
#include <algorithm>

#include "fuse/load.h"
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

namespace {
// However cheap, an op is not computed under more index maps than this: with each op they may be more.
constexpr size_t max_maps = 4;
}  // namespace

// Adds the op to the kernels that use it; false if its value has to begin a kernel of its own.
bool Planner::join(uint32_t index) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0];
  const std::vector<Use> uses = live_uses(v);
  const std::vector<uint32_t> users = clusters_of(uses);
  if (users.empty()) return false;
  const bool stored = is_output_[v] || must_store_[v];
  if (users.size() > 1) {
    if (!stored && repeats(index, uses) && join_all(index, uses, users)) return true;
    return join_and_store(index, uses, users);
  }
  if (auto why = unfit(index, uses, users[0], stored)) return refuse(users[0], std::move(*why));
  if (stored) return join_and_store(index, uses, users);
  if (inlines(op)) return join_all(index, uses, users);
  return join_fold(index, uses, users[0]);
}

bool Planner::inlines(const ir::Op& op) const {
  const OpClass cls = ir::op_info(op.code)->cls;
  return cls == OpClass::movement || cls == OpClass::elementwise || cls == OpClass::function || fetches(op);
}

// Why the cluster has no room for the op under all maps that it needs it under.
std::optional<Reason> Planner::unfit(uint32_t index, const std::vector<Use>& uses, uint32_t c, bool stored) {
  const ir::Op& op = g_.op(index);
  size_t maps_here = 0;
  for (const Use& u : uses) maps_here += u.cluster == c;
  if (maps_here > max_maps) return Reason{.why = Why::many_maps, .op = index, .number = maps_here, .limit = max_maps};
  if (maps_here > 1 && ir::op_info(op.code)->cls != OpClass::movement) {
    const auto times = static_cast<double>(maps_here);
    if (auto dear = dear_again(index, cone(op.results[0]), {.times = times, .passes = times})) return dear;
  }
  Cluster::Load more = load_of(g_, op, maps_here);
  if (stored) more.stores = store_count(op.results[0]);
  // An op of its own weight joins a kernel that does nothing else yet.
  if (clusters_[c].load.weight == 0) more.weight = std::min(more.weight, options_.kernel_weight);
  return over_limit(sum(clusters_[c].load, more), options_.kernel_weight);
}

// Computes an inlinable op inside every kernel that uses it.
bool Planner::join_all(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users) {
  const ir::Op& op = g_.op(index);
  for (const uint32_t c : users)
    if (auto why = unfit(index, uses, c, false)) return refuse(c, std::move(*why));
  std::vector<std::vector<Read>> reads;
  for (const Use& u : uses) {
    if (auto why = in_dot(index, u)) return refuse(u.cluster, std::move(*why));
    auto r = operand_reads(g_, maps_, op, u.map, {});
    if (!r) return refuse(u.cluster, {.why = Why::no_index_map, .op = index});
    reads.push_back(std::move(*r));
  }
  for (size_t i = 0; i < uses.size(); ++i) compute(index, uses[i].cluster, reads[i], true);
  return true;
}

// Inside the k loop of a dot an operand is computed once for every row or column of the result: only movement is free.
std::optional<Reason> Planner::in_dot(uint32_t index, const Use& u) {
  const OpCode code = g_.op(index).code;
  const Cluster& c = clusters_[u.cluster];
  const bool free = code == OpCode::op_transpose || code == OpCode::op_broadcast || code == OpCode::op_reverse ||
                    code == OpCode::op_slice || code == OpCode::op_reshape || code == OpCode::op_diagonal;
  if (!c.has_dot || free) return std::nullopt;
  uint32_t seen = 0;
  for (const Affine& d : maps_[u.map].dims)
    for (const Term& t : d.terms) seen |= uint32_t{1} << t.axis;
  if (!(seen & c.cols)) return std::nullopt;
  return Reason{.why = Why::dot_operand, .op = index, .theirs = extents(c, c.rows() & ~seen)};
}

// `read` tells whether the value counts as read by the kernel until now.
void Planner::compute(uint32_t index, uint32_t c, const std::vector<Read>& operands, bool read) {
  const ir::Op& op = g_.op(index);
  Cluster& k = clusters_[c];
  Cluster::Load more = load_of(g_, op, 1);
  more.reads = 0;  // counted below, where known ones are seen
  k.load = sum(k.load, more);
  k.load.reads -= read;
  if (fetches(op)) read_memory(op.operands[0], c, {.why = Why::fetched_from, .op = index});
  for (const Read& operand : operands) {
    // A repeated use is dropped where it is cheap to see (live_uses() drops the rest): values used by every op of a
    // large graph must not make this quadratic.
    auto& uses = uses_[operand.value];
    const auto recent = uses.end() - static_cast<ptrdiff_t>(std::min<size_t>(uses.size(), 16));
    const bool known =
        std::any_of(recent, uses.end(), [&](const Use& u) { return find(u.cluster) == c && u.map == operand.map; });
    if (known) continue;
    uses.push_back({c, operand.map});
    read_by_[c].push_back(operand.value);
    k.load.reads += is_load(g_, operand.value);
  }
  auto& in = out_.computed_in[index];
  if (std::find(in.begin(), in.end(), c) == in.end()) in.push_back(c);
}

// Computes and stores the value in one of the kernels that use it; the others read it from memory.
bool Planner::join_and_store(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0];
  for (const Use& u : uses) {
    auto why = unstorable(clusters_[u.cluster], v, u.map, rows_with(clusters_[u.cluster], index, u.map));
    if (!why) why = unfit(index, uses, u.cluster, true);
    for (const uint32_t other : users)
      if (!why && other != u.cluster) why = reaches(other, u.cluster);
    for (const MemoryReader& other : memory_readers_of(v)) {
      if (why) break;
      why = find(other.cluster) == u.cluster ? other.why : reaches(find(other.cluster), u.cluster);
    }
    if (why) {
      refuse(u.cluster, std::move(*why));
      continue;
    }
    std::vector<Use> here;
    for (const Use& o : uses)
      if (o.cluster == u.cluster) here.push_back(o);
    const uint32_t rows = rows_with(clusters_[u.cluster], index, u.map);
    if (!(inlines(op) ? join_all(index, here, {u.cluster}) : join_fold(index, here, u.cluster))) continue;
    for (const uint32_t other : users)
      if (other != u.cluster) refuse(other, why_apart(v, u.cluster, other, uses));
    Cluster& k = clusters_[u.cluster];
    if (k.cols == 0) k.cols = k.all() & ~rows;  // for the fold to come; one that joined has set them
    store(v, u.cluster, u.map, users);
    return true;
  }
  return false;
}

// A fold joins a kernel whose rows are what it keeps and whose cols are, or can become, what it removes.
bool Planner::join_fold(uint32_t index, const std::vector<Use>& uses, uint32_t c) {
  const ir::Op& op = g_.op(index);
  const bool dot = contracts(op);
  const auto no = [&](Why why, std::vector<DimId> own = {}, std::vector<DimId> theirs = {}) {
    return refuse(c, {.why = why, .op = index, .own = std::move(own), .theirs = std::move(theirs)});
  };
  if (uses.size() != 1) return refuse(c, {.why = Why::fold_maps, .op = index, .number = uses.size(), .limit = 1});
  if (ir::op_info(op.code)->cls == OpClass::scan) return join_scan(index, uses[0]);
  const std::vector<DimId> removed = removed_extents(g_, op);
  Cluster& k = clusters_[c];
  if (k.has_dot || (dot && k.cols)) return no(Why::dot_alone);
  const auto axes = kept_axes(k, op, uses[0].map);
  if (!axes) return no(Why::moved);
  const uint32_t kept = mask_of(*axes);
  uint32_t cols = k.cols;
  if (cols == 0 && !dot && kept != k.all()) cols = k.all() & ~kept;
  if (cols == 0) {
    // Its readers see rows only: the removed dims become new axes.
    if (kept != k.all()) return no(Why::other_rows, extents(k, kept), extents(k, k.all()));
    check_axes(op, k.axes.size() + removed.size());
    if (dot && !std::is_sorted(axes->begin(), axes->end())) return no(Why::dot_transposed);
    for (const DimId e : removed) {
      cols |= uint32_t{1} << k.axes.size();
      k.axes.push_back(e);
    }
  } else {
    if (kept != (k.all() & ~cols)) return no(Why::other_rows, extents(k, kept), extents(k, k.all() & ~cols));
    const std::vector<DimId> swept = extents(k, cols);
    if (!std::equal(swept.begin(), swept.end(), removed.begin(), removed.end(),
                    [&](DimId a, DimId b) { return maps_.dims().known_equal(a, b); }))
      return no(Why::other_cols, removed, swept);
  }
  k.cols = cols;
  k.has_dot = dot;
  compute(index, c, *operand_reads(g_, maps_, op, uses[0].map, axes_in(cols)), true);
  return true;
}

// A scan joins a kernel whose cols are, or can become, the one axis that it goes along.
bool Planner::join_scan(uint32_t index, const Use& use) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0];
  Cluster& k = clusters_[use.cluster];
  const auto no = [&](Why why, std::vector<DimId> own = {}, std::vector<DimId> theirs = {}) {
    return refuse(use.cluster, {.why = why, .op = index, .own = std::move(own), .theirs = std::move(theirs)});
  };
  if (k.has_dot) return no(Why::dot_alone);
  const auto axes = plain_axes(k, v, use.map);
  if (!axes) return no(Why::moved);
  if (mask_of(*axes) != k.all()) return no(Why::other_space, g_.value(v).shape, extents(k, k.all()));
  const uint32_t along = (*axes)[static_cast<size_t>(attr(op, "axis").i)];
  if (along == no_axis) return no(Why::scan_unit);
  if (k.cols != 0 && k.cols != uint32_t{1} << along) return no(Why::other_scan, {k.axes[along]}, extents(k, k.cols));
  k.cols = uint32_t{1} << along;
  compute(index, use.cluster, *operand_reads(g_, maps_, op, use.map, {}), true);
  return true;
}

// Of several reasons of one kernel the last one stands.
bool Planner::refuse(uint32_t c, Reason why) {
  const auto at = std::find_if(refused_.begin(), refused_.end(), [&](const auto& r) { return r.first == c; });
  if (at == refused_.end()) refused_.emplace_back(c, std::move(why));
  else at->second = std::move(why);
  return false;
}

}  // namespace ingot::fuse
