// Everything that the walkers need of one launch beside the body: geometry, chunking, and where things lie in the
// scratch arena. Made once a launch, read by all its chunks.
#pragma once

#include <atomic>

#include "jit/strip/geometry.h"

namespace ingot::jit {

// Elements of one chunk, about: work enough to hide what claiming a chunk costs, small enough to balance. A piece of a
// row that is split has as many, 64 blocks of the sum order; other chunks of costly kernels have fewer (chunk_lanes).
inline constexpr int64_t chunk_elements = 65536;
// Additions that an element costs in all sweeps together, loads and stores counted as one each.
int64_t element_cost(const Program& p);
int64_t chunk_lanes(const Program& p);
// Lanes of a padded copy: a granule of any sweep, and what peeling bytes to 64-byte alignment may take.
inline constexpr int64_t pad_lanes = 64;
// Mode row: rows that share what was staged.
inline constexpr int64_t tile_rows = 16;
// Mode cols: rows that share cache lines under column-like access: neighbouring lines of f32, which many
// processors fetch together. Each line is on a page of its own, so that more of it at once is fewer page walks: a
// transpose of 2048 x 2048 took 4.9, 2.9, 2.5, 2.5 ms with 32, 64, 128, 256 rows.
inline constexpr int64_t column_rows = 128;
// Mode cols: short rows are walked together, so many that what they read, hold and write stays in L2 from sweep to
// sweep. A call of the body for each row would cost more than the row.
inline constexpr int64_t most_rows = 64;
inline constexpr int64_t rows_bytes = 65536;
// Mode cols: strips of one long row that share a call, as if they were rows.
inline constexpr int64_t most_strips = 16;
// Lanes of a strip with column-like views where no block of the sum order asks for more: its rows stay in L2.
inline constexpr int64_t tile_lanes = 256;

// Bytes of what a walk of mode cols notes of each view (tile.h).
inline constexpr int64_t place_bytes = 40;

struct Plan {
  const Program* program = nullptr;
  const int64_t* sizes = nullptr;
  bool stream = false, twice = false;  // Launch::allow_stream(), allow_twice()
  Geometry geometry;

  // Mode cols: a chunk is `rows_per_chunk` whole rows or, if `pieces` > 1, one of so many pieces of one row. Where
  // there are folds, or buffers of a row, each sweep over the pieces is then a phase of its own, since it needs what
  // all of them gave in the sweeps before (`split`). Mode row: `rows_per_chunk` units, each the lanes of a strip
  // (`pieces` strips a row) for up to tile_rows outer rows (one where there are no dots).
  int64_t rows_per_chunk = 1;
  int64_t pieces = 1;
  bool split = false;
  int64_t strip = 0;  // mode row: lanes of a strip

  // Offsets into the scratch arena. Per-row state exists Geometry::tile_rows times.
  size_t at = 0, item = 0, in = 0, splat = 0;       // per view; item, and in mode row at and in, per row too
  size_t acc = 0, stack = 0, depth = 0, value = 0;  // per row and fold; acc and value also per strip of a call
  size_t hold_at = 0;                               // the table of Frame::hold
  size_t scan = 0;                                  // per row and hold: the ScanState of one that is scanned
  size_t acc_stride = 0;                            // mode row: from fold to fold
  unsigned levels = 0;                              // of a tree stack
  std::vector<size_t> hold;                         // per hold: its buffer of a row or a strip,
  std::vector<int64_t> hold_pitch;                  // and the bytes from one row's to the next row's,
  std::vector<int64_t> hold_strip;                  // from one strip's to the next strip's
  std::vector<int64_t> view_strip;                  // per view: the same in memory, 0 where no lane differs
  size_t scratch = 0;

  // Split rows: memory that all chunks of the launch share. Per row: how many pieces of this phase are done (a cache
  // line), the values of its folds, a block for each fold and piece, its buffers.
  size_t done = 0, row_value = 0, block = 0, row_hold = 0, row_hold_pitch = 0;
  size_t shared = 0;

  int64_t chunks() const;  // of each phase
  unsigned phases() const { return split ? static_cast<unsigned>(program->schedule.sweeps.size()) : 1; }
  int64_t units() const;  // mode row
  void build(const Program& p, const int64_t* size_slots, const ViewArg* args);
};

// Bytes from one row's strip to the next in a tile. Not a power of two: the rows of a column would share a cache set.
inline int64_t tile_pitch(const Geometry& g, const ViewPlan& v) {
  return round_up(round_up(g.lanes < loop::strip_lanes ? g.lanes : loop::strip_lanes, pad_lanes) * v.size, 64) + 64;
}

// Split rows: how many pieces of a row have run in the phase at hand.
inline std::atomic<int64_t>& pieces_done(const Plan& plan, char* shared, int64_t row) {
  return *reinterpret_cast<std::atomic<int64_t>*>(shared + plan.done + row * 64);
}

// One chunk of mode cols, of one phase of split rows, and of mode row. `stream` in the plan counts only for compiled
// bodies.
void walk_piece(const Plan& plan, const Body& body, unsigned phase, int64_t chunk, char* scratch, char* shared,
                Fault& fault) noexcept;
void walk_cols(const Plan& plan, const Body& body, int64_t chunk, char* scratch, Fault& fault) noexcept;
void walk_row(const Plan& plan, const Body& body, int64_t chunk, char* scratch, Fault& fault) noexcept;

}  // namespace ingot::jit
