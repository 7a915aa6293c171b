#include "fuse/plan.h"

#include "fuse/cluster.h"
#include "fuse/lower.h"

namespace ingot::fuse {

namespace {

// A stored value that later kernels read needs a buffer, unless it is an output: then it is read from there. A value
// whose memory is shared by a reshape needs compact memory, which an output need not be.
Places place_values(const ir::Graph& graph, const Clustering& clusters, Plan& plan) {
  Places places;
  places.outputs_of.resize(graph.value_count());
  places.buffer_of.assign(graph.value_count(), no_buffer);
  for (uint32_t o = 0; o < graph.outputs().size(); ++o) places.outputs_of[graph.outputs()[o].value].push_back(o);
  std::vector<bool> shared(graph.value_count(), false);
  for (ir::ValueId v = 0; v < graph.value_count(); ++v)
    if (clusters.alias_of[v] != v) shared[clusters.alias_of[v]] = true;
  for (ir::ValueId v = 0; v < graph.value_count(); ++v) {
    if (clusters.stored_by[v] == no_cluster || (!places.outputs_of[v].empty() && !shared[v])) continue;
    places.buffer_of[v] = static_cast<uint32_t>(plan.buffers.size());
    plan.buffers.push_back({graph.value(v).dtype, graph.value(v).shape, v});
  }
  return places;
}

}  // namespace

Plan plan_graph(const ir::Graph& graph, const PlanOptions& options) {
  Plan plan;
  plan.dims = graph.dims();
  Maps maps(plan.dims);
  Clustering clusters = cluster(graph, maps, options);
  const Places places = place_values(graph, clusters, plan);
  for (uint32_t c = 0; c < clusters.clusters.size(); ++c) plan.steps.push_back(lower(graph, maps, clusters, c, places));
  plan.edges = std::move(clusters.edges);
  plan.shared = std::move(clusters.shared);
  return plan;
}

}  // namespace ingot::fuse
