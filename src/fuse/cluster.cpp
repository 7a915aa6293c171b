#include "fuse/cluster.h"

#include <algorithm>

#include "base/error.h"
#include "fuse/load.h"

namespace ingot::fuse {

namespace {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

// An expensive op is not computed under several index maps; a cheap one at most under this many.
constexpr size_t max_maps = 4;
constexpr uint32_t cheap_weight = 4;
// Clusters looked at before a merge is given up: keeps planning near linear.
constexpr size_t reach_limit = 256;
// Readers of one value considered for merging, pair by pair.
constexpr size_t merge_limit = 64;

class Planner {
 public:
  Planner(const ir::Graph& graph, Maps& maps, const PlanOptions& options)
      : g_(graph), maps_(maps), options_(options), uses_(graph.value_count()), output_count_(graph.value_count(), 0) {
    out_.computed_in.resize(graph.op_count());
    out_.stored_by.assign(graph.value_count(), no_cluster);
    out_.alias_of.resize(graph.value_count());
    for (ValueId v = 0; v < graph.value_count(); ++v) out_.alias_of[v] = v;
    is_output_.resize(graph.value_count());
    must_store_.resize(graph.value_count());
    for (const ir::Output& o : graph.outputs()) ++output_count_[o.value];
    for (ValueId v = 0; v < graph.value_count(); ++v) is_output_[v] = output_count_[v] > 0;
  }

  Clustering run() {
    // Consumers first: when an op is reached, every kernel that needs its result is known.
    for (size_t i = g_.op_count(); i-- > 0;) place(static_cast<uint32_t>(i));
    // Outputs that no op makes are copied by a kernel of one load and one store.
    for (const ir::Output& o : g_.outputs())
      if (g_.value(o.value).kind != ir::ValueKind::result) {
        load_roots(o.value, 0);
        output_count_[o.value] = 0;
      }
    if (options_.fuse)
      for (ValueId v = 0; v < g_.value_count(); ++v)
        if (g_.value(v).kind == ir::ValueKind::input) merge_readers(v);
    return finish();
  }

 private:
  // --- union of merged clusters

  uint32_t find(uint32_t c) {
    while (parent_[c] != c) c = parent_[c] = parent_[parent_[c]];
    return c;
  }

  uint32_t make_cluster(std::vector<DimId> axes) {
    if (axes.size() > loop::max_axes) fail(Code::unimplemented, "a kernel over more than ", loop::max_axes, " axes");
    parent_.push_back(static_cast<uint32_t>(clusters_.size()));
    clusters_.push_back({.axes = std::move(axes)});
    return parent_.back();
  }

  // --- what is known of a value's uses

  std::vector<Use> live_uses(ValueId v) {
    std::vector<Use> out = uses_[v];
    for (Use& u : out) u.cluster = find(u.cluster);
    std::sort(out.begin(), out.end(),
              [](const Use& a, const Use& b) { return std::pair(a.cluster, a.map) < std::pair(b.cluster, b.map); });
    out.erase(std::unique(out.begin(), out.end(),
                          [](const Use& a, const Use& b) { return a.cluster == b.cluster && a.map == b.map; }),
              out.end());
    return out;
  }

  static std::vector<uint32_t> clusters_of(const std::vector<Use>& uses) {
    std::vector<uint32_t> out;  // uses are sorted by cluster
    for (const Use& u : uses)
      if (out.empty() || out.back() != u.cluster) out.push_back(u.cluster);
    return out;
  }

