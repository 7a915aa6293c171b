// One cluster becomes one kernel: nodes from its ops, views from the values it reads and writes.
#pragma once

#include "fuse/cluster.h"
#include "loop/builder.h"

namespace ingot::fuse {

// Where the values of a graph live during a run.
struct Places {
  std::vector<std::vector<uint32_t>> outputs_of;  // per value: the graph outputs it is
  std::vector<uint32_t> buffer_of;                // per value: its intermediate buffer, or no_buffer
};
inline constexpr uint32_t no_buffer = 0xffffffffu;

Step lower(const ir::Graph& graph, Maps& maps, const Clustering& clustering, uint32_t cluster, const Places& places);

}  // namespace ingot::fuse
