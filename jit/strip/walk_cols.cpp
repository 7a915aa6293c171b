// Mode cols: rows one after another (or tile_rows together), each swept in strips along its lanes.
#include <algorithm>
#include <cstring>
#include <span>

#include "jit/strip/fold.h"
#include "jit/strip/items.h"
#include "jit/strip/plan.h"
#include "jit/strip/scan.h"
#include "jit/strip/stream.h"
#include "jit/strip/tile.h"

namespace ingot::jit {

using loop::strip_lanes;
using loop::Sweep;

namespace {

class Walk {
 public:
  Walk(const Plan& plan, const Body& body, char* scratch, Fault& fault)
      : p_(plan),
        g_(plan.geometry),
        kernel_(plan.program->kernel),
        schedule_(plan.program->schedule),
        body_(body),
        scratch_(scratch),
        tile_(plan, scratch, body.compiled()),
        holds_(scratch),
        stream_(plan.stream && body.compiled()),
        twice_(plan.twice) {
    frame_.ptr = tile_.ptr;
    frame_.row_step = tile_.row_step;
    frame_.hold_step = plan.hold_pitch.data();
    frame_.along = tile_.along;
    frame_.acc = scratch + plan.acc;
    frame_.value = scratch + plan.value;
    frame_.size = plan.sizes;
    frame_.hold = table<char*>(plan.hold_at);
    frame_.scratch = scratch + plan.scratch;
    frame_.fault = &fault;
  }

  // Rows [first, last) of the linear index over the outer axes, lanes [lane0, lane1) of each.
  void run(int64_t first, int64_t last, int64_t lane0, int64_t lane1) {
    tile_.seek(first);
    for (int64_t row = first; row < last; row += rows_) {
      const bool more = tile_.next(last - row);
      rows_ = tile_.rows();
      frame_.more_rows = rows_ - 1;
      ahead_ = more && g_.lanes <= strip_lanes ? frame_ahead : 0;
      for (unsigned first = 0, last; first < schedule_.sweeps.size(); first = last + 1) {
        for (last = first; schedule_.sweeps[last].linked;) ++last;
        if (first < last || scans(first)) scanning(first, last, lane0, lane1);
        else sweep(first, lane0, lane1);
      }
      if (!schedule_.row_stores.empty()) row_part();
    }
    if (streamed_) stream_fence();
  }

  // One sweep over a piece of a split row. What its folds gave lies in shared memory, for whoever runs the last piece
  // to join.
  void run_piece(int64_t row, int64_t piece, unsigned index, char* shared) {
    tile_.seek(row);
    tile_.next(1);
    const Sweep& s = schedule_.sweeps[index];
    const auto folds = static_cast<int64_t>(schedule_.folds.size());
    const size_t bytes = static_cast<size_t>(folds) * sizeof(uint64_t);
    char* const values = shared + p_.row_value + static_cast<size_t>(row) * bytes;
    const auto block = [&](int32_t f, int64_t of) {
      return shared + p_.block + static_cast<size_t>((row * folds + f) * p_.pieces + of) * acc_bytes;
    };
    std::memcpy(table<char>(p_.value), values, bytes);
    holds_ = shared + p_.row_hold + static_cast<size_t>(row) * p_.row_hold_pitch;
    const int64_t lane0 = piece * chunk_elements;
    begin_folds(s);
    strips(s, index, lane0, std::min(g_.lanes, lane0 + chunk_elements));
    join_blocks(s);
    if (streamed_) stream_fence();
    for (const loop::NodeId n : s.folds) {
      const int32_t f = schedule_.fold_slot[n];
      std::memcpy(block(f, piece), acc(0, f), acc_bytes);
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
    }
    finish_folds(s, g_.lanes);
    std::memcpy(values, table<char>(p_.value), bytes);
    if (index + 1 == p_.phases() && !schedule_.row_stores.empty()) row_part();
  }

 private:
  template <class T>
  T* table(size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }
  size_t slot(int64_t t, int32_t f) const {
    return static_cast<size_t>(t) * schedule_.folds.size() + static_cast<size_t>(f);
  }
  char* acc(int64_t t, int32_t f) const { return scratch_ + p_.acc + slot(t, f) * acc_bytes; }
  char* stack(int64_t t, int32_t f) const { return scratch_ + p_.stack + slot(t, f) * p_.levels * acc_bytes; }
  uint32_t& depth(int64_t t, int32_t f) const { return table<uint32_t>(p_.depth)[slot(t, f)]; }

