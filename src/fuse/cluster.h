// Which ops share a kernel. Clusters grow from the outputs towards the inputs: an op joins the kernel that consumes it if its
// index maps allow it, else its value is stored and begins a kernel of its own.
#pragma once

#include <string>
#include <vector>

#include "fuse/map.h"
#include "fuse/plan.h"

namespace ingot::fuse {

// A kernel in the making: axes with their extents, those in `cols` removed by its folds.
struct Cluster {
  std::vector<DimId> axes;
  uint32_t cols = 0;  // bit per axis
  bool has_dot = false;
  uint32_t weight = 0;  // estimated primitives
  uint32_t reads = 0;   // distinct (value, map) uses not computed inside: what will be loads
  struct Root {
    ir::ValueId value;
    MapId map;
  };
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
  std::vector<Edge> edges;  // producer and consumer are cluster numbers
};
inline constexpr uint32_t no_cluster = 0xffffffffu;

Clustering cluster(const ir::Graph& graph, Maps& maps, const PlanOptions& options);

// The maps of an op's operands when its result is needed under `map` by a cluster; nullopt where an operand would not
// be affine. For reduce and matmul, `cols` are the kernel axes of the reduced dims in order.
std::optional<std::vector<MapId>> operand_maps(const ir::Graph& graph, Maps& maps, const ir::Op& op, MapId map,
                                               std::span<const uint32_t> cols);

// The axes in a mask, ascending.
std::vector<uint32_t> axes_in(uint32_t mask);

}  // namespace ingot::fuse
