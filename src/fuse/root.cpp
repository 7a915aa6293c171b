// Values that begin a kernel, and what is stored by one and read by others.
#include <algorithm>

#include "base/error.h"
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

// A fold that joins a kernel gives it as many axes as a kernel of its own would have. Ranks end at the same number, so
// this is a product of matrices whose result and sum together pass it.
void Planner::check_axes(const ir::Op& op, size_t count) {
  if (count <= loop::max_axes) return;
  fail(Code::unimplemented, ir::op_info(op.origin)->name, ": the result's dims and those summed over are ", count,
       ", without any known to be 1, over the limit of ", loop::max_axes);
}

uint32_t Planner::make_cluster(std::vector<DimId> axes) {
  parent_.push_back(static_cast<uint32_t>(clusters_.size()));
  clusters_.push_back({.axes = std::move(axes)});
  read_by_.emplace_back();
  return parent_.back();
}

void Planner::root(uint32_t index) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0];
  // Dims known to be 1 take no axis: what is kept with keepdims is then what is kept without. The boxes of a pad or
  // concat are on axes, though, and one of its dims may be 1 where its operand's is not.
  const bool windowed = op.code == OpCode::op_pad || op.code == OpCode::op_concat;
  std::vector<DimId> axes;
  Map map;
  uint32_t cols = 0;
  const auto keep = [&](DimId extent) {
    if (!windowed && maps_.dims().is_constant(extent, 1)) return map.dims.push_back({maps_.zero(), {}});
    map.dims.push_back(maps_.axis(static_cast<uint32_t>(axes.size())));
    axes.push_back(extent);
  };
  const auto remove = [&](DimId extent) {
    cols |= uint32_t{1} << axes.size();
    axes.push_back(extent);
  };
  if (ir::op_info(op.code)->cls == OpClass::reduce) {
    const auto& shape = g_.value(op.operands[0]).shape;
    const auto& reduced = attr(op, "axes").ints;
    for (uint32_t d = 0; d < shape.size(); ++d) {
      if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
        keep(shape[d]);
      } else {
        remove(shape[d]);
        if (attr(op, "keepdims").i != 0) map.dims.push_back({maps_.zero(), {}});
      }
    }
  } else if (ir::op_info(op.code)->cls == OpClass::scan) {
    const auto& shape = g_.value(v).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) != attr(op, "axis").i) {
        keep(shape[d]);
        continue;
      }
      map.dims.push_back(maps_.axis(static_cast<uint32_t>(axes.size())));
      remove(shape[d]);
    }
  } else {
    for (const DimId d : g_.value(v).shape) keep(d);
  }
  if (contracts(op))
    for (const DimId extent : removed_extents(g_, op)) remove(extent);
  check_axes(op, axes.size());
  const uint32_t c = make_cluster(std::move(axes));
  clusters_[c].cols = cols;
  clusters_[c].has_dot = contracts(op);
  const MapId id = maps_.intern(std::move(map));
  const auto operands = operand_reads(g_, maps_, op, id, axes_in(cols));
  if (!operands) bug("op ", ir::op_info(op.code)->name, " is not affine over its own result");
  const std::vector<uint32_t> users = clusters_of(live_uses(v));
  compute(index, c, *operands, false);
  store(v, c, id, users);
}

// Kernels that copy a value from memory to those of its outputs that come from part `first` on.
std::vector<uint32_t> Planner::load_roots(ValueId v, uint32_t first) {
  std::vector<uint32_t> out;
  for (uint32_t part = first; part * outputs_per_root < output_count_[v]; ++part) out.push_back(load_root(v, part));
  return out;
}

uint32_t Planner::load_root(ValueId v, uint32_t part) {
  Map map;
  std::vector<DimId> axes;
  for (const DimId d : g_.value(v).shape) {
    if (maps_.dims().is_constant(d, 1)) {
      map.dims.push_back({maps_.zero(), {}});
      continue;
    }
    map.dims.push_back(maps_.axis(static_cast<uint32_t>(axes.size())));
    axes.push_back(d);
  }
  const uint32_t c = make_cluster(std::move(axes));
  const MapId id = maps_.intern(std::move(map));
  uses_[v].push_back({c, id});
  read_by_[c].push_back(v);
  clusters_[c].load.reads = 1;
  clusters_[c].load.stores = outputs_per_root;
  clusters_[c].roots.push_back({v, id, part});
  return c;
}

void Planner::store(ValueId v, uint32_t c, MapId map, const std::vector<uint32_t>& users) {
  Cluster& k = clusters_[c];
  k.roots.push_back({v, map});
  k.load.stores += store_count(v);
  out_.stored_by[v] = c;
  const auto before = [&](uint32_t reader, const Reason& why) {
    if (reader == c) return;
    k.after.push_back(reader);
    out_.edges.push_back({c, reader, v, why});
  };
  for (const uint32_t reader : users) {
    const auto at = std::find_if(refused_.begin(), refused_.end(), [&](const auto& r) { return r.first == reader; });
    if (reader != c && options_.fuse && at == refused_.end() && !stored_.contains(v)) bug("an edge without a reason");
    Reason why = at == refused_.end() ? Reason{.why = Why::unfused} : at->second;
    if (const auto dear = stored_.find(v); dear != stored_.end()) why = dear->second;
    if (again_) why.operations = again_->operations, why.bytes = again_->bytes;
    before(reader, why);
  }
  for (const MemoryReader& reader : memory_readers_of(v)) before(find(reader.cluster), reader.why);
}

uint32_t Planner::store_count(ValueId v) const { return std::min(output_count_[v], outputs_per_root) + 1; }

}  // namespace ingot::fuse
