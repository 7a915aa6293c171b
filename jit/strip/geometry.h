// The shape of one launch after its axes were merged: which axes are walked row by row, which ones the lanes run over,
// and how each view lies along them. Made by Launch::prepare(); plain data, reused from launch to launch.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/program.h"
#include "jit/strip/launch_args.h"

namespace ingot::jit {

// Moves an address by bytes. Through integers, because a view's base may lie outside its tensor (negative strides,
// boxes) and is only brought inside by the indices.
inline char* moved(const char* p, int64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(bytes));
}

inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// What is left of a view's boxes along one merged axis: elements exist for lo <= index < hi only.
struct Cut {
  uint8_t axis;
  int64_t lo, hi;
};

// How a view's items lie along the lanes of one row.
enum class Access : uint8_t {
  uniform,  // the view has no lane axis: one item for all lanes
  direct,   // consecutive items in memory
  splat,    // one value for every lane
  strided,  // a constant stride
  odometer  // several lane axes that no one stride describes
};

struct ViewPlan {
  char* base;     // element with all indices 0; load and store
  int64_t value;  // iota
  uint64_t fill;
  int64_t stride[loop::max_axes];  // bytes (iota: increments) per merged axis
  loop::ViewKind kind;
  Access access;
  uint8_t size;        // bytes of an item
  bool outside;        // outside its boxes everywhere
  bool periodic;       // varies along the innermost lane axis alone, the same in every row
  bool still;          // one value in all lanes of a row, presented as that (Frame::along)
  bool tile;           // column-like: staged for several rows at a time (Geometry::tile_rows)
  uint8_t outer_cuts;  // of `cuts`, in the order of the axes: the first ones lie on outer axes,
  uint8_t lane_cuts;   // then those on lane axes,
  uint8_t k_cuts;      // then (mode row) those on k axes
  uint32_t first_cut;  // into Geometry::cuts
  size_t strip;        // scratch offset of its strip
  size_t tail;         // scratch offset of its padded copy of a short end
};

// Merged axes are numbered outer first, then lane, then (mode row) k.
struct Geometry {
  std::vector<ViewPlan> views;
  std::vector<Cut> cuts;
  int64_t extent[loop::max_axes];
  unsigned outer = 0, lane = 0, ks = 0;  // how many axes of each sort; lane is at least 1
  int64_t rows = 1, lanes = 1, k = 1;    // products of their extents
  int64_t tile_rows = 1;                 // rows that are walked together (plan.h)
  bool tiled = false;                    // some view is column-like

  // In a kernel without cols, lanes run over the linear order of the rows; where that pays, the axes outside the
  // innermost merged one are walked row by row instead, many rows to a call. A call costs some 300 ns and a row 10, and
  // a copy of an item that is not consecutive in the linear order half a nanosecond. Rows of `row_lanes` are always
  // walked; shorter ones, from `least_row_lanes` (or whole granules) and so many together that they are
  // `least_tile_lanes`, where some view would be copied item by item.
  static constexpr int64_t row_lanes = 1024, least_row_lanes = 64, least_tile_lanes = 1024;

  void build(const Program& program, const int64_t* sizes, const ViewArg* args);
};

}  // namespace ingot::jit