  bool reaches(uint32_t from, uint32_t to) {
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

  // --- index maps that name kernel axes plainly

  // The axes that the dims of a value are, no_axis for extent 1; nullopt if some dim is anything else.
  static constexpr uint32_t no_axis = 0xffu;
  std::optional<std::vector<uint32_t>> plain_axes(const Cluster& c, ValueId v, MapId id) {
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

  static uint32_t mask_of(const std::vector<uint32_t>& axes) {
    uint32_t mask = 0;
    for (const uint32_t a : axes)
      if (a != no_axis) mask |= uint32_t{1} << a;
    return mask;
  }

  // A kernel can store what covers all its rows, and all of its cols or none; those of a matrix product never.
  bool storable(const Cluster& c, ValueId v, MapId map) {
    const auto axes = plain_axes(c, v, map);
    if (!axes) return false;
    const uint32_t mask = mask_of(*axes);
    return mask == c.rows() || (mask == c.all() && !c.has_dot);
  }

  // --- what a kernel holds

  bool within_limits(const Cluster& c, const Cluster::Load& more) const {
    return fits_kernel(sum(c.load, more), options_.kernel_weight);
  }

  uint32_t store_count(ValueId v) const { return std::min(output_count_[v], outputs_per_root) + 1; }

  // --- merging kernels over the same space

  bool mergeable(uint32_t a, uint32_t b) {
    const Cluster& x = clusters_[a];
    const Cluster& y = clusters_[b];
    if (x.has_dot || y.has_dot || x.axes.size() != y.axes.size()) return false;
    if (x.cols != y.cols && x.cols != 0 && y.cols != 0) return false;
    if (!within_limits(x, y.load)) return false;
    for (size_t i = 0; i < x.axes.size(); ++i)
      if (!maps_.dims().known_equal(x.axes[i], y.axes[i])) return false;
    return !reaches(a, b) && !reaches(b, a);
  }

  uint32_t merge(uint32_t a, uint32_t b) {
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
  void merge_readers(ValueId v) {
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

  // --- placing one op

  void place(uint32_t index) {
    const ir::Op& op = g_.op(index);
    const ValueId v = op.results[0];
    if (uses_[v].empty() && !is_output_[v] && !must_store_[v]) return;  // nothing needs it
    if (op.code == OpCode::op_reshape && place_reshape(index)) return;
    if (is_routine(g_, op)) return root_routine(index);
    if (output_count_[v] > outputs_per_root) load_roots(v, 1);
    reason_.clear();
    if (options_.fuse) {
      merge_readers(v);
      if (join(index)) return;
    }
    root(index);
  }

  // A reshape that is not affine shares the memory of its operand, which is stored compactly then.
  bool place_reshape(uint32_t index) {
    const ir::Op& op = g_.op(index);
    const ValueId v = op.results[0], from = op.operands[0];
    const std::vector<Use> uses = live_uses(v);
    bool affine = options_.fuse && !is_output_[v] && !must_store_[v];
    for (const Use& u : uses) affine = affine && maps_.reshape(u.map, g_.value(from).shape, g_.value(v).shape);
    if (affine) return false;
    out_.alias_of[v] = from;
    const char* const why = "a reshape needs it in row-major order";
    for (const Use& u : uses) read_memory(from, u.cluster, why);
    for (const MemoryReader& r : memory_readers_of(v)) read_memory(from, r.cluster, why);
    if (is_output_[v])
      for (const uint32_t c : load_roots(v, 0)) read_memory(from, c, why);
    must_store_[from] = true;
    return true;
  }

  // The cluster reads the value where it is stored, under no map.
  void read_memory(ValueId v, uint32_t c, const char* why) {
    must_store_[v] = true;
    memory_readers_[v].push_back({c, why});
  }

  // An op that is no kernel: its operands and its result lie in memory.
  void root_routine(uint32_t index) {
    const ir::Op& op = g_.op(index);
    const uint32_t c = make_cluster({});
    clusters_[c].routine = index;
    for (const ValueId operand : op.operands) read_memory(operand, c, "an op that is no kernel reads it");
    out_.computed_in[index].push_back(c);
    if (options_.fuse) reason_ = "an op that is no kernel makes it";
    store(op.results[0], c, maps_.intern({}), clusters_of(live_uses(op.results[0])));
  }

  bool inlines(const ir::Op& op) const {
    const OpClass cls = ir::op_info(op.code)->cls;
    return cls == OpClass::movement || cls == OpClass::elementwise || cls == OpClass::function || fetches(op);
  }

  // Adds the op to the kernels that use it; false if its value has to begin a kernel of its own.
  bool join(uint32_t index) {
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
    if (!fits(op, uses, users[0], stored))
      return note(v, "the kernel that reads it is full or recomputes it too often");
    if (stored) return join_and_store(index, uses, users);
    if (inlines(op)) return join_all(index, uses, users);
    return join_fold(index, uses, users[0]);
  }

  bool reads_little(const ir::Op& op) const {
    if (!inlines(op) || weight(g_, op) > cheap_weight) return false;
    size_t tensors = 0;
    for (const ValueId a : op.operands) {
      const ir::Value& x = g_.value(a);
      if (x.kind == ir::ValueKind::result) return false;
      tensors += !x.shape.empty();
    }
    return tensors <= 1;
  }

  bool fits(const ir::Op& op, const std::vector<Use>& uses, uint32_t c, bool stored) {
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
  bool join_all(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users) {
    const ir::Op& op = g_.op(index);
    for (const uint32_t c : users)
      if (!fits(op, uses, c, false)) return note(op.results[0], "the kernels that read it are full");
    std::vector<std::vector<Read>> reads;
    for (const Use& u : uses) {
      if (const char* why = unfit(op, u)) return note(op.results[0], why);
      auto r = operand_reads(g_, maps_, op, u.map, {});
      if (!r) return note(op.results[0], "its index under the kernel that reads it is not affine");
      reads.push_back(std::move(*r));
    }
    for (size_t i = 0; i < uses.size(); ++i) compute(index, uses[i].cluster, reads[i], true);
    return true;
  }

  // Why an inlinable op may not be computed at this use; nullptr if it may.
  const char* unfit(const ir::Op& op, const Use& u) {
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
  void compute(uint32_t index, uint32_t c, const std::vector<Read>& operands, bool read) {
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
  bool join_and_store(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users) {
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
    return note(v, users.size() > 1 ? "several kernels need it" : "it is an output of another shape than its kernel");
  }

  // A fold joins a kernel whose rows are what it keeps and whose cols are, or can become, what it removes.
  bool join_fold(uint32_t index, const std::vector<Use>& uses, uint32_t c) {
    const ir::Op& op = g_.op(index);
    const ValueId v = op.results[0];
    const bool dot = contracts(op);
    if (ir::op_info(op.code)->cls == OpClass::scan) return join_scan(index, uses, c);
    if (uses.size() != 1) return note(v, "a reduction is not computed under two index maps");
    const std::vector<DimId> removed = removed_extents(g_, op);
    Cluster& k = clusters_[c];
    if (k.has_dot || (dot && k.cols)) return note(v, "a matrix product shares no kernel with another reduction");
    const auto axes = kept_axes(k, op, uses[0].map);
    if (!axes) return note(v, "its reader moves or broadcasts it along more than whole rows");
    const uint32_t kept = mask_of(*axes);
    uint32_t cols = k.cols;
    if (cols == 0 && !dot && kept != k.all()) cols = k.all() & ~kept;
    if (cols == 0) {
      // Its readers see rows only: the removed dims become new axes.
      if (kept != k.all()) return note(v, "its reader's rows are not its own");
      if (k.axes.size() + removed.size() > loop::max_axes) return note(v, "too many axes");
      if (dot && !std::is_sorted(axes->begin(), axes->end())) return note(v, "its reader transposes it");
      for (const DimId e : removed) {
        cols |= uint32_t{1} << k.axes.size();
        k.axes.push_back(e);
      }
    } else {
      const std::vector<uint32_t> have = axes_in(cols);
      if (kept != (k.all() & ~cols) || have.size() != removed.size())
        return note(v, "its reader's rows are not its own");
      for (size_t i = 0; i < have.size(); ++i)
        if (!maps_.dims().known_equal(k.axes[have[i]], removed[i])) return note(v, "its reader sweeps another extent");
    }
    k.cols = cols;
    k.has_dot = dot;
    compute(index, c, *operand_reads(g_, maps_, op, uses[0].map, axes_in(cols)), true);
    return true;
  }

  // A scan joins a kernel whose cols are, or can become, the one axis that it goes along.
  bool join_scan(uint32_t index, const std::vector<Use>& uses, uint32_t c) {
    const ir::Op& op = g_.op(index);
    const ValueId v = op.results[0];
    if (uses.size() != 1) return note(v, "a scan is not computed under two index maps");
    Cluster& k = clusters_[c];
    if (k.has_dot) return note(v, "a scan shares no kernel with a matrix product");
    const auto axes = plain_axes(k, v, uses[0].map);
    if (!axes || mask_of(*axes) != k.all()) return note(v, "its reader moves or broadcasts it");
    const uint32_t along = (*axes)[static_cast<size_t>(attr(op, "axis").i)];
    if (along == no_axis) return note(v, "its reader has no axis for the one that it goes along");
    if (k.cols != 0 && k.cols != uint32_t{1} << along) return note(v, "its reader sweeps along other axes");
    k.cols = uint32_t{1} << along;
    compute(index, c, *operand_reads(g_, maps_, op, uses[0].map, {}), true);
    return true;
  }

  // plain_axes of the dims a fold keeps; the unit dims of keepdims do not count.
  std::optional<std::vector<uint32_t>> kept_axes(const Cluster& c, const ir::Op& op, MapId id) {
    const ValueId v = op.results[0];
    if (contracts(op) || attr(op, "keepdims").i == 0) return plain_axes(c, v, id);
    Map m = maps_[id];
    for (const int64_t a : attr(op, "axes").ints) m.dims[static_cast<size_t>(a)] = {maps_.zero(), {}};
    return plain_axes(c, v, maps_.intern(std::move(m)));
  }

  // --- values that begin a kernel

  void root(uint32_t index) {
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
  std::vector<uint32_t> load_roots(ValueId v, uint32_t first) {
    std::vector<uint32_t> out;
    for (uint32_t part = first; part * outputs_per_root < output_count_[v]; ++part) out.push_back(load_root(v, part));
    return out;
  }

  uint32_t load_root(ValueId v, uint32_t part) {
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
    clusters_[c].load.reads = 1;
    clusters_[c].load.stores = outputs_per_root;
    clusters_[c].roots.push_back({v, id, part});
    return c;
  }

  struct MemoryReader {
    uint32_t cluster;
    const char* why;  // it is no use under a map
  };
  std::vector<MemoryReader> memory_readers_of(ValueId v) {
    const auto at = memory_readers_.find(v);
    return at == memory_readers_.end() ? std::vector<MemoryReader>{} : at->second;
  }

  void store(ValueId v, uint32_t c, MapId map, const std::vector<uint32_t>& users) {
    Cluster& k = clusters_[c];
    k.roots.push_back({v, map});
    k.load.stores += store_count(v);
    out_.stored_by[v] = c;
    const auto before = [&](uint32_t reader) {
      if (reader == c) return;
      k.after.push_back(reader);
      const char* const otherwise = options_.fuse ? "no one kernel has the axes of both" : "fusion is off";
      out_.edges.push_back({c, reader, v, reason_.empty() ? otherwise : reason_});
    };
    for (const uint32_t reader : users) before(reader);
    for (const MemoryReader& reader : memory_readers_of(v)) {
      reason_ = reader.why;
      before(find(reader.cluster));
    }
    reason_.clear();
  }

  bool note(ValueId, const char* why) {
    reason_ = why;
    return false;
  }

  // --- the result, in launch order

  Clustering finish() {
    for (auto& cluster : clusters_)
      for (uint32_t& a : cluster.after) a = find(a);
    std::vector<uint32_t> alive;
    for (uint32_t c = 0; c < clusters_.size(); ++c)
      if (parent_[c] == c) alive.push_back(c);
    const std::vector<uint32_t> number = launch_order(clusters_, alive);
    out_.clusters.resize(alive.size());
    for (const uint32_t c : alive) {
      for (uint32_t& a : clusters_[c].after) a = number[a];
      out_.clusters[number[c]] = std::move(clusters_[c]);
    }
    for (auto& in : out_.computed_in) {
      for (uint32_t& c : in) c = number[find(c)];
      std::sort(in.begin(), in.end());
      in.erase(std::unique(in.begin(), in.end()), in.end());
    }
    for (uint32_t& c : out_.stored_by)
      if (c != no_cluster) c = number[find(c)];
    for (Edge& e : out_.edges) {
      e.producer = number[find(e.producer)];
      e.consumer = number[find(e.consumer)];
    }
    return std::move(out_);
  }

  const ir::Graph& g_;
  Maps& maps_;
  const PlanOptions& options_;
  std::vector<std::vector<Use>> uses_;
  std::vector<uint32_t> output_count_;  // per value: how many outputs it is
  std::vector<bool> is_output_;
  std::vector<bool> must_store_;  // some reshape shares its memory, or an op reads it there
  std::unordered_map<ValueId, std::vector<MemoryReader>> memory_readers_;
  std::vector<Cluster> clusters_;
  std::vector<uint32_t> parent_;
  std::string reason_;
  Clustering out_;
};

}  // namespace

Clustering cluster(const ir::Graph& graph, Maps& maps, const PlanOptions& options) {
  return Planner(graph, maps, options).run();
}

}  // namespace ingot::fuse
