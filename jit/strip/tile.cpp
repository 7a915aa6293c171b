#include "jit/strip/tile.h"

#include <algorithm>
#include <cstring>

namespace ingot::jit {

using loop::strip_lanes;
using loop::ViewKind;

Tile::Tile(const Plan& plan, char* scratch, bool still)
    : p_(plan), g_(plan.geometry), scratch_(scratch), still_(still) {
  for (size_t v = 0; v < g_.views.size(); ++v) {
    splat(v).filled = 0;
    along[v] = stands_still(v) ? 0 : -1;
  }
}

void Tile::seek(int64_t row) {
  for (unsigned a = g_.outer; a-- > 0;) {
    index_[a] = row % g_.extent[a];
    row /= g_.extent[a];
  }
}

bool Tile::next(int64_t most) {
  const int64_t left = g_.outer == 0 ? 1 : g_.extent[g_.outer - 1] - index_[g_.outer - 1];
  rows_ = std::min({g_.tile_rows, left, most});
  ++number_;
  for (size_t v = 0; v < g_.views.size(); ++v) locate(v);
  advance();
  return left > rows_ && most > rows_;
}

void Tile::advance() {
  if (g_.outer == 0) return;
  index_[g_.outer - 1] += rows_;
  for (unsigned a = g_.outer - 1; index_[a] == g_.extent[a]; --a) {
    index_[a] = 0;
    if (a == 0) return;
    ++index_[a - 1];
  }
}

// Where a view lies in the tile whose first row is at index_. One without lanes is pointed at here, once for all
// sweeps.
void Tile::locate(size_t v) {
  const ViewPlan& view = g_.views[v];
  int64_t offset = 0;
  for (unsigned a = 0; a < g_.outer; ++a) offset += index_[a] * view.stride[a];
  Place& p = table<Place>(p_.at)[v];
  p = {nullptr, view.value + offset, g_.outer ? view.stride[g_.outer - 1] : 0, 0, view.outside ? 0 : rows_};
  for (unsigned c = 0; c < view.outer_cuts; ++c) {
    const Cut& cut = g_.cuts[view.first_cut + c];
    const int64_t lo = cut.lo - index_[cut.axis], hi = cut.hi - index_[cut.axis];
    if (cut.axis + 1u == g_.outer) {
      p.in0 = std::max(p.in0, lo);
      p.in1 = std::min(p.in1, hi);
    } else if (lo > 0 || hi <= 0) {
      p.in1 = 0;
    }
  }
  if (view.kind == ViewKind::load || view.kind == ViewKind::store) p.at = moved(view.base, offset);
  if (view.access != Access::uniform) return;
  row_step[v] = p.stride;
  ptr[v] = p.at;
  if (p.at && p.in0 == 0 && p.in1 == rows_) return;
  uint64_t* const items = table<uint64_t>(p_.item) + static_cast<int64_t>(v) * g_.tile_rows;
  for (int64_t t = 0; t < rows_; ++t) items[t] = value_in(v, t);
  ptr[v] = reinterpret_cast<char*>(items);
  row_step[v] = sizeof(uint64_t);
}

// The one item that a view without lanes, or the same along all of them, has in row t.
uint64_t Tile::value_in(size_t v, int64_t t) const {
  const ViewPlan& view = g_.views[v];
  const Place& p = place(v);
  const bool in = t >= p.in0 && t < p.in1;
  switch (view.kind) {
    case ViewKind::iota: return static_cast<uint64_t>(p.item) + static_cast<uint64_t>(t * p.stride);
    case ViewKind::inside: return in;
    default: return in ? load_bits(moved(p.at, t * p.stride), view.size) : view.fill;
  }
}

char* Tile::filled(size_t v, uint64_t bits, int64_t n) {
  char* const strip = scratch_ + g_.views[v].strip;
  Splat& s = splat(v);
  if (s.filled < n || s.bits != bits) {
    fill(strip, bits, n, g_.views[v].size);
    s = {bits, n};
  }
  return strip;
}

bool Tile::present(size_t v, int64_t k0, int64_t m, int64_t n) {
  const ViewPlan& view = g_.views[v];
  const Place& p = place(v);
  row_step[v] = 0;
  if (stands_still(v)) {
    present_still(v);
    return true;
  }
  const uint64_t outside = view.kind == ViewKind::inside ? 0 : view.fill;
  if (p.in0 >= p.in1) return point(v, filled(v, outside, n));
  bool cut = view.lane_cuts != 0;
  if (cut && g_.lane == 1) {
    const Cut& c = g_.cuts[view.first_cut + view.outer_cuts];
    if (k0 >= c.hi || k0 + m <= c.lo) return point(v, filled(v, outside, n));
    cut = k0 < c.lo || k0 + m > c.hi;
  }
  const bool whole = p.in0 == 0 && p.in1 == rows_;
  if (whole && view.access == Access::direct && !cut) {
    row_step[v] = p.stride;
    ptr[v] = p.at + k0 * view.size;
    return false;
  }
  if (!whole || (p.stride != 0 && rows_ > 1)) present_rows(v, cut, k0, m);
  else if (!cut && (view.kind == ViewKind::inside || view.access == Access::splat))
    ptr[v] = filled(v, value_in(v, 0), n);
  else ptr[v] = present_same(v, k0, m);
  return true;
}
bool Tile::point(size_t v, char* at) {
  ptr[v] = at;
  return true;
}

// Of a view with one value in all lanes of a row: as many copies as a round of the body may read, once for all strips.
void Tile::present_still(size_t v) {
  const ViewPlan& view = g_.views[v];
  const Place& p = place(v);
  const int64_t pitch = still_items * view.size;
  char* const strip = scratch_ + view.strip;
  const int64_t rows = p.stride == 0 ? 1 : rows_;
  ptr[v] = strip;
  row_step[v] = p.stride == 0 ? 0 : pitch;
  if (copied_[v] == number_) return;
  copied_[v] = number_;
  for (int64_t t = 0; t < rows; ++t)
    fill(strip + t * pitch, load_bits(moved(p.at, t * p.stride), view.size), still_items, view.size);
}

// Of a view that differs from row to row: a copy of each row.
void Tile::present_rows(size_t v, bool cut, int64_t k0, int64_t m) {
  const ViewPlan& view = g_.views[v];
  const Place& p = place(v);
  char* const strip = scratch_ + view.strip;
  const int64_t pitch = tile_pitch(g_, view);
  splat(v).filled = 0;
  ptr[v] = strip;
  row_step[v] = pitch;
  if (view.tile && p.in0 == 0 && p.in1 == rows_) {
    const int64_t stride = view.stride[g_.outer + g_.lane - 1];
    gather_rows(strip, pitch, moved(p.at, k0 * stride), stride, rows_, m, view.size);
    return;
  }
  for (int64_t t = 0; t < rows_; ++t) {
    char* const to = strip + t * pitch;
    const bool in = t >= p.in0 && t < p.in1;
    if (!in || (!cut && (view.kind == ViewKind::inside || view.access == Access::splat)))
      fill(to, value_in(v, t), m, view.size);
    else stage(g_, view, lane_axes(view), moved(p.at, t * p.stride), p.item + t * p.stride, k0, m, to);
  }
}

// Of a view that is the same in all rows: one copy.
char* Tile::present_same(size_t v, int64_t k0, int64_t m) {
  const ViewPlan& view = g_.views[v];
  const Place& p = place(v);
  char* const strip = scratch_ + view.strip;
  Splat& held = splat(v);
  const int64_t period = g_.extent[g_.outer + g_.lane - 1];
  if (view.periodic && period < strip_lanes) {
    // A period more than a strip: from any place in it a whole strip follows, and nothing is copied again.
    const int64_t place = k0 % period, first = k0 - place;
    if (held.bits != 0 || held.filled > -(place + m)) {
      const int64_t count = std::min(g_.lanes - first, strip_lanes + period);
      stage(g_, view, lane_axes(view), p.at, p.item, first, count, strip);
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
  stage(g_, view, lane_axes(view), p.at, p.item, k0, m, strip);
  return strip;
}

void Tile::pad(size_t v, int64_t k0, int64_t m) {
  const ViewPlan& view = g_.views[v];
  char* const pad = scratch_ + view.tail;
  const int64_t rows = row_step[v] == 0 ? 1 : rows_;
  const int64_t pitch = pad_lanes * view.size;
  Padded& held = padded_[v];
  if (held.tile != number_ || held.k0 != k0 || held.m != m)
    copy_rows(pad, pitch, ptr[v], row_step[v], rows, m * view.size);
  if (held.m != m || held.rows < rows) {
    for (int64_t t = 0; t < rows; ++t)
      std::memset(pad + t * pitch + m * view.size, 0, static_cast<size_t>((pad_lanes - m) * view.size));
    held.rows = rows;
  }
  held = {number_, k0, m, held.rows};
  ptr[v] = pad;
  row_step[v] = rows > 1 ? pitch : 0;
}

bool Tile::present_store(size_t v, int64_t k0) {
  const ViewPlan& view = g_.views[v];
  if (view.access == Access::direct) {
    ptr[v] = place(v).at + k0 * view.size;
    row_step[v] = place(v).stride;
    return false;
  }
  row_step[v] = tile_pitch(g_, view);
  return point(v, scratch_ + view.strip);
}

void Tile::finish_store(size_t v, int64_t k0, int64_t m) {
  const ViewPlan& view = g_.views[v];
  if (view.access == Access::direct) return;
  char* const strip = scratch_ + view.strip;
  if (view.tile) {
    const int64_t stride = view.stride[g_.outer + g_.lane - 1];
    scatter_rows(moved(place(v).at, k0 * stride), stride, strip, tile_pitch(g_, view), rows_, m, view.size);
    return;
  }
  for (int64_t t = 0; t < rows_; ++t)
    unstage(g_, view, lane_axes(view), moved(place(v).at, t * place(v).stride), k0, m,
            strip + t * tile_pitch(g_, view));
}

void Tile::pad_store(size_t v) {
  ptr[v] = scratch_ + g_.views[v].tail;
  row_step[v] = pad_lanes * g_.views[v].size;
}

void Tile::finish_padded(size_t v, int64_t k0, int64_t m) {
  const ViewPlan& view = g_.views[v];
  copy_rows(place(v).at + k0 * view.size, place(v).stride, ptr[v], pad_lanes * view.size, rows_, m * view.size);
}

}  // namespace ingot::jit
