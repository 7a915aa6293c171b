// Everything that the walkers need of one launch beside the body: geometry, chunking, and where things lie in the
// scratch arena. Made once a launch, read by all its chunks.
#pragma once

#include "jit/strip/geometry.h"

namespace ingot::jit {

// Elements of one chunk, about: work enough to hide what claiming a chunk costs, small enough to balance.
inline constexpr int64_t chunk_elements = 65536;
// Lanes of a padded copy: a granule of any sweep, and what peeling bytes to 64-byte alignment may take.
inline constexpr int64_t pad_lanes = 64;
// Rows that share cache lines under column-like access: 64 bytes of f32. In mode row, rows that share what was staged.
inline constexpr int64_t tile_rows = 16;
// Mode cols: short rows are walked together, so many that what they read, hold and write stays in L2 from sweep to
// sweep. A call of the body for each row would cost more than the row.
inline constexpr int64_t most_rows = 64;
inline constexpr int64_t rows_bytes = 65536;
// Lanes of a strip in such a tile where no block of the sum order asks for more: 16 rows of it stay in L1.
inline constexpr int64_t tile_lanes = 256;

// Bytes of what a walk of mode cols notes of each view (walk_cols.cpp).
inline constexpr int64_t place_bytes = 40;

struct Plan {
  const Program* program = nullptr;
  const int64_t* sizes = nullptr;
  bool stream = false;
  Geometry geometry;

  // Mode cols: a chunk is `rows_per_chunk` whole rows or, if `pieces` > 1, one of so many pieces of one row.
  // Mode row: `rows_per_chunk` units, each the lanes of a strip (`pieces` strips a row) for up to tile_rows outer rows
  // (one where there are no dots).
  int64_t rows_per_chunk = 1;
  int64_t pieces = 1;
  int64_t strip = 0;  // mode row: lanes of a strip

  // Offsets into the scratch arena. Per-row state exists Geometry::tile_rows times.
  size_t at = 0, item = 0, in = 0, splat = 0;       // mode cols: at and splat per view, item per view and row
  size_t acc = 0, stack = 0, depth = 0, value = 0;  // per row and fold
  size_t hold_at = 0;                               // the table of Frame::hold
  size_t scan = 0;                                  // per row and hold: the ScanState of one that is scanned
  size_t acc_stride = 0;                            // mode row: from fold to fold
  unsigned levels = 0;                              // of a tree stack
  std::vector<size_t> hold;                         // per hold: its buffer of a row or a strip,
  std::vector<int64_t> hold_pitch;                  // and the bytes from one row's to the next row's
  size_t scratch = 0;

  int64_t chunks() const;
  int64_t units() const;  // mode row
  void build(const Program& p, const int64_t* size_slots, const ViewArg* args);
};

// Bytes from one row's strip to the next in a tile. Not a power of two: the rows of a column would share a cache set.
inline int64_t tile_pitch(const Geometry& g, const ViewPlan& v) {
  return round_up(round_up(g.lanes < loop::strip_lanes ? g.lanes : loop::strip_lanes, pad_lanes) * v.size, 64) + 64;
}

// One chunk of mode cols, and of mode row. `stream` in the plan counts only for compiled bodies.
void walk_cols(const Plan& plan, const Body& body, int64_t chunk, char* scratch, Fault& fault) noexcept;
void walk_row(const Plan& plan, const Body& body, int64_t chunk, char* scratch, Fault& fault) noexcept;

}  // namespace ingot::jit
