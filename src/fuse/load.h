// What an op adds to a kernel, so that the planner stays below the kernel IR's limits and keeps kernels of a size that
// compiles fast.
#pragma once

#include "fuse/cluster.h"

namespace ingot::fuse {

Cluster::Load sum(const Cluster::Load& a, const Cluster::Load& b);
// The limit that keeps one kernel from holding that much, if there is one; `most_weight` is in primitives.
std::optional<Reason> over_limit(const Cluster::Load& load, uint32_t most_weight);
// The primitives that an op expands to, about.
uint32_t weight(const ir::Graph& graph, const ir::Op& op);
// Whether reading the value takes a view: literals and extents do not.
bool is_load(const ir::Graph& graph, ir::ValueId v);
// Of a kernel that computes the op under `times` maps, each operand being read.
Cluster::Load load_of(const ir::Graph& graph, const ir::Op& op, size_t times);

}  // namespace ingot::fuse
