// An op joins the kernels that use it, or is refused.
#include <algorithm>

#include "fuse/load.h"
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

namespace {
// An expensive op is not computed under several index maps; a cheap one at most under this many.
constexpr size_t max_maps = 4;
constexpr uint32_t cheap_weight = 4;
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
    // Free ops and those that read one tensor are repeated rather than stored.
    const bool movement = ir::op_info(op.code)->cls == OpClass::movement;
    if (!stored && (movement || reads_little(op)))
      if (join_all(index, uses, users)) return true;
    return join_and_store(index, uses, users);
  }
  if (!fits(op, uses, users[0], stored)) return note("the kernel that reads it is full or recomputes it too often");
  if (stored) return join_and_store(index, uses, users);
  if (inlines(op)) return join_all(index, uses, users);
  return join_fold(index, uses, users[0]);
}

bool Planner::inlines(const ir::Op& op) const {
  const OpClass cls = ir::op_info(op.code)->cls;
  return cls == OpClass::movement || cls == OpClass::elementwise || cls == OpClass::function || fetches(op);
}

bool Planner::reads_little(const ir::Op& op) const {
  if (!inlines(op) || weight(g_, op) > cheap_weight) return false;
  size_t tensors = 0;
  for (const ValueId a : op.operands) {
    const ir::Value& x = g_.value(a);
    if (x.kind == ir::ValueKind::result) return false;
    tensors += !x.shape.empty();
  }
  return tensors <= 1;
}

bool Planner::within_limits(const Cluster& c, const Cluster::Load& more) const {
  return fits_kernel(sum(c.load, more), options_.kernel_weight);
}

bool Planner::fits(const ir::Op& op, const std::vector<Use>& uses, uint32_t c, bool stored) {
  size_t maps_here = 0;
  for (const Use& u : uses) maps_here += u.cluster == c;
  if (maps_here > 1 && (weight(g_, op) > cheap_weight || maps_here > max_maps)) return false;
  Cluster::Load more = load_of(g_, op, maps_here);
  if (stored) more.stores = store_count(op.results[0]);
  // An op of its own weight joins a kernel that does nothing else yet.
  if (clusters_[c].load.weight == 0) more.weight = std::min(more.weight, options_.kernel_weight);
  return within_limits(clusters_[c], more);
}

// Computes an inlinable op inside every kernel that uses it.
bool Planner::join_all(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users) {
  const ir::Op& op = g_.op(index);
  for (const uint32_t c : users)
    if (!fits(op, uses, c, false)) return note("the kernels that read it are full");
  std::vector<std::vector<Read>> reads;
  for (const Use& u : uses) {
    if (const char* why = unfit(op, u)) return note(why);
    auto r = operand_reads(g_, maps_, op, u.map, {});
    if (!r) return note("its index under the kernel that reads it is not affine");
    reads.push_back(std::move(*r));
  }
  for (size_t i = 0; i < uses.size(); ++i) compute(index, uses[i].cluster, reads[i], true);
  return true;
}

// Why an inlinable op may not be computed at this use; nullptr if it may.
const char* Planner::unfit(const ir::Op& op, const Use& u) {
  const Cluster& c = clusters_[u.cluster];
  if (!c.has_dot) return nullptr;
  // Inside the k loop of a dot an operand is computed once for every row or column of the result.
  const bool free = op.code == OpCode::op_transpose || op.code == OpCode::op_broadcast ||
                    op.code == OpCode::op_reverse || op.code == OpCode::op_slice || op.code == OpCode::op_reshape ||
                    op.code == OpCode::op_diagonal;
  for (const Affine& d : maps_[u.map].dims)
    for (const Term& t : d.terms)
      if ((c.cols >> t.axis & 1) && !free) return "it would be computed again for every row of the matrix product";
  return nullptr;
}

