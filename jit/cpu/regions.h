// Which nodes of a list run only where a `rare` needs its slow arm.
#pragma once

#include <vector>

#include "loop/kernel.h"

namespace ingot::jit {

// A region is the straight-line code of the list itself (region 0) or of one rare's slow arm, nested as they are.
struct Regions {
  std::vector<std::vector<loop::NodeId>> nodes;  // per region, in node order
  std::vector<uint32_t> slow_of;                 // per node: the region of its slow arm, 0 for what is no rare

  // Regions this small are computed and selected from: a branch costs more and splits the schedule.
  static constexpr size_t inline_below = 4;
  bool is_inline(uint32_t region) const { return nodes[region].size() < inline_below; }
};

// `list` is in node order. A node runs in a slow arm if all its uses within the list do; uses from elsewhere (stores,
// folds, later lists) are given as `roots`.
Regions find_regions(const loop::Kernel& kernel, const std::vector<loop::NodeId>& list,
                     const std::vector<loop::NodeId>& roots);

}  // namespace ingot::jit
