// Values of a random graph in the making, and sizes for them.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/graph.h"
#include "random.h"

namespace ingot::oracle {

using Shape = std::vector<int64_t>;
inline constexpr size_t assignments = 3;

// A value in the making with its extents under each assignment of sizes.
struct Known {
  ir::ValueId id;
  ir::DType type;
  std::vector<ir::DimId> dims;
  std::vector<Shape> shapes;
};

inline int64_t random_size(Random& r, int64_t most) {
  static constexpr int64_t sizes[] = {1,  1,  2,  3,  4,  5,  7,  8,   8,   12,  15,   16,
                                      16, 17, 24, 31, 33, 64, 65, 100, 129, 257, 1027, 1500};
  for (;;) {
    const int64_t n = r.chance(2) ? 0 : r.pick(sizes);
    if (n <= most) return n;
  }
}

inline bool broadcasts(const Known& a, const Known& b) {
  for (size_t i = 0; i < assignments; ++i)
    for (size_t d = 0; d < std::min(a.dims.size(), b.dims.size()); ++d) {
      const int64_t x = a.shapes[i][a.dims.size() - 1 - d], y = b.shapes[i][b.dims.size() - 1 - d];
      if (x != y && x != 1 && y != 1) return false;
    }
  return true;
}

}  // namespace ingot::oracle
