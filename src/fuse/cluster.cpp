// The ops, consumers first, and the result in launch order.
#include "fuse/cluster.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "fuse/planner.h"

namespace ingot::fuse {

using ir::OpCode;
using ir::ValueId;

Planner::Planner(const ir::Graph& graph, Maps& maps, const PlanOptions& options, std::vector<Stored> stored,
                 bool promises)
    : g_(graph),
      maps_(maps),
      options_(options),
      promises_(promises),
      uses_(graph.value_count()),
      output_count_(graph.value_count(), 0),
      is_output_(graph.value_count()),
      must_store_(graph.value_count()) {
  out_.computed_in.resize(graph.op_count());
  out_.stored_by.assign(graph.value_count(), no_cluster);
  out_.alias_of.resize(graph.value_count());
  for (ValueId v = 0; v < graph.value_count(); ++v) out_.alias_of[v] = v;
  for (const ir::Output& o : graph.outputs()) ++output_count_[o.value];
  for (ValueId v = 0; v < graph.value_count(); ++v) is_output_[v] = output_count_[v] > 0;
  for (Stored& s : stored) {
    must_store_[s.value] = true;
    stored_.emplace(s.value, std::move(s.why));
  }
}

void Planner::run() {
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
  for (ValueId v = 0; options_.fuse && v < g_.value_count(); ++v)
    if (g_.value(v).kind == ir::ValueKind::input) note_shared_input(v);
}

void Planner::place(uint32_t index) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0];
  if (uses_[v].empty() && !is_output_[v] && !must_store_[v]) return;  // nothing needs it
  if (op.code == OpCode::op_reshape && place_reshape(index)) return;
  refused_.clear();
  again_.reset();
  if (is_routine(g_, op)) return root_routine(index);
  if (output_count_[v] > outputs_per_root) load_roots(v, 1);
  if (options_.fuse) {
    merge_readers(v);
    if (join(index)) return;
  }
  root(index);
}

// A reshape that is not affine shares the memory of its operand, which is stored compactly then.
bool Planner::place_reshape(uint32_t index) {
  const ir::Op& op = g_.op(index);
  const ValueId v = op.results[0], from = op.operands[0];
  const std::vector<Use> uses = live_uses(v);
  bool affine = options_.fuse && !is_output_[v] && !must_store_[v];
  for (const Use& u : uses) affine = affine && maps_.reshape(u.map, g_.value(from).shape, g_.value(v).shape);
  if (affine) return false;
  out_.alias_of[v] = from;
  // Where nothing else is in the way, some kernel's indices are.
  const bool in_memory = is_output_[v] || must_store_[v];
  const Reason why{.why = in_memory       ? Why::reshape_in_memory
                          : options_.fuse ? Why::reshape_no_map
                                          : Why::unfused,
                   .op = index,
                   .own = g_.value(from).shape,
                   .theirs = g_.value(v).shape};
  for (const Use& u : uses) read_memory(from, u.cluster, why);
  for (const MemoryReader& r : memory_readers_of(v)) read_memory(from, r.cluster, why);
  if (is_output_[v])
    for (const uint32_t c : load_roots(v, 0)) read_memory(from, c, why);
  must_store_[from] = true;
  return true;
}

// An op that is no kernel: its operands and its result lie in memory.
void Planner::root_routine(uint32_t index) {
  const ir::Op& op = g_.op(index);
  const uint32_t c = make_cluster({});
  clusters_[c].routine = index;
  for (const ValueId operand : op.operands) read_memory(operand, c, {.why = Why::routine_reads, .op = index});
  out_.computed_in[index].push_back(c);
  const std::vector<uint32_t> users = clusters_of(live_uses(op.results[0]));
  for (const uint32_t user : users) refuse(user, {.why = Why::routine_makes, .op = index});
  store(op.results[0], c, maps_.intern({}), users);
}

// The cluster reads the value where it is stored, under no map.
void Planner::read_memory(ValueId v, uint32_t c, const Reason& why) {
  must_store_[v] = true;
  memory_readers_[v].push_back({c, why});
}

std::vector<Planner::MemoryReader> Planner::memory_readers_of(ValueId v) {
  const auto at = memory_readers_.find(v);
  return at == memory_readers_.end() ? std::vector<MemoryReader>{} : at->second;
}

Clustering Planner::finish() {
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
  for (SharedRead& s : out_.shared) {
    s.first = number[find(s.first)];
    s.second = number[find(s.second)];
    if (s.first < s.second) continue;
    std::swap(s.first, s.second);
    std::swap(s.reason.own, s.reason.theirs);
  }
  return std::move(out_);
}

namespace {

std::unique_ptr<Planner> planned(const ir::Graph& graph, Maps& maps, const PlanOptions& options,
                                 const std::vector<Stored>& stored) {
  for (const bool promises : {true, false}) {
    auto planner = std::make_unique<Planner>(graph, maps, options, stored, promises);
    planner->run();
    if (planner->keeps_promises()) return planner;
  }
  bug("a kernel with cols has nothing to go over them");
}

}  // namespace

Clustering cluster(const ir::Graph& graph, Maps& maps, const PlanOptions& options) {
  const auto all = planned(graph, maps, options, {});
  std::vector<Stored> dear;
  if (options.fuse) dear = all->dear_broadcasts();
  if (dear.empty()) return all->finish();
  // Only a whole plan tells how often a kernel goes over what it reads: folds that come late give it its cols.
  return planned(graph, maps, options, dear)->finish();
}

}  // namespace ingot::fuse
