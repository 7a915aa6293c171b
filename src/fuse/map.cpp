#include "fuse/map.h"

#include <algorithm>

#include "base/hash.h"

namespace ingot::fuse {

namespace {

// Pads of pads: beyond this the inner one is stored. A pad along every dim must fit.
constexpr size_t max_map_boxes = loop::max_boxes / 2;
static_assert(max_map_boxes >= ir::max_rank);

uint64_t hash(const Map& m) {
  uint64_t h = m.dims.size();
  const auto mix = [&h](uint64_t v) { h = hash64(&v, sizeof v, h); };
  for (const Affine& d : m.dims) {
    mix(d.offset);
    for (const Term& t : d.terms) mix(uint64_t{t.axis} << 32 | t.coef);
  }
  for (const AxisBox& b : m.boxes) {
    mix(b.axis);
    mix(uint64_t{b.lo} << 32 | b.hi);
  }
  return h;
}

}  // namespace

MapId Maps::intern(Map map) {
  const uint64_t h = hash(map);
  const auto [first, last] = index_.equal_range(h);
  for (auto it = first; it != last; ++it)
    if (maps_[it->second] == map) return it->second;
  maps_.push_back(std::move(map));
  const auto id = static_cast<MapId>(maps_.size() - 1);
  index_.emplace(h, id);
  return id;
}

Affine Maps::add(const Affine& a, DimId offset) { return {dims_.add(a.offset, offset), a.terms}; }

Affine Maps::scale(const Affine& a, DimId by) {
  Affine out{dims_.mul(a.offset, by), {}};
  for (const Term& t : a.terms) {
    const DimId coef = dims_.mul(t.coef, by);
    if (!dims_.is_constant(coef, 0)) out.terms.push_back({t.axis, coef});
  }
  return out;
}

Affine Maps::sum(const Affine& a, const Affine& b) {
  Affine out{dims_.add(a.offset, b.offset), {}};
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].axis < b.terms[j].axis)) {
      out.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].axis < a.terms[i].axis) {
      out.terms.push_back(b.terms[j++]);
    } else {
      const DimId coef = dims_.add(a.terms[i].coef, b.terms[j].coef);
      if (!dims_.is_constant(coef, 0)) out.terms.push_back({a.terms[i].axis, coef});
      ++i, ++j;
    }
  }
  return out;
}

MapId Maps::rename(MapId map, std::span<const uint32_t> to) {
  Map out = maps_[map];
  for (Affine& d : out.dims) {
    for (Term& t : d.terms) t.axis = to[t.axis];
    std::sort(d.terms.begin(), d.terms.end(), [](const Term& a, const Term& b) { return a.axis < b.axis; });
  }
  for (AxisBox& b : out.boxes) b.axis = to[b.axis];
  std::stable_sort(out.boxes.begin(), out.boxes.end(),
                   [](const AxisBox& a, const AxisBox& b) { return a.axis < b.axis; });
  return intern(std::move(out));
}

MapId Maps::align(MapId map, std::span<const DimId> operand, std::span<const DimId> result) {
  Map out{{}, maps_[map].boxes};
  const size_t lead = result.size() - operand.size();
  for (size_t d = 0; d < operand.size(); ++d) {
    const Affine index = maps_[map].dims[lead + d];
    if (dims_.known_equal(operand[d], result[lead + d])) {
      out.dims.push_back(index);
    } else if (dims_.is_constant(operand[d], 1)) {
      out.dims.push_back({zero(), {}});
    } else {
      // The extent may turn out to be 1 at run time: min(extent - 1, 1) is 0 then and 1 otherwise. (An extent of 0
      // makes it -1, and then no element exists.)
      const DimId moves = dims_.expr(ir::DimKind::min, std::vector{dims_.sub(operand[d], one()), one()});
      out.dims.push_back(scale(index, moves));
    }
  }
  return intern(std::move(out));
}

MapId Maps::transpose(MapId map, std::span<const int64_t> perm) {
  Map out = maps_[map];
  for (size_t d = 0; d < perm.size(); ++d) out.dims[static_cast<size_t>(perm[d])] = maps_[map].dims[d];
  return intern(std::move(out));
}

