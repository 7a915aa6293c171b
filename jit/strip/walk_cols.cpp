// Mode cols: rows one after another (or tile_rows together), each swept in strips along its lanes.
#include <algorithm>
#include <cstring>
#include <span>

#include "jit/strip/fold.h"
#include "jit/strip/items.h"
#include "jit/strip/plan.h"
#include "jit/strip/scan.h"
#include "jit/strip/stream.h"

namespace ingot::jit {

using loop::strip_lanes;
using loop::Sweep;
using loop::ViewKind;

namespace {

// What a view's strip holds, so that it is filled again only when that changes: one value in every lane, or what
// repeats with the innermost lane axis from a place in it.
struct Splat {
  uint64_t bits;   // the value, or the place
  int64_t filled;  // lanes; 0: nothing known; negative: lanes of what repeats
};
static_assert(sizeof(Splat) == 16);

class Walk {
 public:
  Walk(const Plan& plan, const Body& body, char* scratch, Fault& fault)
      : p_(plan),
        g_(plan.geometry),
        kernel_(plan.program->kernel),
        schedule_(plan.program->schedule),
        body_(body),
        scratch_(scratch),
        views_(g_.views.size()),
        holds_(scratch),
        stream_(plan.stream && body.compiled() && g_.tile_rows == 1) {
    frame_.ptr = ptr_;
    frame_.size = plan.sizes;
    frame_.hold = table<char*>(plan.hold_at);
    frame_.scratch = scratch + plan.scratch;
    frame_.fault = &fault;
    for (size_t v = 0; v < views_; ++v) splat(v).filled = 0;
  }

  // Rows [first, last) of the linear index over the outer axes, lanes [lane0, lane1) of each.
  void run(int64_t first, int64_t last, int64_t lane0, int64_t lane1) {
    seek(first);
    for (int64_t row = first; row < last;) {
      // A tile's rows are neighbours along the innermost outer axis.
      const int64_t left = g_.tile_rows == 1 ? 1 : g_.extent[g_.outer - 1] - index_[g_.outer - 1];
      const int64_t rows = std::min({g_.tile_rows, left, last - row});
      for (int64_t t = 0; t < rows; ++t) {
        locate(t);
        advance();
      }
      for (unsigned first = 0, last; first < schedule_.sweeps.size(); first = last + 1) {
        for (last = first; schedule_.sweeps[last].linked;) ++last;
        if (first < last || scans(first)) scanning(first, last, rows, lane0, lane1);
        else sweep(first, rows, lane0, lane1);
      }
      if (!schedule_.row_stores.empty())
        for (int64_t t = 0; t < rows; ++t) {
          select_row(t);
          body_.row(frame_);
        }
      row += rows;
    }
    if (streamed_) stream_fence();
  }

  // One sweep over a piece of a split row. What its folds gave lies in shared memory, for whoever runs the last piece
  // to join.
  void run_piece(int64_t row, int64_t piece, unsigned index, char* shared) {
    seek(row);
    locate(0);
    const Sweep& s = schedule_.sweeps[index];
    const size_t folds = schedule_.folds.size();
    char* const values = shared + p_.row_value + static_cast<size_t>(row) * folds * sizeof(uint64_t);
    const auto block = [&](int32_t f, int64_t of) {
      const size_t number =
          (static_cast<size_t>(row) * folds + static_cast<size_t>(f)) * static_cast<size_t>(p_.pieces);
      return shared + p_.block + (number + static_cast<size_t>(of)) * acc_bytes;
    };
    std::memcpy(table<char>(p_.value), values, folds * sizeof(uint64_t));
    holds_ = shared + p_.row_hold + static_cast<size_t>(row) * p_.row_hold_pitch;
    const int64_t lane0 = piece * chunk_elements;
    begin_folds(s, 1);
    strips(s, index, 1, lane0, std::min(g_.lanes, lane0 + chunk_elements));
    if (streamed_) stream_fence();
    for (const loop::NodeId n : s.folds) {
      const int32_t f = schedule_.fold_slot[n];
      std::memcpy(block(f, piece), joined(0, kernel_.nodes[n], f), acc_bytes);
    }
    std::atomic<int64_t>& done = pieces_done(p_, shared, row);
    if (done.fetch_add(1, std::memory_order_acq_rel) + 1 != p_.pieces) return;
    done.store(0, std::memory_order_relaxed);
    // A piece is an aligned run of blocks, so that pieces join by number as blocks do.
    for (const loop::NodeId n : s.folds) {
      const loop::Node& node = kernel_.nodes[n];
      const int32_t f = schedule_.fold_slot[n];
      depth(0, f) = 0;
      for (int64_t i = 0; i < p_.pieces; ++i)
        depth(0, f) = tree_push(node.op, node.type, stack(0, f), depth(0, f), i, block(f, i));
      finish(0, node, f, g_.lanes);
    }
    std::memcpy(values, table<char>(p_.value), folds * sizeof(uint64_t));
    if (index + 1 < p_.phases() || schedule_.row_stores.empty()) return;
    select_row(0);
    body_.row(frame_);
  }

