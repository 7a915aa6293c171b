// What kind of thread mapping a kernel's text has: what emit and launch_plan have to agree on. Cheap, without heap:
// every launch asks.
#pragma once

#include "loop/kernel.h"

namespace ingot::jit::cuda {

enum class Kind : uint8_t {
  elements,  // no cols: a thread an element
  product,   // with fold.dot
  columns,   // Kernel::row_lanes: neighbours in memory along the last row axis
  rows,      // all others: folds and scans along the cols
};

struct Traits {
  Kind kind = Kind::elements;
  bool folds = false;       // other than fold.dot
  bool checks = false;      // indices, so that Args has `fault`
  uint8_t levels = 0;       // of folds and scans; 2 stands for more
  uint16_t fold_count = 0;  // of all kinds
  uint16_t scan_count = 0;
  uint8_t scan_directions = 0;  // bit 0 up, bit 1 down
  bool stores_along = false;    // some store has the cols
};
Traits traits(const loop::Kernel& kernel);

// Threads of a block, in all entries.
inline constexpr uint32_t block_threads = 256;
inline constexpr int64_t blocks_each = 32;  // of a multiprocessor: no more than hide the tail of the last wave
inline constexpr uint32_t warp_threads = 32, block_warps = block_threads / warp_threads;

// Rows up to this length are folded by a warp each.
inline constexpr int64_t warp_row = 1024;

// Whether few long rows may be folded by many blocks, in two stages: one level of folds, and stores once a row.
bool in_parts(const Traits& traits);
// How many blocks of 1,024 of the sum order one block of threads takes in the first stage, a power of two. The text
// says the same.
inline constexpr int64_t part_blocks(Kind kind, int64_t blocks) {
  return kind == Kind::columns ? (blocks < 4096 ? 1 : 8) : blocks < 32768 ? 8 : 64;
}
// What a partial result takes in scratch: eight items of up to eight bytes.
inline constexpr int64_t part_bytes = 64;

// A scan without folds beside it, all in one direction: a thread can walk a row.
bool in_walks(const Traits& traits);
// The product's form of tiles.
struct TileAxes {
  bool fits = false;
  bool swapped = false;  // the dot's first argument has the last row axis
  ir::DType type = ir::DType::invalid;
};
// One product of floats whose arguments share neither the last row axis nor the one before it.
TileAxes tile_axes(const loop::Kernel& kernel, const Traits& traits);
inline constexpr int64_t tile_side = 64;
inline constexpr int64_t tile_high(ir::DType type) { return ir::item_size(type) == 4 ? 128 : 64; }

}  // namespace ingot::jit::cuda
