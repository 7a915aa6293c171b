#include "runtime/overlap.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ingot::runtime {

namespace {

__extension__ typedef __int128 wide;  // sums of 64-bit products; NOLINT(modernize-use-using): no __extension__ there

// count + 1 steps of a positive stride.
struct Steps {
  int64_t stride;
  int64_t count;
};

// At most the dims of two tensors.
struct Search {
  std::array<Steps, 40> terms;
  size_t n = 0;
  int budget = 20000;

  void add(int64_t stride, int64_t count) {
    if (count > 0 && stride != 0 && n < terms.size()) terms[n++] = {stride, count};
  }

  // Whether some sum of x_i * stride_i, 0 <= x_i <= count_i, lies in [lo, hi]. Large strides first; what the rest can
  // reach and divide bounds each choice, so nested layouts need no search. Depth is the number of terms.
  bool reaches(size_t at, wide lo, wide hi) {
    if (--budget < 0) return true;
    if (hi < 0) return false;
    if (at == n) return lo <= 0;
    wide rest = 0;
    int64_t divisor = 0;
    for (size_t i = at + 1; i < n; ++i) {
      rest += static_cast<wide>(terms[i].stride) * terms[i].count;
      divisor = std::gcd(divisor, terms[i].stride);
    }
    const auto [stride, count] = terms[at];
    if (lo > rest + static_cast<wide>(stride) * count) return false;
    const int64_t all = std::gcd(divisor, stride);
    if (all > 0) {  // some multiple of the common divisor has to lie in the target
      const wide first = lo <= 0 ? 0 : (lo + all - 1) / all * all;
      if (first > hi) return false;
    }
    const wide least = lo - rest <= 0 ? 0 : (lo - rest + stride - 1) / stride;
    const wide most = std::min<wide>(count, hi / stride);
    for (wide x = least; x <= most; ++x)
      if (reaches(at + 1, lo - x * stride, hi - x * stride)) return true;
    return false;
  }

  bool run(wide lo, wide hi) {
    std::sort(terms.begin(), terms.begin() + static_cast<ptrdiff_t>(n),
              [](const Steps& a, const Steps& b) { return a.stride > b.stride; });
    return reaches(0, lo, hi);
  }
};

int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

bool empty(const Region& r) {
  return std::any_of(r.extent, r.extent + r.rank, [](int64_t e) { return e == 0; });
}

}  // namespace

Span span_of(const Region& r) noexcept {
  auto lo = reinterpret_cast<uintptr_t>(r.base), hi = lo;
  if (empty(r)) return {lo, lo};
  for (size_t d = 0; d < r.rank; ++d) {
    const int64_t reach = r.stride[d] * (r.extent[d] - 1);
    (reach < 0 ? lo : hi) += static_cast<uintptr_t>(reach);
  }
  return {lo, hi + r.item};
}

bool overlap(const Region& a, const Region& b) noexcept {
  const Span x = span_of(a), y = span_of(b);
  if (x.lo == x.hi || y.lo == y.hi || x.hi <= y.lo || y.hi <= x.lo) return false;
  // Offsets of a from its lowest byte minus those of b from its highest item, both counted upwards.
  Search s;
  for (size_t d = 0; d < a.rank; ++d) s.add(magnitude(a.stride[d]), a.extent[d] - 1);
  for (size_t d = 0; d < b.rank; ++d) s.add(magnitude(b.stride[d]), b.extent[d] - 1);
  // a.lo + u == b.top - v up to the item sizes, u and v sums of steps: u + v in b.top - a.lo + (-a.item, b.item).
  const auto gap = static_cast<wide>(y.hi - b.item) - static_cast<wide>(x.lo);
  return s.run(gap - static_cast<wide>(a.item) + 1, gap + static_cast<wide>(b.item) - 1);
}

bool self_overlap(const Region& r) noexcept {
  if (empty(r)) return false;
  // The usual case needs no search: each stride steps over all that the smaller ones reach.
  std::array<Steps, 16> dims;
  size_t n = 0;
  for (size_t d = 0; d < r.rank && n < dims.size(); ++d)
    if (r.extent[d] > 1) dims[n++] = {magnitude(r.stride[d]), r.extent[d] - 1};
  std::sort(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(n),
            [](const Steps& a, const Steps& b) { return a.stride < b.stride; });
  wide reach = static_cast<wide>(r.item);
  bool nested = true;
  for (size_t i = 0; i < n; ++i) {
    nested = nested && dims[i].stride >= reach;
    reach += static_cast<wide>(dims[i].stride) * dims[i].count;
  }
  if (nested) return false;
  // Two indices differ first in dim i: its difference is at least 1, those of later dims anything.
  for (size_t i = 0; i < n; ++i) {
    if (dims[i].stride == 0) return true;
    Search s;
    wide shift = dims[i].stride;
    s.add(dims[i].stride, dims[i].count - 1);
    for (size_t j = i + 1; j < n; ++j) {
      s.add(dims[j].stride, 2 * dims[j].count);
      shift -= static_cast<wide>(dims[j].stride) * dims[j].count;
    }
    const auto item = static_cast<wide>(r.item);
    if (s.run(-item + 1 - shift, item - 1 - shift)) return true;
  }
  return false;
}

}  // namespace ingot::runtime
