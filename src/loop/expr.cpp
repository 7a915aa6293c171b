#include "loop/expr.h"

#include "base/error.h"

namespace ingot::loop {

Val literal(Builder& b, DType type, double v) {
  switch (type) {
    case DType::f32: return {b, b.literal(type, std::bit_cast<uint32_t>(static_cast<float>(v)))};
    case DType::f64: return {b, b.literal(type, std::bit_cast<uint64_t>(v))};
    default: bug("a float literal of type ", ir::name(type));
  }
}

Val literal(Builder& b, DType type, int64_t v) {
  if (type == DType::f32 || type == DType::f64) return literal(b, type, static_cast<double>(v));
  const size_t width = 8 * ir::item_size(type);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return {b, b.literal(type, static_cast<uint64_t>(v) & mask)};
}

Val Val::lit(double v) const { return literal(*b_, type(), v); }
Val Val::lit(int64_t v) const { return literal(*b_, type(), v); }

}  // namespace ingot::loop