MapId Maps::slice(MapId map, std::span<const DimId> starts, std::span<const int64_t> steps) {
  Map out = maps_[map];
  for (size_t d = 0; d < out.dims.size(); ++d)
    out.dims[d] = add(scale(out.dims[d], dims_.constant(steps[d])), starts[d]);
  return intern(std::move(out));
}

MapId Maps::reverse(MapId map, std::span<const int64_t> axes, std::span<const DimId> operand) {
  Map out = maps_[map];
  for (const int64_t a : axes) {
    const auto d = static_cast<size_t>(a);
    out.dims[d] = add(scale(out.dims[d], dims_.constant(-1)), dims_.sub(operand[d], one()));
  }
  return intern(std::move(out));
}

MapId Maps::diagonal(MapId map, size_t first, size_t second, int64_t offset) {
  Map out = maps_[map];
  const Affine along = out.dims.back();
  out.dims.pop_back();
  const Affine row = add(along, dims_.constant(std::max<int64_t>(-offset, 0)));
  const Affine column = add(along, dims_.constant(std::max<int64_t>(offset, 0)));
  const bool upwards = first < second;
  // The lower place first: each is that of the operand.
  out.dims.insert(out.dims.begin() + static_cast<ptrdiff_t>(std::min(first, second)), upwards ? row : column);
  out.dims.insert(out.dims.begin() + static_cast<ptrdiff_t>(std::max(first, second)), upwards ? column : row);
  return intern(std::move(out));
}

std::optional<MapId> Maps::window(MapId map, std::span<const DimId> low, std::span<const DimId> operand,
                                  std::span<const DimId> result) {
  Map out = maps_[map];
  for (size_t d = 0; d < operand.size(); ++d) {
    if (dims_.is_constant(low[d], 0) && dims_.known_equal(operand[d], result[d])) continue;
    const Affine index = out.dims[d];
    if (index.terms.size() != 1) return std::nullopt;
    const std::optional<int64_t> step = dims_.as_constant(index.terms[0].coef);
    if (!step || *step == 0 || *step == INT64_MIN) return std::nullopt;
    // low <= offset + step * i < low + extent, solved for i.
    const DimId lo = dims_.sub(low[d], index.offset);
    const DimId hi = dims_.add(lo, operand[d]);
    AxisBox box{index.terms[0].axis, lo, hi};
    if (*step > 0) {
      const DimId s = dims_.constant(*step);
      box.lo = dims_.ceil_div(lo, s);
      box.hi = dims_.ceil_div(hi, s);
    } else {
      const DimId s = dims_.constant(-*step);
      const DimId minus = dims_.constant(-1);
      box.lo = dims_.add(dims_.floor_div(dims_.mul(hi, minus), s), one());
      box.hi = dims_.add(dims_.floor_div(dims_.mul(lo, minus), s), one());
    }
    out.boxes.push_back(box);
    out.dims[d] = add(index, dims_.mul(low[d], dims_.constant(-1)));
  }
  if (out.boxes.size() > max_map_boxes) return std::nullopt;
  std::stable_sort(out.boxes.begin(), out.boxes.end(),
                   [](const AxisBox& a, const AxisBox& b) { return a.axis < b.axis; });
  out.boxes.erase(std::unique(out.boxes.begin(), out.boxes.end()), out.boxes.end());
  return intern(std::move(out));
}

std::optional<MapId> Maps::reshape(MapId map, std::span<const DimId> operand, std::span<const DimId> result) {
  Map out{{}, maps_[map].boxes};
  size_t r = 0;
  for (const DimId extent : operand) {
    if (dims_.is_constant(extent, 1)) {
      out.dims.push_back({zero(), {}});
      continue;
    }
    // Takes result dims until their product is this operand dim.
    while (r < result.size() && dims_.is_constant(result[r], 1)) ++r;
    Affine index{zero(), {}};
    DimId product = one();
    bool whole = false;
    while (r < result.size() && !whole) {
      if (!dims_.is_constant(result[r], 1)) {
        index = sum(scale(index, result[r]), maps_[map].dims[r]);
        product = dims_.mul(product, result[r]);
      }
      ++r;
      whole = dims_.known_equal(product, extent);
    }
    if (!whole) return std::nullopt;
    out.dims.push_back(std::move(index));
  }
  while (r < result.size() && dims_.is_constant(result[r], 1)) ++r;
  if (r != result.size()) return std::nullopt;
  return intern(std::move(out));
}

}  // namespace ingot::fuse