 private:
  // To a row of the linear index over the outer axes.
  void seek(int64_t row) {
    for (unsigned a = g_.outer; a-- > 0;) {
      index_[a] = row % g_.extent[a];
      row /= g_.extent[a];
    }
  }

  template <class T>
  T* table(size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }
  Splat& splat(size_t v) const { return table<Splat>(p_.splat)[v]; }
  char*& at(int64_t t, size_t v) const { return table<char*>(p_.at)[static_cast<size_t>(t) * views_ + v]; }
  int64_t& item(int64_t t, size_t v) const { return table<int64_t>(p_.item)[static_cast<size_t>(t) * views_ + v]; }
  bool& in(int64_t t, size_t v) const { return table<bool>(p_.in)[static_cast<size_t>(t) * views_ + v]; }
  size_t slot(int64_t t, int32_t f) const {
    return static_cast<size_t>(t) * schedule_.folds.size() + static_cast<size_t>(f);
  }
  char* acc(int64_t t, int32_t f) const { return scratch_ + p_.acc + slot(t, f) * acc_bytes; }
  char* stack(int64_t t, int32_t f) const { return scratch_ + p_.stack + slot(t, f) * p_.levels * acc_bytes; }
  uint32_t& depth(int64_t t, int32_t f) const { return table<uint32_t>(p_.depth)[slot(t, f)]; }
  uint64_t& value(int64_t t, int32_t f) const { return table<uint64_t>(p_.value)[slot(t, f)]; }

  void advance() {
    for (unsigned a = g_.outer; a-- > 0;) {
      if (++index_[a] < g_.extent[a]) return;
      index_[a] = 0;
    }
  }

  // Where every view lies in the row at index_: its element at lane 0, or for a view without lanes the item itself.
  void locate(int64_t t) {
    for (size_t v = 0; v < views_; ++v) {
      const ViewPlan& view = g_.views[v];
      int64_t offset = 0;
      for (unsigned a = 0; a < g_.outer; ++a) offset += index_[a] * view.stride[a];
      bool inside = !view.outside;
      for (unsigned c = 0; c < view.outer_cuts; ++c) {
        const Cut& cut = g_.cuts[view.first_cut + c];
        inside &= index_[cut.axis] >= cut.lo && index_[cut.axis] < cut.hi;
      }
      in(t, v) = inside;
      int64_t& own = item(t, v);
      char*& place = at(t, v);
      switch (view.kind) {
        case ViewKind::iota: own = view.value + offset; break;
        case ViewKind::inside: own = inside; break;
        default:
          if (!inside) own = static_cast<int64_t>(view.fill);
          place = moved(view.base, offset);
      }
      const bool memory = view.kind == ViewKind::store || (view.kind == ViewKind::load && inside);
      if (view.access == Access::uniform && !memory) place = reinterpret_cast<char*>(&own);
    }
  }

  // Points the frame at row t.
  void select_row(int64_t t) {
    std::copy_n(&at(t, 0), views_, ptr_);
    frame_.acc = scratch_ + p_.acc + slot(t, 0) * acc_bytes;
    frame_.value = reinterpret_cast<const char*>(table<uint64_t>(p_.value) + slot(t, 0));
  }

