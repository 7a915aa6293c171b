// Index maps: where in a value the element lies that a kernel needs at given axis indices. Every movement op is a
// function from the map under which its result is used to the map under which its operand is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "loop/binding.h"

namespace ingot::fuse {

using ir::DimId;

using loop::Affine;
using loop::Term;

// lo <= index(axis) < hi; where a value lies outside of a box it is not read.
struct AxisBox {
  uint32_t axis;
  DimId lo, hi;
  friend bool operator==(const AxisBox&, const AxisBox&) = default;
};

struct Map {
  std::vector<Affine> dims;    // one per dim of the value
  std::vector<AxisBox> boxes;  // ordered by axis; conditions of the pads and concats between here and the kernel
  friend bool operator==(const Map&, const Map&) = default;
};

using MapId = uint32_t;

// Interns maps over the dims of one graph and derives the map of an operand from that of a result. The derivations
// return nothing where the result would not be affine: then the operand has to be stored first.
class Maps {
 public:
  explicit Maps(ir::DimTable& dims) : dims_(dims) {}

  MapId intern(Map map);
  const Map& operator[](MapId id) const { return maps_[id]; }
  ir::DimTable& dims() { return dims_; }

  Affine axis(uint32_t a) { return {zero(), {{a, one()}}}; }
  DimId zero() { return dims_.constant(0); }
  DimId one() { return dims_.constant(1); }

  // NumPy alignment of an operand of this shape under a result of that shape.
  MapId align(MapId map, std::span<const DimId> operand, std::span<const DimId> result);
  MapId transpose(MapId map, std::span<const int64_t> perm);
  // operand index = start + step * index, per dim.
  MapId slice(MapId map, std::span<const DimId> starts, std::span<const int64_t> steps);
  MapId reverse(MapId map, std::span<const int64_t> axes, std::span<const DimId> operand);
  // One axis walks two dims of the operand, each from its start; the result's last dim is that axis.
  MapId diagonal(MapId map, size_t first, size_t second, int64_t offset);
  // The part of a pad or concat that lies at [low, low + extent) along each dim: operand index = index - low, inside
  // that box. Dims with low 0 and full extent get no box. Only single-axis dims with a constant non-zero step can carry
  // a box.
  std::optional<MapId> window(MapId map, std::span<const DimId> low, std::span<const DimId> operand,
                              std::span<const DimId> result);
  // Only where each operand dim is a product of whole result dims (splits and unit dims).
  std::optional<MapId> reshape(MapId map, std::span<const DimId> operand, std::span<const DimId> result);

  // The same with axis a called to[a].
  MapId rename(MapId map, std::span<const uint32_t> to);

  Affine add(const Affine& a, DimId offset);
  Affine scale(const Affine& a, DimId by);
  Affine sum(const Affine& a, const Affine& b);

 private:
  ir::DimTable& dims_;
  std::vector<Map> maps_;
  std::unordered_multimap<uint64_t, MapId> index_;
};

}  // namespace ingot::fuse
