#include "jit/cpu/regions.h"

namespace ingot::jit {

using loop::NodeId;
using loop::Prim;

namespace {
constexpr uint32_t unused = ~uint32_t{0};

struct Tree {
  std::vector<uint32_t> parent{0};
  std::vector<uint32_t> depth{0};

  uint32_t add(uint32_t under) {
    parent.push_back(under);
    depth.push_back(depth[under] + 1);
    return static_cast<uint32_t>(parent.size() - 1);
  }
  // The innermost region that holds both.
  uint32_t common(uint32_t a, uint32_t b) const {
    if (a == unused) return b;
    while (a != b) {
      if (depth[a] >= depth[b]) a = parent[a];
      else b = parent[b];
    }
    return a;
  }
};
}  // namespace

Regions find_regions(const loop::Kernel& kernel, const std::vector<NodeId>& list, const std::vector<NodeId>& roots) {
  Tree tree;
  Regions out;
  out.slow_of.assign(kernel.nodes.size(), 0);
  std::vector<uint32_t> region(kernel.nodes.size(), unused);
  for (const NodeId n : roots) region[n] = 0;
  for (size_t i = list.size(); i-- > 0;) {
    const NodeId n = list[i];
    const loop::Node& node = kernel.nodes[n];
    if (region[n] == unused) region[n] = 0;
    const uint32_t here = region[n];
    const size_t always = node.op == Prim::rare ? 2 : 3;
    for (size_t a = 0; a < always; ++a)
      if (node.arg[a] != loop::no_node) region[node.arg[a]] = tree.common(region[node.arg[a]], here);
    if (node.op != Prim::rare) continue;
    const uint32_t slow = tree.add(here);
    out.slow_of[n] = slow;
    region[node.arg[2]] = tree.common(region[node.arg[2]], slow);
  }
  out.nodes.resize(tree.parent.size());
  for (const NodeId n : list) out.nodes[region[n]].push_back(n);
  return out;
}

}  // namespace ingot::jit