// `read` tells whether the value counts as read by the kernel until now.
void Planner::compute(uint32_t index, uint32_t c, const std::vector<Read>& operands, bool read) {
  const ir::Op& op = g_.op(index);
  Cluster& k = clusters_[c];
  Cluster::Load more = load_of(g_, op, 1);
  more.reads = 0;  // counted below, where known ones are seen
  k.load = sum(k.load, more);
  k.load.reads -= read;
  if (fetches(op)) read_memory(op.operands[0], c, "it is fetched from at computed indices");
  for (const Read& operand : operands) {
    // A repeated use is dropped where it is cheap to see (live_uses() drops the rest): values used by every op of a
    // large graph must not make this quadratic.
    auto& uses = uses_[operand.value];
    const auto recent = uses.end() - static_cast<ptrdiff_t>(std::min<size_t>(uses.size(), 16));
    const bool known =
        std::any_of(recent, uses.end(), [&](const Use& u) { return find(u.cluster) == c && u.map == operand.map; });
    if (known) continue;
    uses.push_back({c, operand.map});
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
    if (!storable(clusters_[u.cluster], v, u.map) || !fits(op, uses, u.cluster, true)) continue;
    bool cycle = false;
    for (const uint32_t other : users) cycle = cycle || (other != u.cluster && reaches(other, u.cluster));
    for (const MemoryReader& other : memory_readers_of(v))
      cycle = cycle || find(other.cluster) == u.cluster || reaches(find(other.cluster), u.cluster);
    if (cycle) continue;
    std::vector<Use> here;
    for (const Use& o : uses)
      if (o.cluster == u.cluster) here.push_back(o);
    if (!(inlines(op) ? join_all(index, here, {u.cluster}) : join_fold(index, here, u.cluster))) continue;
    store(v, u.cluster, u.map, users);
    return true;
  }
  return note(users.size() > 1 ? "several kernels need it" : "it is an output of another shape than its kernel");
}

// A fold joins a kernel whose rows are what it keeps and whose cols are, or can become, what it removes.
bool Planner::join_fold(uint32_t index, const std::vector<Use>& uses, uint32_t c) {
  const ir::Op& op = g_.op(index);
  const bool dot = contracts(op);
  if (ir::op_info(op.code)->cls == OpClass::scan) return join_scan(index, uses, c);
  if (uses.size() != 1) return note("a reduction is not computed under two index maps");
  const std::vector<DimId> removed = removed_extents(g_, op);
  Cluster& k = clusters_[c];
  if (k.has_dot || (dot && k.cols)) return note("a matrix product shares no kernel with another reduction");
  const auto axes = kept_axes(k, op, uses[0].map);
  if (!axes) return note("its reader moves or broadcasts it along more than whole rows");
  const uint32_t kept = mask_of(*axes);
  uint32_t cols = k.cols;
  if (cols == 0 && !dot && kept != k.all()) cols = k.all() & ~kept;
  if (cols == 0) {
    // Its readers see rows only: the removed dims become new axes.
    if (kept != k.all()) return note("its reader's rows are not its own");
    if (k.axes.size() + removed.size() > loop::max_axes) return note("too many axes");
    if (dot && !std::is_sorted(axes->begin(), axes->end())) return note("its reader transposes it");
    for (const DimId e : removed) {
      cols |= uint32_t{1} << k.axes.size();
      k.axes.push_back(e);
    }
  } else {
    const std::vector<uint32_t> have = axes_in(cols);
    if (kept != (k.all() & ~cols) || have.size() != removed.size()) return note("its reader's rows are not its own");
    for (size_t i = 0; i < have.size(); ++i)
      if (!maps_.dims().known_equal(k.axes[have[i]], removed[i])) return note("its reader sweeps another extent");
  }
  k.cols = cols;
  k.has_dot = dot;
  compute(index, c, *operand_reads(g_, maps_, op, uses[0].map, axes_in(cols)), true);
  return true;
}

// A scan joins a kernel whose cols are, or can become, the one axis that it goes along.
bool Planner::join_scan(uint32_t index, const std::vector<Use>& uses, uint32_t c) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0];
  if (uses.size() != 1) return note("a scan is not computed under two index maps");
  Cluster& k = clusters_[c];
  if (k.has_dot) return note("a scan shares no kernel with a matrix product");
  const auto axes = plain_axes(k, v, uses[0].map);
  if (!axes || mask_of(*axes) != k.all()) return note("its reader moves or broadcasts it");
  const uint32_t along = (*axes)[static_cast<size_t>(attr(op, "axis").i)];
  if (along == no_axis) return note("its reader has no axis for the one that it goes along");
  if (k.cols != 0 && k.cols != uint32_t{1} << along) return note("its reader sweeps along other axes");
  k.cols = uint32_t{1} << along;
  compute(index, c, *operand_reads(g_, maps_, op, uses[0].map, {}), true);
  return true;
}

bool Planner::note(const char* why) {
  reason_ = why;
  return false;
}

}  // namespace ingot::fuse