  void row_part() {
    for (const uint16_t st : schedule_.row_stores) {
      const uint16_t v = kernel_.stores[st].view;
      tile_.ptr[v] = tile_.place(v).at;
      tile_.row_step[v] = tile_.place(v).stride;
    }
    body_.row(frame_);
  }

  void sweep(unsigned index, int64_t lane0, int64_t lane1) {
    const Sweep& s = schedule_.sweeps[index];
    begin_folds(s);
    strips(s, index, lane0, lane1);
    finish_folds(s, lane1 - lane0);
  }

  void strips(const Sweep& s, unsigned index, int64_t lane0, int64_t lane1) {
    if (s.folds.empty() && s.stores.empty() && s.fills.empty()) return;
    const bool folds = !s.folds.empty();
    bool peel = stream_ && !folds;
    const bool together = may_share_call(s);
    for (int64_t k0 = lane0; k0 < lane1;) {
      int64_t k1 = std::min(lane1, k0 + strip_lanes);
      if (const int64_t count = std::min(most_strips, (lane1 - k0) / strip_lanes); together && !peel && count > 1) {
        call_strips(s, index, k0, count);
        if (folds) collect_strips(s, k0 - lane0, count, lane1 - lane0);
        k0 += count * strip_lanes;
        continue;
      }
      if (!folds) {
        k1 = std::min(k1, segment_end(s, k0));
        if (g_.tiled) k1 = std::min(k1, k0 + tile_lanes);
        const int64_t rest = peel ? peeled_end(s, k0, k1) : k1;
        peel = false;
        if (rest < k1 && twice_ && rest - k0 < s.granule && k0 + s.granule <= k1) {
          strip(s, index, k0, s.granule);  // some of these lanes once more with the next strip
          k0 = rest;
          continue;
        }
        k1 = rest;
      }
      strip(s, index, k0, k1 - k0);
      if (folds) collect(s, k0 - lane0, k1 - lane0, lane1 - lane0);  // a piece has a tree of its own
      k0 = k1;
    }
  }

  // --- strips of one long row as rows of a call, which costs as much as a third of a strip in the cache

  // Whether everything that the sweep touches moves evenly from strip to strip.
  bool may_share_call(const Sweep& s) const {
    if (rows_ > 1 || g_.tiled || g_.lanes < 2 * strip_lanes) return false;
    const auto even = [&](uint16_t v) {
      const ViewPlan& view = g_.views[v];
      const Tile::Place& at = tile_.place(v);
      return view.access == Access::uniform ||
             ((view.access == Access::direct || view.access == Access::splat) && !view.lane_cuts && at.in0 < at.in1);
    };
    return std::ranges::all_of(s.views, even) &&
           std::ranges::all_of(s.stores, [&](uint16_t st) { return even(kernel_.stores[st].view); });
  }

  void call_strips(const Sweep& s, unsigned index, int64_t k0, int64_t count) {
    bool aligned = stream_ && !s.stores.empty();
    for (const uint16_t v : s.views) tile_.present(v, k0, strip_lanes, strip_lanes);
    for (const uint16_t st : s.stores) {
      const uint16_t v = kernel_.stores[st].view;
      tile_.present_store(v, k0);
      aligned &= (reinterpret_cast<uintptr_t>(tile_.ptr[v]) & 63) == 0;
    }
    for (const loop::NodeId n : s.folds) {
      const int32_t f = schedule_.fold_slot[n];
      fold_init_rows(kernel_.nodes[n].op, kernel_.nodes[n].type, acc(1, f), slot(1, 0) * acc_bytes, count - 1);
    }
    const size_t bytes = schedule_.folds.size() * sizeof(uint64_t);
    char* const values = table<char>(p_.value);
    if (index > 0)
      for (int64_t i = 1; i < count; ++i) std::memcpy(values + static_cast<size_t>(i) * bytes, values, bytes);
    frame_.row_step = p_.view_strip.data();
    frame_.hold_step = p_.hold_strip.data();
    frame_.more_rows = count - 1;
    call(s, index, k0, strip_lanes, strip_lanes, aligned);
    frame_.row_step = tile_.row_step;
    frame_.hold_step = p_.hold_pitch.data();
    frame_.more_rows = 0;
  }

  // As collect(), for the strips of a call.
  void collect_strips(const Sweep& s, int64_t k0, int64_t count, int64_t end) {
    for (const loop::NodeId n : s.folds) {
      const loop::Node& node = kernel_.nodes[n];
      const int32_t f = schedule_.fold_slot[n];
      if (!loop::is_ordered(node)) {
        for (int64_t i = 1; i < count; ++i) fold_join(node.op, node.type, acc(0, f), acc(i, f));
        continue;
      }
      for (int64_t i = 0; i < count; ++i)
        depth(0, f) = tree_push(node.op, node.type, stack(0, f), depth(0, f), k0 / strip_lanes + i, acc(i, f));
      if (k0 + count * strip_lanes != end) fold_init(node.op, node.type, acc(0, f), 8);
    }
  }

