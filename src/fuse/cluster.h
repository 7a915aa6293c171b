// Which ops share a kernel. Clusters grow from the outputs towards the inputs: an op joins the kernel that consumes it
// if its index maps allow it, else its value is stored and begins a kernel of its own.
#pragma once

#include <string>
#include <vector>

#include "fuse/map.h"
#include "fuse/plan.h"

namespace ingot::fuse {

using ir::no_op;

// A kernel in the making: axes with their extents, those in `cols` removed by its folds.
struct Cluster {
  std::vector<DimId> axes;
  uint32_t cols = 0;  // bit per axis
  bool has_dot = false;
  // What the kernel will hold, never counted too low: the kernel IR has limits.
  struct Load {
    uint32_t weight = 0;  // estimated primitives
    uint32_t reads = 0;   // (value, map) uses not computed inside: what will be loads
    uint32_t extra = 0;   // views without memory: iota, and the insides of pads and concats
    uint32_t stores = 0;
    uint32_t slots = 0;  // size slots for boxes
    uint32_t folds = 0;
  } load;
  struct Root {
    ir::ValueId value;
    MapId map;
    uint32_t part = 0;  // which outputs of the value it stores, if it is so many outputs that one kernel cannot
  };
  // The op, if it is one that no kernel computes (is_routine()): then there is nothing else here but one root.
  uint32_t routine = no_op;
  std::vector<Root> roots;      // values stored by this kernel
  std::vector<uint32_t> after;  // clusters that read what this one stores

  uint32_t all() const { return (uint32_t{1} << axes.size()) - 1; }
  uint32_t rows() const { return all() & ~cols; }
};

struct Use {
  uint32_t cluster;
  MapId map;
};

struct Clustering {
  std::vector<Cluster> clusters;  // only those that survived, in launch order
  // Per op: the clusters that compute it, each with no entry twice.
  std::vector<std::vector<uint32_t>> computed_in;
  // Per value: the cluster that stores it, or no_cluster (inputs, constants, values that stay inside kernels).
  std::vector<uint32_t> stored_by;
  // Per value: the value whose memory it shares (a reshape by alias), or itself.
  std::vector<ir::ValueId> alias_of;
  std::vector<Edge> edges;         // steps are cluster numbers
  std::vector<SharedRead> shared;  // as well
};
inline constexpr uint32_t no_cluster = 0xffffffffu;
// A value may be any number of outputs; one kernel stores this many of them, others copy the rest.
inline constexpr uint32_t outputs_per_root = 8;

Clustering cluster(const ir::Graph& graph, Maps& maps, const PlanOptions& options);

bool contracts(const ir::Op& op);
// The extents that a reduction or contraction removes, in the order of k.
std::vector<DimId> removed_extents(const ir::Graph& graph, const ir::Op& op);

// A value that an op reads under a map.
struct Read {
  ir::ValueId value;
  MapId map;
  friend bool operator==(const Read&, const Read&) = default;
};

// What an op reads when its result is needed under `map` by a cluster, in the order of its operands; nullopt where an
// operand would not be affine. For reduce and matmul, `cols` are the kernel axes of the reduced dims in order. Without
// the operand that is fetched from; of gather_nd, its indices once for each dim that they index.
std::optional<std::vector<Read>> operand_reads(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map,
                                               std::span<const uint32_t> cols);

// Ops that fetch from operand 0 at the indices that are operand 1, which takes it to lie in memory. Per dim of operand
// 0 where in it the element lies but for the indices, which add to the dims picked_dims().
bool fetches(const ir::Op& op) noexcept;
std::vector<Affine> fetched_dims(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map);
std::vector<uint32_t> picked_dims(const ir::Graph& graph, const ir::Op& op);

// Ops that are steps of their own (loop::Routine): all operands lie in memory.
bool is_routine(const ir::Graph& graph, const ir::Op& op);
// A gather whose indices name rows of more than a few items, as far as is known.
bool gathers_rows(const ir::Graph& graph, const ir::Op& op);

// The place of each of the `alive` clusters in launch order; no_cluster for the others. Removes repeated entries of
// `after`.
std::vector<uint32_t> launch_order(std::vector<Cluster>& clusters, std::span<const uint32_t> alive);

// The axes in a mask, ascending.
std::vector<uint32_t> axes_in(uint32_t mask);

}  // namespace ingot::fuse
