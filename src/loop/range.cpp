#include "loop/range.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ingot::loop {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Range unknown{-infinity, infinity, true};
constexpr int most_steps = 8;

double literal_of(const Node& n) {
  return n.type == DType::f32 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(n.imm)))
                              : std::bit_cast<double>(n.imm);
}

// Whether `condition` says that `value` is no NaN.
bool is_itself(const Kernel& k, NodeId condition, NodeId value) {
  const Node& c = k.nodes[condition];
  return c.op == Prim::eq && c.arg[0] == value && c.arg[1] == value;
}

Range range(const Kernel& k, NodeId id, int steps) {
  const Node& n = k.nodes[id];
  if ((n.type != DType::f32 && n.type != DType::f64) || steps == 0) return unknown;
  const auto of = [&](int i) { return range(k, n.arg[i], steps - 1); };
  switch (n.op) {
    case Prim::literal: {
      const double v = literal_of(n);
      return std::isnan(v) ? unknown : Range{v, v, false};
    }
    case Prim::min: {
      const Range a = of(0), b = of(1);
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), a.nan || b.nan};
    }
    case Prim::max: {
      const Range a = of(0), b = of(1);
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), a.nan || b.nan};
    }
    case Prim::number: {
      const Range a = of(0);
      return {a.lo, a.hi, false};
    }
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::round: {  // none leaves the integers around its argument
      const Range a = of(0);
      return {std::floor(a.lo), std::ceil(a.hi), a.nan};
    }
    case Prim::select: {
      const Range a = of(1), b = of(2);
      return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), (a.nan && !is_itself(k, n.arg[0], n.arg[1])) || b.nan};
    }
    case Prim::add: {  // of infinities of unlike sign a NaN; rounding may reach an infinity, so that no bound is kept
      const Range a = of(0), b = of(1);
      const auto infinite = [](const Range& r) { return std::isinf(r.lo) || std::isinf(r.hi); };
      return {-infinity, infinity, a.nan || b.nan || (infinite(a) && infinite(b))};
    }
    default: return unknown;
  }
}

}  // namespace

Range range_of(const Kernel& kernel, NodeId node) noexcept { return range(kernel, node, most_steps); }

bool converts_as_is(const Kernel& kernel, const Node& conversion) noexcept {
  if (conversion.op != Prim::convert || !ir::is_integer(conversion.type) || ir::item_size(conversion.type) > 2)
    return false;
  const Range r = range_of(kernel, conversion.arg[0]);
  const bool s = ir::is_signed(conversion.type);
  const double beyond = std::ldexp(1.0, static_cast<int>(8 * ir::item_size(conversion.type)) - (s ? 1 : 0));
  return !r.nan && r.lo >= (s ? -beyond : 0.0) && r.hi <= beyond - 1;
}

}  // namespace ingot::loop
