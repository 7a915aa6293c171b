// The state of cluster(): kernels in the making, who uses which value under which map, and what was decided so far. One
// job a file: cluster.cpp goes through the ops, join.cpp computes an op in the kernels that use it, root.cpp begins
// kernels and stores values, merge.cpp makes one kernel of several, axes.cpp reads index maps, repeat.cpp weighs
// computing again against storing. Included by these only.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "fuse/cluster.h"
#include "fuse/cost.h"

namespace ingot::fuse {

// A value to be stored whatever kernels could do.
struct Stored {
  ir::ValueId value;
  Reason why;
};

class Planner {
 public:
  // With `promises` a kernel may get cols for what it stores, on the word that a fold will follow.
  Planner(const ir::Graph& graph, Maps& maps, const PlanOptions& options, std::vector<Stored> stored, bool promises);
  void run();
  bool keeps_promises();                  // after run(): else the plan is no good
  std::vector<Stored> dear_broadcasts();  // after run()
  Clustering finish();

 private:
  // --- cluster.cpp: the ops, consumers first

  void place(uint32_t index);
  bool place_reshape(uint32_t index);
  void root_routine(uint32_t index);
  void read_memory(ir::ValueId v, uint32_t c, const Reason& why);
  struct MemoryReader {
    uint32_t cluster;
    Reason why;  // it is no use under a map
  };
  std::vector<MemoryReader> memory_readers_of(ir::ValueId v);

  // --- merge.cpp

  uint32_t find(uint32_t c);
  std::vector<Use> live_uses(ir::ValueId v);
  static std::vector<uint32_t> clusters_of(const std::vector<Use>& uses);
  std::optional<Reason> reaches(uint32_t from, uint32_t to);
  std::optional<std::vector<uint32_t>> same_axes(ir::ValueId v, const Use& a, const Use& b);
  std::optional<Reason> unmergeable(uint32_t a, uint32_t b, std::span<const uint32_t> to);
  static uint32_t renamed(uint32_t mask, std::span<const uint32_t> to);
  void rename_axes(uint32_t c, std::span<const uint32_t> to);
  std::optional<Reason> apart(ir::ValueId v, const Use& a, const Use& b);
  uint32_t merge(uint32_t a, uint32_t b);
  void merge_readers(ir::ValueId v);
  void note_shared_input(ir::ValueId v);
  Reason why_apart(ir::ValueId v, uint32_t a, uint32_t b, const std::vector<Use>& uses);

  // --- axes.cpp

  // In place of an axis: a dim of extent 1.
  static constexpr uint32_t no_axis = 0xffu;
  std::optional<std::vector<uint32_t>> plain_axes(const Cluster& c, ir::ValueId v, MapId id);
  static uint32_t mask_of(const std::vector<uint32_t>& axes);
  uint32_t rows_with(const Cluster& c, uint32_t index, MapId map);
  std::optional<Reason> unstorable(const Cluster& c, ir::ValueId v, MapId map, uint32_t rows);
  static std::vector<DimId> extents(const Cluster& c, uint32_t mask);
  std::optional<std::vector<uint32_t>> kept_axes(const Cluster& c, const ir::Op& op, MapId id);

  // --- join.cpp

  bool join(uint32_t index);
  bool inlines(const ir::Op& op) const;
  std::optional<Reason> unfit(uint32_t index, const std::vector<Use>& uses, uint32_t c, bool stored);
  bool join_all(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users);
  std::optional<Reason> in_dot(uint32_t index, const Use& u);
  bool join_and_store(uint32_t index, const std::vector<Use>& uses, const std::vector<uint32_t>& users);
  bool join_fold(uint32_t index, const std::vector<Use>& uses, uint32_t c);
  bool join_scan(uint32_t index, const Use& use);
  void compute(uint32_t index, uint32_t c, const std::vector<Read>& operands, bool read);
  bool refuse(uint32_t c, Reason why);

  // --- repeat.cpp

  Cone cone(ir::ValueId v);
  std::optional<Reason> dear_again(uint32_t index, const Cone& cone, const Repeats& repeats) const;
  bool repeats(uint32_t index, const std::vector<Use>& uses);
  double times_computed(const Use& use);

  // --- root.cpp

  void root(uint32_t index);
  void check_axes(const ir::Op& op, size_t count);
  uint32_t make_cluster(std::vector<DimId> axes);
  std::vector<uint32_t> load_roots(ir::ValueId v, uint32_t first);
  uint32_t load_root(ir::ValueId v, uint32_t part);
  uint32_t store_count(ir::ValueId v) const;
  void store(ir::ValueId v, uint32_t c, MapId map, const std::vector<uint32_t>& users);

  const ir::Graph& g_;
  Maps& maps_;
  const PlanOptions& options_;
  const bool promises_;
  std::vector<std::vector<Use>> uses_;
  std::vector<std::vector<ir::ValueId>> read_by_;  // per cluster: what has uses of it, some twice
  std::vector<uint32_t> output_count_;             // per value: how many outputs it is
  std::vector<bool> is_output_;
  std::vector<bool> must_store_;  // some reshape shares its memory, an op reads it there, or it is in stored_
  std::unordered_map<ir::ValueId, Reason> stored_;
  std::unordered_map<ir::ValueId, std::vector<MemoryReader>> memory_readers_;
  std::vector<Cluster> clusters_;
  std::vector<uint32_t> parent_;  // of merged clusters: the one that took it in, or itself
  // Why the op at hand is not computed by the kernels that use it, or those are not the one that stores it.
  std::vector<std::pair<uint32_t, Reason>> refused_;
  std::optional<Reason> again_;  // why they do not all compute it, as far as that is a question of cost
  Clustering out_;
};

}  // namespace ingot::fuse
