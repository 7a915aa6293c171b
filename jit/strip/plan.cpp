#include "jit/strip/plan.h"

#include <algorithm>
#include <cstdlib>

#include "jit/strip/fold.h"
#include "jit/strip/items.h"
#include "jit/strip/scan.h"

namespace ingot::jit {

using loop::LaneMode;
using loop::strip_lanes;
using loop::ViewKind;

namespace {

// Row buffers of a tile's rows together; beyond it rows are walked one by one.
constexpr int64_t most_tile_hold = int64_t{4} << 20;

// Mode row: lanes of a strip, and the multiply-adds of a chunk.
constexpr int64_t row_strip = 256;
constexpr int64_t row_chunk_work = int64_t{1} << 20;
// The same for the other folds in mode row: eight items a lane stay in L1, and a chunk's elements.
constexpr int64_t lane_strip = 1024;
constexpr int64_t lane_chunk = int64_t{1} << 18;

// Rows that are few and long are split among threads. Their buffers then exist for all rows at once, so that they must
// be fewer still.
constexpr int64_t most_split_rows = 16, most_split_rows_held = 4;

// Whether going through the view row by row would use one item of each cache line where neighbouring rows use the
// others.
bool column_like(const Geometry& g, const ViewPlan& v) {
  return (v.kind == ViewKind::load || v.kind == ViewKind::store) && v.access == Access::strided && v.lane_cuts == 0 &&
         g.outer > 0 && v.stride[g.outer - 1] == v.size && std::abs(v.stride[g.outer + g.lane - 1]) > v.size;
}

// Scans chain all lanes of a row.
bool may_split(const loop::Schedule& s, const Geometry& g) {
  if (g.lanes <= chunk_elements) return false;
  if (g.rows > (s.holds.empty() ? most_split_rows : most_split_rows_held)) return false;
  return std::ranges::none_of(s.holds, &loop::Hold::scanned);
}

class Arena {
 public:
  size_t take(int64_t bytes) {
    const size_t at = used_;
    used_ += static_cast<size_t>(round_up(bytes, 64));
    return at;
  }
  size_t used() const { return used_; }

