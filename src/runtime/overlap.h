// Whether strided pieces of memory share a byte. Exact for what hosts do (views of one array, interleaved or side by
// side); where the search would take too long the answer is "yes", which costs a temporary and never a wrong result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::runtime {

// Memory of `item` bytes at base + sum(index[d] * stride[d]), 0 <= index[d] < extent[d]. Strides in bytes.
struct Region {
  const char* base;
  size_t item;
  size_t rank;
  const int64_t* extent;
  const int64_t* stride;
};

// The bytes from the lowest to one past the highest; empty (lo == hi) if an extent is 0.
struct Span {
  uintptr_t lo, hi;
};
Span span_of(const Region& r) noexcept;
// Whether the two have no byte in common; nothing is apart from everything.
inline bool apart(const Span& a, const Span& b) noexcept {
  return a.hi <= b.lo || b.hi <= a.lo || a.lo == a.hi || b.lo == b.hi;
}

bool overlap(const Region& a, const Region& b) noexcept;

// Whether two different indices share a byte.
bool self_overlap(const Region& r) noexcept;

}  // namespace ingot::runtime