  void sweep(unsigned index, int64_t rows, int64_t lane0, int64_t lane1) {
    const Sweep& s = schedule_.sweeps[index];
    begin_folds(s, rows);
    strips(s, index, rows, lane0, lane1);
    finish_folds(s, rows, lane1 - lane0);
  }

  // Strips of blocks, which are counted from lane0 on.
  void strips(const Sweep& s, unsigned index, int64_t rows, int64_t lane0, int64_t lane1) {
    if (s.folds.empty() && s.stores.empty() && s.fills.empty()) return;
    const bool folds = !s.folds.empty();
    bool peel = stream_ && !folds;
    for (int64_t k0 = lane0; k0 < lane1;) {
      int64_t k1 = std::min(lane1, k0 + strip_lanes);
      if (!folds) {
        k1 = std::min(k1, segment_end(s, k0));
        if (g_.tile_rows > 1) k1 = std::min(k1, k0 + tile_lanes);
        if (peel) k1 = std::min(k1, peeled_end(s, k0, k1));
        peel = false;
      }
      stage_tiles(s, rows, k0, k1 - k0);
      for (int64_t t = 0; t < rows; ++t) {
        select_row(t);
        strip(s, index, t, k0, k1 - k0);
      }
      if (folds)
        for (int64_t t = 0; t < rows; ++t) collect(s, t, (k0 - lane0) / strip_lanes, k1 == lane1);
      k0 = k1;
    }
  }

  void begin_folds(const Sweep& s, int64_t rows) {
    for (int64_t t = 0; t < rows; ++t)
      for (const loop::NodeId n : s.folds) {
        fold_init(kernel_.nodes[n].op, kernel_.nodes[n].type, acc(t, schedule_.fold_slot[n]), 8);
        depth(t, schedule_.fold_slot[n]) = 0;
      }
  }
  void finish_folds(const Sweep& s, int64_t rows, int64_t n) {
    for (int64_t t = 0; t < rows; ++t)
      for (const loop::NodeId f : s.folds) finish(t, kernel_.nodes[f], schedule_.fold_slot[f], n);
  }

  // --- sweeps whose values are scanned, alone or linked with what follows

  // Calls f with each hold of a sweep that is scanned, and its node.
  template <class F>
  void each_scan(unsigned index, F f) const {
    for (const uint16_t h : schedule_.sweeps[index].fills)
      if (schedule_.holds[h].scanned()) f(h, kernel_.nodes[schedule_.holds[h].node]);
  }
  bool scans(unsigned index) const {
    bool any = false;
    each_scan(index, [&](uint16_t, const loop::Node&) { any = true; });
    return any;
  }
  ScanState& scan_state(int64_t t, uint16_t h) const {
    return table<ScanState>(p_.scan)[static_cast<size_t>(t) * schedule_.holds.size() + h];
  }
  static bool is_down(const loop::Node& scan) { return scan.imm & loop::scan_reverse; }

  // Sweeps [first, last]: one strip after another goes through all of them, its scans right behind the sweep that wrote
  // what they take. A scan against the direction of the walk follows at its end.
  void scanning(unsigned first, unsigned last, int64_t rows, int64_t lane0, int64_t lane1) {
    bool down = false;
    if (first < last) each_scan(first, [&](uint16_t, const loop::Node& n) { down = is_down(n); });
    const Sweep& end = schedule_.sweeps[last];  // the only one that may have folds
    begin_folds(end, rows);
    for (unsigned s = first; s <= last; ++s)
      each_scan(s, [&](uint16_t h, const loop::Node& n) {
        for (int64_t t = 0; t < rows; ++t) scan_begin(n, scan_state(t, h));
      });
    const int64_t step = end.folds.empty() && g_.tile_rows > 1 ? tile_lanes : strip_lanes;
    for (int64_t done = 0; done < lane1 - lane0;) {
      const int64_t m = std::min(step, lane1 - lane0 - done);
      const int64_t k0 = down ? lane1 - done - m : lane0 + done;
      window_ = k0;
      for (unsigned s = first; s <= last; ++s) {
        const Sweep& sweep = schedule_.sweeps[s];
        stage_tiles(sweep, rows, k0, m);
        for (int64_t t = 0; t < rows; ++t) {
          select_row(t);
          strip(sweep, s, t, k0, m);
        }
        each_scan(s, [&](uint16_t h, const loop::Node& n) {
          if (is_down(n) != down) return;
          for (int64_t t = 0; t < rows; ++t) scan_items(n, scan_state(t, h), held(t, h, k0), m);
        });
      }
      done += m;
      if (!end.folds.empty())
        for (int64_t t = 0; t < rows; ++t) collect(end, t, k0 / strip_lanes, done == lane1 - lane0);
    }
    finish_folds(end, rows, lane1 - lane0);
    each_scan(last, [&](uint16_t h, const loop::Node& n) {
      if (is_down(n) == down) return;
      for (int64_t t = 0; t < rows; ++t) scan_items(n, scan_state(t, h), held(t, h, lane0), lane1 - lane0);
    });
  }

