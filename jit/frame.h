// What one call of a kernel body sees: the contract between the strip driver and every body, emitted or interpreted.
// Plain data at fixed offsets: emitted code reads it by these offsets, so a change here changes `frame_version`, which
// is part of the artifact's key.
//
// A body computes one sweep of the schedule (loop/schedule.h) on one strip. It touches nothing but what the frame
// points to, and what it fetches from there, allocates nothing and calls nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::jit {

inline constexpr uint32_t frame_version = 5;

inline constexpr uint32_t frame_stream = 1;  // non-temporal stores: each lane-store pointer is 64-byte aligned
inline constexpr uint32_t frame_ahead = 2;   // mode cols: as many rows again follow those of the call, in the next one

// Bytes of one fold's accumulator block in mode cols: eight items of at most eight bytes.
inline constexpr size_t acc_bytes = 64;

// Items of a view that stands still along the lanes (Frame::along): no round of a body has more lanes.
inline constexpr int64_t still_items = 128;

// What went wrong in the calls of a launch: the first failure of a check that a body met, and nothing after it.
struct Fault {
  uint64_t check = 0;  // 1 + the number of the check; 0: nothing went wrong
  int64_t index = 0;   // what it was about
  int64_t extent = 0;
};

struct Frame {
  // Per view of the kernel: the address of its element at lane 0 of this call. A load or store view with the lane
  // axis holds consecutive items, n of them. One without it is a single item. In mode row the address is also that of
  // the first k of the call. iota views are i64 items, inside views bytes. No alignment is promised.
  char* const* ptr;
  // Mode row: bytes from one k to the next, per view; 0 for a view without cols. Null in mode cols.
  const int64_t* step;
  // Per hold: the address of its item at lane 0 of this call.
  char* const* hold;
  const int64_t* size;  // size slots of the kernel
  // Mode cols: fold slot f owns eight items at acc + f * acc_bytes; the driver initialises them at the first lane of a
  // block and collects them after it. A sweep adds each whole group's t_j to item j (float sum and prod: NUMERICS.md),
  // or merges by any assignment of lanes to items (the order-free folds). Booleans are bytes, 0 or 1.
  // Mode row: fold slot f owns lane_capacity items of its type at acc + f * acc_stride. For dots the sweep adds its
  // chain's p to the item of the lane. For the other folds these are the items a_j of the lanes, and the k of the call
  // are k_j, k_(j+8), ... k_(j+56) of one group, the first `k` of them: the sweep adds their t_j, with the identity for
  // those that are absent.
  char* acc;
  int64_t acc_stride;
  // Results of the folds of earlier sweeps. Mode cols: eight bytes a slot, the bits zero-extended. Mode row: the
  // items at value + f * acc_stride, one per lane.
  const char* value;
  int64_t n;      // lanes of this call: a multiple of the sweep's granule, at most strip_lanes
  int64_t valid;  // lanes that count: n, or less by under one granule; a fold ignores the lanes beyond. Loads and
                  // stores may touch all n
  int64_t k;      // mode row: how many k this call covers, at least one (the last sweep, which has no folds: unused)
  uint32_t flags;
  uint32_t reserved;
  char* scratch;  // the body's own, Body::scratch_bytes() of it, 64-byte aligned; nothing survives the call
  Fault* fault;   // written where a check fails on a lane that counts

  // Mode cols: rows that follow the first in this call, with the same lanes of each. Row r has its views `row_step`
  // bytes (by view) further than row r - 1, its holds `hold_step` bytes (by hold), its accumulators and values right
  // behind those of row r - 1. Neither table is looked at where no row follows.
  int64_t more_rows;
  const int64_t* row_step;
  const int64_t* hold_step;

  // Mode cols, of the views that loop::may_stand_still() names: 0 where the view has one value in all lanes of a row,
  // of which still_items copies lie at its address; else -1. Lane i of it is item i & along. Other views: not looked
  // at.
  const int64_t* along;
};

}  // namespace ingot::jit
