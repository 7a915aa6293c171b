// What is done with random numbers, and with bits.
#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DimId;
using ir::DimTable;
using ir::DType;
using Shape = std::vector<DimId>;

ValueId uniform(Rebuild& r, const ir::Op& op, ValueId seed, const Shape& shape) {
  return r.op(OpCode::op_random_uniform, {seed}, {shape_of(shape), {"stream", attr(op, "stream")}});
}

ValueId bernoulli(Rebuild& r, const ir::Op& op) {
  const ValueId u = uniform(r, op, r(op.operands[0]), r.from().value(op.results[0]).shape);
  return r.op(OpCode::op_lt, {u, r(op.operands[1])});
}

// Where u >= p, x times the inverse of the share that is kept.
ValueId dropout(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const double p = attr(op, "p").f;
  const ValueId u = uniform(r, op, r(op.operands[1]), r.from().value(op.results[0]).shape);
  const ValueId kept = r.op(OpCode::op_ge, {u, r.to().scalar(DType::f32, p)});
  const ValueId scaled = r.op(OpCode::op_mul, {w.in(r(op.operands[0])), r.to().scalar(w.inside(), 1 / (1 - p))});
  return w.out(r.op(OpCode::op_select, {kept, scaled, r.to().scalar(w.inside(), 0.0)}));
}

// Each item beside itself eight times, shifted by 0 to 7.
ValueId unpack_bits(Rebuild& r, const ir::Op& op) {
  DimTable& dims = r.to().dims();
  const DimId one = dims.constant(1), eight = dims.constant(8);
  Shape shape = r.from().value(op.operands[0]).shape, result = r.from().value(op.results[0]).shape;
  const DimId n = shape.back(), all = dims.mul(n, eight), count = result.back();
  if (shape.size() == ir::max_rank) shape = {dims.product(std::span(shape).first(shape.size() - 1)), n};
  shape.push_back(one);
  const ValueId items = r.op(OpCode::op_reshape, {r(op.operands[0])}, {shape_of(shape)});
  const NamedAttr u8{"dtype", Attr::of_dtype(DType::u8)};
  ValueId bit = r.op(OpCode::op_iota, {}, {shape_of({eight}), u8});
  if (attr(op, "bitorder").s == "big") bit = r.op(OpCode::op_sub, {r.to().scalar(DType::u8, uint64_t{7}), bit});
  const ValueId set =
      r.op(OpCode::op_and, {r.op(OpCode::op_shift_right, {items, bit}), r.to().scalar(DType::u8, uint64_t{1})});
  const ValueId bits = cast(r, set, DType::boolean);
  result.back() = all;
  const ValueId row = r.op(OpCode::op_reshape, {bits}, {shape_of(result)});
  return count == all ? row : part(r, row, result.size() - 1, dims.constant(0), count);
}

}  // namespace

std::span<const Decomposition> random_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_random_bernoulli, single<bernoulli>},
      {OpCode::op_dropout, single<dropout>},
      {OpCode::op_unpack_bits, single<unpack_bits>},
  };
  return table;
}

}  // namespace ingot::pass