  // Where a hold has its item for lane k0 of a row.
  char* held(int64_t t, uint16_t h, int64_t k0) const {
    const loop::Hold& hold = schedule_.holds[h];
    const size_t row = p_.hold[h] + static_cast<size_t>(t) * p_.hold_pitch[h];
    const int64_t item = k0 - (hold.window ? window_ : 0);
    return holds_ + row + item * int64_t{storage_size(kernel_.nodes[hold.node].type)};
  }

  // Sweeps without folds may be cut anywhere: at the boxes, so that a strip lies inside or outside each.
  int64_t segment_end(const Sweep& s, int64_t k0) const {
    int64_t end = g_.lanes;
    if (g_.lane > 1) return end;
    for (const uint16_t v : s.views) {
      const ViewPlan& view = g_.views[v];
      for (unsigned c = 0; c < view.lane_cuts; ++c) {
        const Cut& cut = g_.cuts[view.first_cut + view.outer_cuts + c];
        if (k0 < cut.lo) end = std::min(end, cut.lo);
        else if (k0 < cut.hi) end = std::min(end, cut.hi);
      }
    }
    return end;
  }

  // A first strip so short that the stores of the next begin on 64 bytes; k1 if there is none or no need.
  int64_t peeled_end(const Sweep& s, int64_t k0, int64_t k1) const {
    StreamPeel peel;
    for (const uint16_t st : s.stores) {
      const uint16_t v = kernel_.stores[st].view;
      if (g_.views[v].access != Access::direct) return k1;
      peel.add(at(0, v) + k0 * g_.views[v].size, g_.views[v].size);
    }
    const int64_t lanes = peel.lanes();
    return lanes > 0 && k0 + lanes < k1 ? k0 + lanes : k1;
  }

  void collect(const Sweep& s, int64_t t, int64_t block, bool last) {
    for (const loop::NodeId n : s.folds) {
      const loop::Node& node = kernel_.nodes[n];
      if (!is_ordered(node.op, node.type)) continue;
      const int32_t f = schedule_.fold_slot[n];
      depth(t, f) = tree_push(node.op, node.type, stack(t, f), depth(t, f), block, acc(t, f));
      if (!last) fold_init(node.op, node.type, acc(t, f), 8);
    }
  }

  // The one block that is left of a fold.
  const char* joined(int64_t t, const loop::Node& node, int32_t f) const {
    if (depth(t, f) == 0) return acc(t, f);
    tree_close(node.op, node.type, stack(t, f), depth(t, f));
    return stack(t, f);
  }
  void finish(int64_t t, const loop::Node& node, int32_t f, int64_t n) {
    value(t, f) = fold_finish(node.op, node.type, joined(t, node, f), n);
  }

  AxisRun lane_axes(const ViewPlan& v) const { return {g_.outer, g_.lane, v.first_cut + v.outer_cuts, v.lane_cuts}; }