  void begin_folds(const Sweep& s) {
    for (const loop::NodeId n : s.folds) {
      const int32_t f = schedule_.fold_slot[n];
      fold_init_rows(kernel_.nodes[n].op, kernel_.nodes[n].type, acc(0, f), slot(1, 0) * acc_bytes, rows_);
      for (int64_t t = 0; t < rows_; ++t) depth(t, f) = 0;
    }
  }

  // The block of lanes [k0, k1) is complete, in every row. That of a row of one block stays where it is.
  void collect(const Sweep& s, int64_t k0, int64_t k1, int64_t end) {
    if (k0 == 0 && k1 == end) return;
    for (const loop::NodeId n : s.folds) {
      const loop::Node& node = kernel_.nodes[n];
      if (!loop::is_ordered(node)) continue;
      const int32_t f = schedule_.fold_slot[n];
      for (int64_t t = 0; t < rows_; ++t) {
        depth(t, f) = tree_push(node.op, node.type, stack(t, f), depth(t, f), k0 / strip_lanes, acc(t, f));
        if (k1 != end) fold_init(node.op, node.type, acc(t, f), 8);
      }
    }
  }

  // What lies on the stacks becomes one block, where that of a row of one block is already.
  void join_blocks(const Sweep& s) {
    for (const loop::NodeId id : s.folds) {
      const loop::Node& node = kernel_.nodes[id];
      const int32_t f = schedule_.fold_slot[id];
      for (int64_t t = 0; t < rows_; ++t) {
        if (depth(t, f) == 0) break;
        tree_close(node.op, node.type, stack(t, f), depth(t, f));
        std::memcpy(acc(t, f), stack(t, f), acc_bytes);
      }
    }
  }