 private:
  size_t used_ = 0;
};

}  // namespace

int64_t element_cost(const Program& p) {
  auto cost = static_cast<int64_t>(p.kernel.views.size());
  for (const loop::Sweep& s : p.schedule.sweeps) cost += s.weight;
  return std::max<int64_t>(cost, 1);
}

int64_t chunk_lanes(const Program& p) {
  constexpr int64_t work = int64_t{1} << 21, least = 4 * strip_lanes;  // some 60 us
  return std::clamp(work / element_cost(p) / strip_lanes * strip_lanes, least, chunk_elements);
}

int64_t Plan::chunks() const {
  if (geometry.rows == 0) return 0;
  if (program->schedule.mode == LaneMode::row) return (units() + rows_per_chunk - 1) / rows_per_chunk;
  // Rows without elements still have results of folds to store.
  if (geometry.lanes == 0 && program->schedule.row_stores.empty()) return 0;
  return pieces > 1 ? geometry.rows * pieces : (geometry.rows + rows_per_chunk - 1) / rows_per_chunk;
}

int64_t Plan::units() const {
  const int64_t inner = geometry.outer > 0 ? geometry.extent[geometry.outer - 1] : 1;
  return geometry.rows / std::max<int64_t>(1, inner) * ((inner + geometry.tile_rows - 1) / geometry.tile_rows) * pieces;
}

void Plan::build(const Program& p, const int64_t* size_slots, const ViewArg* args) {
  program = &p;
  sizes = size_slots;
  geometry.build(p, size_slots, args);
  Geometry& g = geometry;
  const loop::Schedule& schedule = p.schedule;
  const bool row_mode = schedule.mode == LaneMode::row;
  const auto views = static_cast<int64_t>(g.views.size());
  const auto folds = static_cast<int64_t>(schedule.folds.size());

  // A strip that starts anywhere may reach a granule beyond the row.
  const auto hold_bytes = [&](const loop::Hold& h) {
    const int64_t lanes = h.window ? std::min(g.lanes, strip_lanes) : g.lanes;
    return (round_up(lanes, pad_lanes) + pad_lanes) * int64_t{storage_size(p.kernel.nodes[h.node].type)};
  };
  g.tile_rows = 1;
  g.tiled = false;
  if (!row_mode && g.outer > 0 && g.extent[g.outer - 1] > 1) {
    // What sweeps find again; of a single one only copies, which it makes strip by strip.
    const bool once = schedule.sweeps.size() == 1 && schedule.folds.empty();
    const auto again = [&](const ViewPlan& v) {
      if (v.access == Access::uniform || v.stride[g.outer - 1] == 0) return false;
      return !once || (v.access != Access::direct && !v.still);
    };
    int64_t held = 0, row = 0;
    for (const loop::Hold& h : schedule.holds) held += hold_bytes(h);
    for (const ViewPlan& v : g.views)
      if (again(v)) row += (once ? std::min(g.lanes, strip_lanes) : g.lanes) * v.size;
    g.tile_rows = std::clamp<int64_t>(rows_bytes / std::max<int64_t>(1, row + held), 1, most_rows);
    if (once) g.tile_rows = std::clamp<int64_t>(chunk_lanes(p) / std::max<int64_t>(1, g.lanes), 1, g.tile_rows);
    if (held * column_rows <= most_tile_hold)
      for (ViewPlan& v : g.views)
        if (column_like(g, v)) {
          v.tile = g.tiled = true;
          g.tile_rows = std::max(g.tile_rows, column_rows);
        }
  }

  pieces = 1;
  split = false;
  if (row_mode) {
    if (schedule.dots) g.tile_rows = tile_rows;
    strip = schedule.dots ? row_strip : lane_strip;
    pieces = (g.lanes + strip - 1) / strip;
    const int64_t work = g.tile_rows * std::min(g.lanes, strip) * g.k;
    rows_per_chunk = std::max<int64_t>(1, (schedule.dots ? row_chunk_work : lane_chunk) / std::max<int64_t>(1, work));
  } else {
    rows_per_chunk = std::max<int64_t>(1, chunk_lanes(p) / std::max<int64_t>(1, g.lanes));
    if (g.tile_rows > 1) rows_per_chunk = round_up(rows_per_chunk, g.tile_rows);
    else if (schedule.folds.empty() && p.kernel.cols == 0 && g.lanes > chunk_elements)
      pieces = (g.lanes + chunk_elements - 1) / chunk_elements;
    else if (may_split(schedule, g)) split = true, pieces = (g.lanes + chunk_elements - 1) / chunk_elements;
  }

  Arena arena;
  const int64_t t = g.tile_rows;
  at = arena.take(row_mode ? t * views * int64_t{sizeof(char*)} : views * place_bytes);
  item = arena.take(t * views * int64_t{sizeof(int64_t)});
  if (row_mode) in = arena.take(t * views);
  else splat = arena.take(views * 16);
  const int64_t strips = row_mode ? t : std::max(t, std::min(most_strips, g.lanes / strip_lanes));
  value = arena.take(strips * folds * 8);
  levels = 0;
  if (row_mode) {
    acc_stride = static_cast<size_t>(strip * 8 * (schedule.dots ? 1 : loop::group_items));
    acc = arena.take(t * folds * static_cast<int64_t>(acc_stride));
    if (!schedule.dots) {
      depth = arena.take(folds * int64_t{sizeof(uint32_t)});
      levels = g.k > strip_lanes ? tree_levels(g.k) : 0;
      stack = arena.take(folds * int64_t{levels} * static_cast<int64_t>(acc_stride));
    }
  } else {
    acc = arena.take(strips * folds * int64_t{acc_bytes});
    depth = arena.take(t * folds * int64_t{sizeof(uint32_t)});
    levels = tree_levels(g.lanes);
    stack = arena.take(t * folds * int64_t{levels} * int64_t{acc_bytes});
  }
  hold.resize(schedule.holds.size());
  hold_pitch.resize(schedule.holds.size());
  hold_strip.resize(schedule.holds.size());
  view_strip.clear();
  for (const ViewPlan& v : g.views) view_strip.push_back(v.access == Access::direct ? strip_lanes * v.size : 0);
  const auto holds = static_cast<int64_t>(schedule.holds.size());
  hold_at = arena.take(holds * int64_t{sizeof(char*)});
  if (std::ranges::any_of(schedule.holds, &loop::Hold::scanned))
    scan = arena.take(t * holds * int64_t{sizeof(ScanState)});
  Arena row;  // of a split row: its own buffers
  for (size_t h = 0; h < hold.size(); ++h) {
    const int64_t bytes = round_up(hold_bytes(schedule.holds[h]), 64);
    hold_pitch[h] = bytes;
    hold_strip[h] = strip_lanes * int64_t{storage_size(p.kernel.nodes[schedule.holds[h].node].type)};
    hold[h] = (split ? row : arena).take(t * bytes);
  }
  shared = 0;
  if (split) {
    Arena all;
    done = all.take(g.rows * 64);
    row_value = all.take(g.rows * folds * 8);
    block = all.take(g.rows * folds * pieces * int64_t{acc_bytes});
    row_hold_pitch = row.used();
    row_hold = all.take(g.rows * static_cast<int64_t>(row_hold_pitch));
    shared = all.used();
  }
  const int64_t lanes = round_up(std::min(g.lanes, row_mode ? strip : strip_lanes), pad_lanes);
  for (ViewPlan& v : g.views) {
    if (row_mode) {
      // A tile of one block (or group) of k by the lanes of a strip; a short strip's lanes are padded.
      const int64_t most_k = schedule.dots ? loop::dot_block : loop::fold_granule;
      if (v.kind != ViewKind::store) v.strip = arena.take(most_k * lanes * v.size);
      else v.strip = arena.take(lanes * v.size);
      continue;
    }
    if (v.access == Access::uniform) continue;
    v.tail = arena.take(t * pad_lanes * v.size);
    if (v.access == Access::direct && !v.outer_cuts && !v.lane_cuts) continue;
    // A copy of each row, or of what is the same in all of them.
    const int64_t period = v.periodic ? g.extent[g.outer + g.lane - 1] : strip_lanes;
    const int64_t same = (lanes + (period < strip_lanes ? round_up(period, pad_lanes) : 0)) * v.size;
    v.strip = arena.take(
        std::max({same, t > 1 && !v.periodic ? t * tile_pitch(g, v) : 0, v.still ? t * still_items * v.size : 0}));
  }
  scratch = arena.used();
}

}  // namespace ingot::jit
