// Walking the elements of arrays.
#pragma once

#include <utility>

#include "array.h"

namespace ingot::oracle {

using Index = std::vector<int64_t>;

inline int64_t linear(const std::vector<int64_t>& shape, const Index& index) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

// Calls f(index) for each index of a shape in row-major order.
template <class F>
void each_index(const std::vector<int64_t>& shape, F f) {
  if (element_count(shape) == 0) return;
  Index index(shape.size(), 0);
  for (;;) {
    f(std::as_const(index));
    size_t d = shape.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < shape[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

// The element of x that NumPy's broadcasting reads for a result index.
inline uint64_t broadcast_at(const Array& x, const Index& index) {
  const size_t skip = index.size() - x.shape.size();
  int64_t at = 0;
  for (size_t d = 0; d < x.shape.size(); ++d) at = at * x.shape[d] + (x.shape[d] == 1 ? 0 : index[skip + d]);
  return x.bits[static_cast<size_t>(at)];
}

}  // namespace ingot::oracle