  void finish_folds(const Sweep& s, int64_t n) {
    join_blocks(s);
    for (const loop::NodeId id : s.folds) {
      const loop::Node& node = kernel_.nodes[id];
      const int32_t f = schedule_.fold_slot[id];
      fold_finish_rows(node.op, node.type, acc(0, f), slot(1, 0) * acc_bytes, n,
                       table<char>(p_.value) + slot(0, f) * sizeof(uint64_t), slot(1, 0) * sizeof(uint64_t), rows_);
    }
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
  void scanning(unsigned first, unsigned last, int64_t lane0, int64_t lane1) {
    bool down = false;
    if (first < last) each_scan(first, [&](uint16_t, const loop::Node& n) { down = is_down(n); });
    const Sweep& end = schedule_.sweeps[last];  // the only one that may have folds
    begin_folds(end);
    for (unsigned s = first; s <= last; ++s)
      each_scan(s, [&](uint16_t h, const loop::Node& n) {
        for (int64_t t = 0; t < rows_; ++t) scan_begin(n, scan_state(t, h));
      });
    const int64_t step = end.folds.empty() && g_.tiled ? tile_lanes : strip_lanes;
    for (int64_t done = 0; done < lane1 - lane0;) {
      const int64_t m = std::min(step, lane1 - lane0 - done);
      const int64_t k0 = down ? lane1 - done - m : lane0 + done;
      window_ = k0;
      for (unsigned s = first; s <= last; ++s) {
        strip(schedule_.sweeps[s], s, k0, m);
        each_scan(s, [&](uint16_t h, const loop::Node& n) {
          if (is_down(n) != down) return;
          for (int64_t t = 0; t < rows_; ++t) scan_items(n, scan_state(t, h), held(t, h, k0), m);
        });
      }
      done += m;
      if (!end.folds.empty()) collect(end, k0, k0 + m, lane1);
    }
    finish_folds(end, lane1 - lane0);
    each_scan(last, [&](uint16_t h, const loop::Node& n) {
      if (is_down(n) == down) return;
      for (int64_t t = 0; t < rows_; ++t) scan_items(n, scan_state(t, h), held(t, h, lane0), lane1 - lane0);
    });
  }

  // Where a hold has its item for lane k0 of a row.
  char* held(int64_t t, uint16_t h, int64_t k0) const {
    const loop::Hold& hold = schedule_.holds[h];
    const int64_t item = k0 - (hold.window ? window_ : 0);
    return holds_ + p_.hold[h] + t * p_.hold_pitch[h] + item * int64_t{storage_size(kernel_.nodes[hold.node].type)};
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
    // Both parts of a cut row end in copies, which only a long one is worth.
    constexpr int64_t least = 256;
    if (k1 - k0 < least) return k1;
    StreamPeel peel;
    for (const uint16_t st : s.stores) {
      const uint16_t v = kernel_.stores[st].view;
      if (g_.views[v].access != Access::direct) return k1;
      if (rows_ > 1 && (tile_.place(v).stride & 63) != 0) return k1;
      peel.add(tile_.place(v).at + k0 * g_.views[v].size, g_.views[v].size);
    }
    const int64_t lanes = peel.lanes();
    return lanes > 0 && k0 + lanes < k1 ? k0 + lanes : k1;
  }

  // Lanes [k0, k0 + m) of all rows of the tile. Whole granules run where they lie; the rest with lanes before it once
  // more where that may be; else it runs on padded copies, as does what is shorter than pad_lanes anyway.
  void strip(const Sweep& s, unsigned index, int64_t k0, int64_t m) {
    const int64_t n = round_up(m, s.granule);
    uint16_t direct[loop::max_views];  // loads, then stores, that lie in memory
    size_t loads = 0, count = 0;
    for (const uint16_t v : s.views)
      if (!tile_.present(v, k0, m, n)) direct[count++] = v;
    loads = count;
    bool aligned = stream_ && !s.stores.empty();
    for (const uint16_t st : s.stores) {
      const uint16_t v = kernel_.stores[st].view;
      if (tile_.present_store(v, k0)) {
        aligned = false;
        continue;
      }
      const auto at = reinterpret_cast<uintptr_t>(tile_.ptr[v]);
      aligned &= (at & 63) == 0 && (rows_ == 1 || (tile_.row_step[v] & 63) == 0);
      direct[count++] = v;
    }
    if (m == n || count == 0) {
      call(s, index, k0, n, m, aligned);
    } else {
      const auto advance = [&](int64_t lanes) {
        for (const uint16_t v : s.views) tile_.ptr[v] += (lanes & tile_.along[v]) * g_.views[v].size;
        for (const uint16_t st : s.stores) {
          const uint16_t v = kernel_.stores[st].view;
          tile_.ptr[v] += lanes * g_.views[v].size;
        }
      };
      const bool again = twice_ && s.folds.empty() && m >= s.granule;
      const int64_t whole = m < pad_lanes && !again ? 0 : m / s.granule * s.granule;
      if (whole > 0) call(s, index, k0, whole, whole, aligned);
      const int64_t rest = again ? m - s.granule : whole;
      advance(rest);
      if (again) call(s, index, k0 + rest, s.granule, s.granule, false);
      else padded(s, index, k0 + rest, m - rest, {direct, loads}, {direct + loads, count - loads});
    }
    for (const uint16_t st : s.stores) tile_.finish_store(kernel_.stores[st].view, k0, m);
  }

  void padded(const Sweep& s, unsigned index, int64_t k0, int64_t m, std::span<const uint16_t> loads,
              std::span<const uint16_t> stores) {
    for (const uint16_t v : loads) tile_.pad(v, k0, m);
    for (const uint16_t v : stores) tile_.pad_store(v);
    call(s, index, k0, round_up(m, s.granule), m, false);
    for (const uint16_t v : stores) tile_.finish_padded(v, k0, m);
  }

  void call(const Sweep& s, unsigned index, int64_t k0, int64_t n, int64_t valid, bool aligned) {
    char** const hold = table<char*>(p_.hold_at);
    for (const uint16_t h : s.fills) hold[h] = held(0, h, k0);
    for (const uint16_t h : s.reads) hold[h] = held(0, h, k0);
    frame_.n = n;
    frame_.valid = valid;
    frame_.flags = ahead_ | (aligned ? frame_stream : 0);
    streamed_ |= aligned;
    body_.sweep(index, frame_);
  }

  const Plan& p_;
  const Geometry& g_;
  const loop::Kernel& kernel_;
  const loop::Schedule& schedule_;
  const Body& body_;
  char* const scratch_;
  Tile tile_;
  char* holds_;  // where buffers of a row are counted from
  const bool stream_, twice_;
  bool streamed_ = false;
  int64_t rows_ = 1;    // of the tile at hand
  uint32_t ahead_ = 0;  // whether another tile follows it in memory: frame_ahead or nothing
  int64_t window_ = 0;  // the lane at which buffers of one strip begin
  Frame frame_{};
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