  void stage_tiles(const Sweep& s, int64_t rows, int64_t k0, int64_t m) {
    if (g_.tile_rows == 1) return;
    for (const uint16_t v : s.views) {
      const ViewPlan& view = g_.views[v];
      if (!view.tile || !tile_in(rows, v)) continue;
      const int64_t stride = view.stride[g_.outer + g_.lane - 1];
      splat(v).filled = 0;
      gather_rows(scratch_ + view.strip, tile_pitch(g_, view), moved(at(0, v), k0 * stride), stride, rows, m,
                  view.size);
    }
    tile_count_ = rows;
  }
  bool tile_in(int64_t rows, size_t v) const {
    for (int64_t t = 0; t < rows; ++t)
      if (!in(t, v)) return false;
    return true;
  }

  char* filled(size_t v, uint64_t bits, int64_t n) {
    char* const strip = scratch_ + g_.views[v].strip;
    Splat& s = splat(v);
    if (s.filled < n || s.bits != bits) {
      fill(strip, bits, n, g_.views[v].size);
      s = {bits, n};
    }
    return strip;
  }

  // Where lanes [k0, k0 + m) of a load view stand, readable up to n lanes; null if they are consecutive in memory.
  char* present(size_t v, int64_t t, int64_t k0, int64_t m, int64_t n) {
    const ViewPlan& view = g_.views[v];
    if (!in(t, v)) return filled(v, view.kind == ViewKind::inside ? 0 : view.fill, n);
    if (view.tile && tile_in(tile_count_, v)) return scratch_ + view.strip + t * tile_pitch(g_, view);
    bool cut = view.lane_cuts != 0;
    if (cut && g_.lane == 1) {
      const Cut& c = g_.cuts[view.first_cut + view.outer_cuts];
      if (k0 >= c.hi || k0 + m <= c.lo) return filled(v, view.kind == ViewKind::inside ? 0 : view.fill, n);
      cut = k0 < c.lo || k0 + m > c.hi;
    }
    if (!cut) {
      if (view.access == Access::direct) return nullptr;
      if (view.kind == ViewKind::inside) return filled(v, 1, n);
      if (view.access == Access::splat)
        return filled(
            v, view.kind == ViewKind::iota ? static_cast<uint64_t>(item(t, v)) : load_bits(at(t, v), view.size), n);
    }
    char* const strip = scratch_ + view.strip;
    Splat& held = splat(v);
    const int64_t period = g_.extent[g_.outer + g_.lane - 1];
    if (view.periodic && period < strip_lanes) {
      // A period more than a strip: from any place in it a whole strip follows, and nothing is copied again.
      const int64_t place = k0 % period, first = k0 - place;
      if (held.bits != 0 || held.filled > -(place + m)) {
        const int64_t count = std::min(g_.lanes - first, strip_lanes + period);
        stage(g_, view, lane_axes(view), at(t, v), item(t, v), first, count, strip);
        held = {0, -count};
      }
      return strip + place * view.size;
    }
    if (view.periodic) {
      const auto place = static_cast<uint64_t>(k0 % period);
      if (held.filled <= -m && held.bits == place) return strip;
      held = {place, -m};
    } else {
      held.filled = 0;
    }
    stage(g_, view, lane_axes(view), at(t, v), item(t, v), k0, m, strip);
    return strip;
  }

