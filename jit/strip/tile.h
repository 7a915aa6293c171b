// The rows that one call of a body covers in mode cols: where each view lies in them, and copies of what the body
// cannot read or write where it lies. Walks (walk_cols.cpp) say which lanes; this says where they stand.
#pragma once

#include "jit/strip/items.h"
#include "jit/strip/plan.h"

namespace ingot::jit {

class Tile {
 public:
  // How a view lies in the rows of the tile at hand: where it is in the first one and by how much it moves from one to
  // the next, and the rows in which its boxes on outer axes hold.
  struct Place {
    char* at;        // its element at lane 0 of row 0; load and store
    int64_t item;    // the same of an iota
    int64_t stride;  // bytes, or increments of an iota
    int64_t in0, in1;
  };
  static_assert(sizeof(Place) == place_bytes);  // as Plan lays out scratch

  // `still`: the body knows views that stand still along the lanes.
  Tile(const Plan& plan, char* scratch, bool still);

  // To a row of the linear index over the outer axes.
  void seek(int64_t row);
  // Takes the next rows, `most` or fewer: neighbours along the innermost outer axis. Views without lanes are pointed
  // at, once for all sweeps. Whether more of the `most` follow these along that axis.
  bool next(int64_t most);
  int64_t rows() const { return rows_; }
  const Place& place(size_t v) const { return table<Place>(p_.at)[v]; }

  // Points at lanes [k0, k0 + m) of a load view in all rows, readable up to n lanes. False if they are consecutive in
  // memory, where no more than m may be read.
  bool present(size_t v, int64_t k0, int64_t m, int64_t n);
  // The same of what `present` left in memory, or what was then left of it from lane k0 on: m < pad_lanes lanes in
  // padded copies.
  void pad(size_t v, int64_t k0, int64_t m);

  // Points at lanes from k0 on of a store view: in memory, or in a copy (true) that finish_store() puts in its place.
  bool present_store(size_t v, int64_t k0);
  void finish_store(size_t v, int64_t k0, int64_t m);
  // The same for one in memory, in padded copies.
  void pad_store(size_t v);
  void finish_padded(size_t v, int64_t k0, int64_t m);

  // Of the first row, as bodies see it (Frame::ptr and Frame::row_step).
  char* ptr[loop::max_views];
  int64_t row_step[loop::max_views] = {};
  int64_t along[loop::max_views];  // Frame::along

 private:
  // What a view's strip holds, so that it is filled again only when that changes: one value in every lane, or what
  // repeats with the innermost lane axis from a place in it.
  struct Splat {
    uint64_t bits;   // the value, or the place
    int64_t filled;  // lanes; 0: nothing known; negative: lanes of what repeats
  };
  static_assert(sizeof(Splat) == 16);

  bool stands_still(size_t v) const { return still_ && g_.views[v].still; }

  // Which copy of a short end a view's tail holds: of which tile, from which lane on, how many lanes; and in how many
  // rows what follows these is zero.
  struct Padded {
    int64_t tile = -1, k0 = 0, m = 0, rows = 0;
  };

  template <class T>
  T* table(size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }
  Splat& splat(size_t v) const { return table<Splat>(p_.splat)[v]; }
  AxisRun lane_axes(const ViewPlan& v) const { return {g_.outer, g_.lane, v.first_cut + v.outer_cuts, v.lane_cuts}; }

  void advance();
  void locate(size_t v);
  uint64_t value_in(size_t v, int64_t t) const;
  bool point(size_t v, char* at);
  char* filled(size_t v, uint64_t bits, int64_t n);
  void present_still(size_t v);
  void present_rows(size_t v, bool cut, int64_t k0, int64_t m);
  char* present_same(size_t v, int64_t k0, int64_t m);

  const Plan& p_;
  const Geometry& g_;
  char* const scratch_;
  const bool still_;
  int64_t rows_ = 1;
  int64_t number_ = 0;                    // of the tile, in this walk
  int64_t copied_[loop::max_views] = {};  // the tile whose values a view that stands still has in its strip
  int64_t index_[loop::max_axes] = {};
  Padded padded_[loop::max_views];
};

}  // namespace ingot::jit
