// Kernels in an order in which each comes after those it reads from.
#include <algorithm>
#include <functional>
#include <queue>

#include "base/error.h"
#include "fuse/cluster.h"

namespace ingot::fuse {

// Kahn's algorithm; among the kernels that are ready, the one whose first stored value is oldest, so that the order
// follows the graph's and depends on nothing else.
std::vector<uint32_t> launch_order(std::vector<Cluster>& clusters, std::span<const uint32_t> alive) {
  std::vector<uint32_t> waits(clusters.size(), 0);
  for (const uint32_t c : alive) {
    auto& after = clusters[c].after;
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    for (const uint32_t a : after) ++waits[a];
  }
  using Entry = std::pair<ir::ValueId, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const auto push = [&](uint32_t c) {
    ir::ValueId least = ir::no_value;
    for (const Cluster::Root& r : clusters[c].roots) least = std::min(least, r.value);
    ready.emplace(least, c);
  };
  for (const uint32_t c : alive)
    if (waits[c] == 0) push(c);
  std::vector<uint32_t> number(clusters.size(), no_cluster);
  uint32_t next = 0;
  while (!ready.empty()) {
    const uint32_t c = ready.top().second;
    ready.pop();
    number[c] = next++;
    for (const uint32_t a : clusters[c].after)
      if (--waits[a] == 0) push(a);
  }
  if (next != alive.size()) bug("kernels wait for each other");
  return number;
}

}  // namespace ingot::fuse
