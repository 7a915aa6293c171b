#include "jit/strip/items.h"

#include <algorithm>
#include <cstring>

#include "jit/strip/turn.h"

namespace ingot::jit {

using loop::ViewKind;

namespace {

template <class T>
T get(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void put(char* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// Calls f with a value of the unsigned type of that size.
template <class F>
void with_size(unsigned size, F f) {
  switch (size) {
    case 1: f(uint8_t{}); break;
    case 2: f(uint16_t{}); break;
    case 4: f(uint32_t{}); break;
    default: f(uint64_t{}); break;
  }
}

template <class T>
void fill_items(char* dst, uint64_t bits, int64_t n) {
  constexpr int64_t item = sizeof(T), run = 64 / item;
  T copies[run];
  std::fill_n(copies, run, static_cast<T>(bits));
  int64_t i = 0;
  for (; i + run <= n; i += run) std::memcpy(dst + i * item, copies, sizeof copies);
  if (i < n && n >= run) return static_cast<void>(std::memcpy(dst + (n - run) * item, copies, sizeof copies));
  for (; i < n; ++i) put(dst + i * item, copies[0]);
}

template <class T>
void gather_items(char* dst, const char* src, int64_t stride, int64_t n) {
  if (stride == int64_t{sizeof(T)}) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  if (stride == 0) {
    fill_items<T>(dst, get<T>(src), n);
    return;
  }
  for (int64_t i = 0; i < n; ++i) put(dst + i * int64_t{sizeof(T)}, get<T>(moved(src, i * stride)));
}

template <class T>
void scatter_items(char* dst, int64_t stride, const char* src, int64_t n) {
  if (stride == int64_t{sizeof(T)}) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i) put(moved(dst, i * stride), get<T>(src + i * int64_t{sizeof(T)}));
}

// `outer` rows of `inner` items, each row and each item its stride apart in memory, to or from consecutive items.
template <class T>
void gather_plane(char* dst, const char* src, int64_t outer, int64_t outer_stride, int64_t inner,
                  int64_t inner_stride) {
  constexpr int64_t item = sizeof(T);
  if (inner < outer) {  // few items a row: along the rows first, for loops that are worth their start
    for (int64_t j = 0; j < inner; ++j)
      for (int64_t r = 0; r < outer; ++r)
        put(dst + (r * inner + j) * item, get<T>(moved(src, r * outer_stride + j * inner_stride)));
    return;
  }
  for (int64_t r = 0; r < outer; ++r)
    gather_items<T>(dst + r * inner * item, moved(src, r * outer_stride), inner_stride, inner);
}
template <class T>
void scatter_plane(char* dst, const char* src, int64_t outer, int64_t outer_stride, int64_t inner,
                   int64_t inner_stride) {
  constexpr int64_t item = sizeof(T);
  if (inner < outer) {
    for (int64_t j = 0; j < inner; ++j)
      for (int64_t r = 0; r < outer; ++r)
        put(moved(dst, r * outer_stride + j * inner_stride), get<T>(src + (r * inner + j) * item));
    return;
  }
  for (int64_t r = 0; r < outer; ++r)
    scatter_items<T>(moved(dst, r * outer_stride), inner_stride, src + r * inner * item, inner);
}

// Cuts the range into planes of the two innermost axes: f(offset of the first item, rows, items a row). No cuts.
template <class F>
void for_planes(const Geometry& g, const ViewPlan& v, const AxisRun& axes, int64_t at, int64_t n, F f) {
  const int64_t* extent = g.extent + axes.axis;
  const int64_t* stride = v.stride + axes.axis;
  const unsigned inner = axes.count - 1;
  int64_t index[loop::max_axes];
  int64_t offset = 0;
  for (unsigned a = axes.count; a-- > 0;) {
    index[a] = a ? at % extent[a] : at;
    at = a ? at / extent[a] : 0;
    offset += index[a] * stride[a];
  }
  while (n > 0) {
    int64_t rows = 1, run = std::min(n, extent[inner] - index[inner]);
    if (inner > 0 && index[inner] == 0 && n >= extent[inner])
      rows = std::min(n / extent[inner], inner > 1 ? extent[inner - 1] - index[inner - 1] : n / extent[inner]);
    f(offset, rows, run);
    n -= rows * run;
    if (n == 0 || inner == 0) return;
    // The last of the rows ended with the innermost axis, unless that was all: on to the next row.
    offset += rows * stride[inner - 1] - index[inner] * stride[inner];
    index[inner] = 0;
    index[inner - 1] += rows;
    for (unsigned a = inner - 1; a > 0 && index[a] == extent[a]; --a) {
      offset += stride[a - 1] - index[a] * stride[a];
      index[a] = 0;
      ++index[a - 1];
    }
  }
}

// Cuts the range into runs along the innermost axis, and those at the view's cuts: f(offset of the run's first item in
// bytes or increments, items, whether they exist).
template <class F>
void for_runs(const Geometry& g, const ViewPlan& v, const AxisRun& axes, int64_t at, int64_t n, F f) {
  if (n <= 0) return;
  const int64_t* extent = g.extent + axes.axis;
  const int64_t* stride = v.stride + axes.axis;
  const Cut* cuts = g.cuts.data() + axes.first_cut;
  const unsigned inner = axes.count - 1;
  int64_t index[loop::max_axes];
  int64_t offset = 0;
  for (unsigned a = axes.count; a-- > 0;) {
    index[a] = a ? at % extent[a] : at;
    at = a ? at / extent[a] : 0;
    offset += index[a] * stride[a];
  }
  const bool cut = axes.cut_count != 0;
  for (;;) {
    const int64_t j = index[inner];
    const int64_t run = std::min(n, extent[inner] - j);
    if (!cut) {
      f(offset, run, true);
    } else {
      int64_t lo = j, hi = j + run;
      for (unsigned c = 0; c < axes.cut_count; ++c) {
        const unsigned a = cuts[c].axis - axes.axis;
        if (a == inner) {
          lo = std::max(lo, cuts[c].lo);
          hi = std::min(hi, cuts[c].hi);
        } else if (index[a] < cuts[c].lo || index[a] >= cuts[c].hi) {
          hi = lo;
        }
      }
      if (lo >= hi) {
        f(offset, run, false);
      } else {
        if (lo > j) f(offset, lo - j, false);
        f(offset + (lo - j) * stride[inner], hi - lo, true);
        if (hi < j + run) f(offset, j + run - hi, false);
      }
    }
    n -= run;
    if (n == 0) return;
    // The run ended at the innermost axis's end: carry.
    offset -= j * stride[inner];
    index[inner] = 0;
    for (unsigned a = inner; a-- > 0;) {
      ++index[a];
      offset += stride[a];
      if (index[a] < extent[a] || a == 0) break;
      offset -= index[a] * stride[a];
      index[a] = 0;
    }
  }
}

}  // namespace

void gather(char* dst, const char* src, int64_t stride, int64_t n, unsigned size) {
  with_size(size, [&](auto t) { gather_items<decltype(t)>(dst, src, stride, n); });
}

void scatter(char* dst, int64_t stride, const char* src, int64_t n, unsigned size) {
  with_size(size, [&](auto t) { scatter_items<decltype(t)>(dst, stride, src, n); });
}

void fill(char* dst, uint64_t bits, int64_t n, unsigned size) {
  with_size(size, [&](auto t) { fill_items<decltype(t)>(dst, bits, n); });
}

uint64_t load_bits(const char* p, unsigned size) {
  uint64_t bits = 0;
  with_size(size, [&](auto t) { bits = get<decltype(t)>(p); });
  return bits;
}

void scatter_rows(char* dst, int64_t stride, const char* src, int64_t pitch, int64_t rows, int64_t n, unsigned size) {
  const TurnSquare turn = turn_square(size);
  with_size(size, [&](auto t) {
    using T = decltype(t);
    constexpr int64_t item = sizeof(T);
    int64_t i = 0;
    for (; i + square <= n; i += square) {
      char* const to = moved(dst, i * stride);
      int64_t r = 0;
      for (; r + square <= rows; r += square) turn(to + r * item, stride, src + r * pitch + i * item, pitch);
      for (; r < rows; ++r)
        for (int64_t x = 0; x < square; ++x)
          put(moved(to, r * item + x * stride), get<T>(src + r * pitch + (i + x) * item));
    }
    for (; i < n; ++i)
      for (int64_t r = 0; r < rows; ++r) put(moved(dst, r * item + i * stride), get<T>(src + r * pitch + i * item));
  });
}

void gather_rows(char* dst, int64_t pitch, const char* src, int64_t stride, int64_t rows, int64_t n, unsigned size) {
  const TurnSquare turn = turn_square(size);
  with_size(size, [&](auto t) {
    using T = decltype(t);
    constexpr int64_t item = sizeof(T);
    // Each line is a page of its own, so nothing else fetches it early. Not further ahead: lines a power of two apart
    // share few sets of the cache.
    constexpr int64_t ahead = square, line = 64;
    int64_t i = 0;
    // All rows of eight items before the next eight: the cache lines that hold them may share one set.
    for (; i + square <= n; i += square) {
      const char* const from = moved(src, i * stride);
      for (int64_t x = 0; x < square; ++x)
        for (int64_t at = 0; at < rows * item; at += line) __builtin_prefetch(moved(from, (ahead + x) * stride + at));
      int64_t r = 0;
      for (; r + square <= rows; r += square) turn(dst + r * pitch + i * item, pitch, moved(from, r * item), stride);
      for (; r < rows; ++r)
        for (int64_t x = 0; x < square; ++x)
          put(dst + r * pitch + (i + x) * item, get<T>(moved(from, r * item + x * stride)));
    }
    for (; i < n; ++i)
      for (int64_t r = 0; r < rows; ++r) put(dst + r * pitch + i * item, get<T>(moved(src, r * item + i * stride)));
  });
}

namespace {
// The first and the last N bytes of each row, which may overlap: between N and 2 N of them.
template <size_t N>
void copy_ends(char* dst, int64_t dst_pitch, const char* src, int64_t src_pitch, int64_t rows, int64_t bytes) {
  const int64_t last = bytes - int64_t{N};
  for (; rows > 0; --rows, dst += dst_pitch, src = moved(src, src_pitch)) {
    char a[N], b[N];
    std::memcpy(a, src, N);
    std::memcpy(b, src + last, N);
    std::memcpy(dst, a, N);
    std::memcpy(dst + last, b, N);
  }
}
}  // namespace

void copy_rows(char* dst, int64_t dst_pitch, const char* src, int64_t src_pitch, int64_t rows, int64_t bytes) {
  if (bytes >= 64 && bytes <= 128) return copy_ends<64>(dst, dst_pitch, src, src_pitch, rows, bytes);
  if (bytes >= 32 && bytes <= 64) return copy_ends<32>(dst, dst_pitch, src, src_pitch, rows, bytes);
  if (bytes >= 16 && bytes <= 32) return copy_ends<16>(dst, dst_pitch, src, src_pitch, rows, bytes);
  if (bytes >= 8 && bytes <= 16) return copy_ends<8>(dst, dst_pitch, src, src_pitch, rows, bytes);
  if (bytes >= 4 && bytes <= 8) return copy_ends<4>(dst, dst_pitch, src, src_pitch, rows, bytes);
  for (; rows > 0; --rows, dst += dst_pitch, src = moved(src, src_pitch))
    std::memcpy(dst, src, static_cast<size_t>(bytes));
}

void stage(const Geometry& g, const ViewPlan& v, const AxisRun& axes, const char* base, int64_t value, int64_t at,
           int64_t n, char* dst) {
  if (v.kind == ViewKind::iota) {
    const int64_t step = v.stride[axes.axis + axes.count - 1];
    for_runs(g, v, axes, at, n, [&](int64_t offset, int64_t run, bool) {
      const uint64_t first = static_cast<uint64_t>(value) + static_cast<uint64_t>(offset);
      for (int64_t i = 0; i < run; ++i)
        put(dst + i * 8, first + static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
      dst += run * 8;
    });
    return;
  }
  if (v.kind == ViewKind::inside) {
    for_runs(g, v, axes, at, n, [&](int64_t, int64_t run, bool in) {
      std::memset(dst, in, static_cast<size_t>(run));
      dst += run;
    });
    return;
  }
  const int64_t step = v.stride[axes.axis + axes.count - 1];
  const int64_t row_step = axes.count > 1 ? v.stride[axes.axis + axes.count - 2] : 0;
  with_size(v.size, [&](auto t) {
    using T = decltype(t);
    if (axes.cut_count == 0) {
      for_planes(g, v, axes, at, n, [&](int64_t offset, int64_t rows, int64_t run) {
        gather_plane<T>(dst, moved(base, offset), rows, row_step, run, step);
        dst += rows * run * int64_t{sizeof(T)};
      });
      return;
    }
    for_runs(g, v, axes, at, n, [&](int64_t offset, int64_t run, bool in) {
      if (in) {
        gather_items<T>(dst, moved(base, offset), step, run);
      } else {
        fill_items<T>(dst, v.fill, run);
      }
      dst += run * int64_t{sizeof(T)};
    });
  });
}

void unstage(const Geometry& g, const ViewPlan& v, const AxisRun& axes, char* base, int64_t at, int64_t n,
             const char* src) {
  const int64_t step = v.stride[axes.axis + axes.count - 1];
  const int64_t row_step = axes.count > 1 ? v.stride[axes.axis + axes.count - 2] : 0;
  with_size(v.size, [&](auto t) {
    using T = decltype(t);
    for_planes(g, v, axes, at, n, [&](int64_t offset, int64_t rows, int64_t run) {
      scatter_plane<T>(moved(base, offset), src, rows, row_step, run, step);
      src += rows * run * int64_t{sizeof(T)};
    });
  });
}

}  // namespace ingot::jit