  // Lanes [k0, k0 + m) of one row. Whole granules run where they lie; the rest, and what is shorter than pad_lanes
  // anyway, on padded copies.
  void strip(const Sweep& s, unsigned index, int64_t t, int64_t k0, int64_t m) {
    const int64_t n = round_up(m, s.granule);
    uint16_t direct[loop::max_views];  // loads, then stores, that lie in memory
    size_t loads = 0, count = 0;
    for (const uint16_t v : s.views) {
      ptr_[v] = present(v, t, k0, m, n);
      if (ptr_[v]) continue;
      ptr_[v] = at(t, v) + k0 * g_.views[v].size;
      direct[count++] = v;
    }
    loads = count;
    bool aligned = stream_ && !s.stores.empty();
    for (const uint16_t st : s.stores) {
      const uint16_t v = kernel_.stores[st].view;
      const ViewPlan& view = g_.views[v];
      if (view.access == Access::direct) {
        ptr_[v] = at(t, v) + k0 * view.size;
        aligned &= (reinterpret_cast<uintptr_t>(ptr_[v]) & 63) == 0;
        direct[count++] = v;
      } else {
        ptr_[v] = scratch_ + view.strip;
        aligned = false;
      }
    }
    if (m == n || count == 0) {
      call(s, index, t, k0, n, m, aligned);
    } else {
      const int64_t whole = m < pad_lanes ? 0 : m / s.granule * s.granule;
      if (whole > 0) {
        call(s, index, t, k0, whole, whole, aligned);
        for (const uint16_t v : s.views) ptr_[v] += whole * g_.views[v].size;
        for (const uint16_t st : s.stores)
          ptr_[kernel_.stores[st].view] += whole * g_.views[kernel_.stores[st].view].size;
      }
      padded(s, index, t, k0 + whole, m - whole, {direct, loads}, {direct + loads, count - loads});
    }
    for (const uint16_t st : s.stores) {
      const uint16_t v = kernel_.stores[st].view;
      const ViewPlan& view = g_.views[v];
      if (view.access != Access::direct) unstage(g_, view, lane_axes(view), at(t, v), k0, m, scratch_ + view.strip);
    }
  }

  void padded(const Sweep& s, unsigned index, int64_t t, int64_t k0, int64_t m, std::span<const uint16_t> loads,
              std::span<const uint16_t> stores) {
    const int64_t n = round_up(m, s.granule);
    for (const uint16_t v : loads) {
      const ViewPlan& view = g_.views[v];
      char* const pad = scratch_ + view.tail;
      std::memcpy(pad, ptr_[v], static_cast<size_t>(m * view.size));
      std::memset(pad + m * view.size, 0, static_cast<size_t>((n - m) * view.size));
      ptr_[v] = pad;
    }
    for (const uint16_t v : stores) ptr_[v] = scratch_ + g_.views[v].tail;
    call(s, index, t, k0, n, m, false);
    for (const uint16_t v : stores) {
      const ViewPlan& view = g_.views[v];
      std::memcpy(at(t, v) + k0 * view.size, ptr_[v], static_cast<size_t>(m * view.size));
    }
  }

  void call(const Sweep& s, unsigned index, int64_t t, int64_t k0, int64_t n, int64_t valid, bool aligned) {
    char** const hold = table<char*>(p_.hold_at);
    for (const uint16_t h : s.fills) hold[h] = held(t, h, k0);
    for (const uint16_t h : s.reads) hold[h] = held(t, h, k0);
    frame_.n = n;
    frame_.valid = valid;
    frame_.flags = aligned ? frame_stream : 0;
    streamed_ |= aligned;
    body_.sweep(index, frame_);
  }

  const Plan& p_;
  const Geometry& g_;
  const loop::Kernel& kernel_;
  const loop::Schedule& schedule_;
  const Body& body_;
  char* const scratch_;
  const size_t views_;
  char* holds_;  // where buffers of a row are counted from
  const bool stream_;
  bool streamed_ = false;
  int64_t tile_count_ = 1;  // rows that the tiles hold
  int64_t window_ = 0;      // the lane at which buffers of one strip begin
  int64_t index_[loop::max_axes] = {};
  Frame frame_{};
  char* ptr_[loop::max_views];
};

}  // namespace

void walk_piece(const Plan& plan, const Body& body, unsigned phase, int64_t chunk, char* scratch, char* shared,
                Fault& fault) noexcept {
  Walk(plan, body, scratch, fault).run_piece(chunk / plan.pieces, chunk % plan.pieces, phase, shared);
}

void walk_cols(const Plan& plan, const Body& body, int64_t chunk, char* scratch, Fault& fault) noexcept {
  const Geometry& g = plan.geometry;
  Walk walk(plan, body, scratch, fault);
  if (plan.pieces > 1) {
    const int64_t row = chunk / plan.pieces, first = chunk % plan.pieces * chunk_elements;
    walk.run(row, row + 1, first, std::min(g.lanes, first + chunk_elements));
  } else {
    const int64_t first = chunk * plan.rows_per_chunk;
    walk.run(first, std::min(g.rows, first + plan.rows_per_chunk), 0, g.lanes);
  }
}

}  // namespace ingot::jit
