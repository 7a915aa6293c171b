// What a cell says of an access: the era, how often the warp had synchronised, the thread, whether more than one was
// there, whether it was an atomic. Order follows from that alone, so cells need no clearing.
#pragma once

#include <cstdint>

#include "exec.h"

namespace standin {

enum Spread : unsigned { one_thread, one_warp, many_warps, many_blocks };

inline uint64_t era_of(uint64_t cell) { return cell >> tag_bits; }
inline unsigned thread_of(uint64_t cell) { return cell >> thread_shift & thread_mask; }
inline unsigned spread_of(uint64_t cell) { return cell >> 1 & 3; }
inline bool atomic_in(uint64_t cell) { return cell & 1; }

// Whether the warp has exchanged or synchronised since: the cell's count is below this thread's.
inline bool before_sync(uint64_t cell, uint64_t me) {
  const uint64_t a = cell >> stamp_shift & stamp_mask, b = me >> stamp_shift & stamp_mask;
  return ((a - b) & stamp_mask) > stamp_mask / 2;
}

// Whether what the cell tells of has no order with the running thread. What was before `floor` does not count.
inline bool unordered(uint64_t cell, uint64_t me, uint64_t floor) {
  const uint64_t era = era_of(cell);
  if (era < floor) return false;
  if (spread_of(cell) == many_blocks || era < exec.block_era) return true;
  if (era < exec.era) return false;
  if (spread_of(cell) == many_warps || thread_of(cell) / 32 != thread_of(me) / 32) return true;
  if (spread_of(cell) == one_thread && thread_of(cell) == thread_of(me)) return false;
  return !before_sync(cell, me);
}

// The cell after this thread joined those that it tells of.
inline uint64_t with(uint64_t cell, uint64_t me, uint64_t floor) {
  const uint64_t era = era_of(cell);
  if (era < floor) return me;
  if (spread_of(cell) == many_blocks || era < exec.block_era) return me | many_blocks << 1;
  if (!unordered(cell, me, floor)) return me;
  const bool warps = spread_of(cell) == many_warps || thread_of(cell) / 32 != thread_of(me) / 32;
  return me | (warps ? many_warps : one_warp) << 1;
}

}  // namespace standin
