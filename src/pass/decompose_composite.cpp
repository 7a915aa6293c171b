// Composites by the formulas of docs/numerics.md.
#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DimId;
using ir::DimTable;
using ir::DType;
using Shape = std::vector<DimId>;

// e = exp(x - max x); e / sum e. log_softmax: (x - max x) - log(sum e).
ValueId softmax(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const ValueId x = w.in(r(op.operands[0]));
  const int64_t axis = attr(op, "axis").i;
  const ValueId most = r.op(OpCode::op_reduce_max, {x}, {axes({axis}), keep()});
  const ValueId shifted = r.op(OpCode::op_sub, {x, most});
  const ValueId e = r.op(OpCode::op_exp, {shifted});
  const ValueId sum = r.op(OpCode::op_reduce_sum, {e}, {axes({axis}), keep()});
  if (op.code == OpCode::op_log_softmax) return w.out(r.op(OpCode::op_sub, {shifted, r.op(OpCode::op_log, {sum})}));
  return w.out(r.op(OpCode::op_div, {e, sum}));
}

ValueId cast(Rebuild& r, ValueId v, DType to) { return r.op(OpCode::op_cast, {v}, {{"to", Attr::of_dtype(to)}}); }

// Scale or zero point: a scalar as it is, a dim's along that dim.
ValueId parameter(Rebuild& r, const ir::Op& op, size_t operand) {
  const ValueId v = r(op.operands[operand]);
  const Shape& own = r.from().value(op.operands[operand]).shape;
  if (own.empty()) return v;
  Shape shape(r.from().value(op.operands[0]).shape.size() - static_cast<size_t>(attr(op, "axis").i),
              r.to().dims().constant(1));
  shape[0] = own[0];
  return r.op(OpCode::op_reshape, {v}, {shape_of(shape)});
}

// clamp(round(x / scale) + zero_point), clamped before the conversion; NaN gives zero_point.
ValueId quantize(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const auto to = static_cast<DType>(attr(op, "dtype").i);
  const auto number = [&](double v) { return r.to().scalar(w.inside(), v); };
  const ValueId quotient = r.op(OpCode::op_div, {w.in(r(op.operands[0])), w.in(parameter(r, op, 1))});
  const ValueId whole = r.op(OpCode::op_round, {quotient});
  const ValueId known = r.op(OpCode::op_select, {r.op(OpCode::op_eq, {whole, whole}), whole, number(0)});
  const ValueId moved = r.op(OpCode::op_add, {known, cast(r, parameter(r, op, 2), w.inside())});
  const double least = to == DType::i8 ? -128 : 0;
  return cast(r, r.op(OpCode::op_clamp, {moved, number(least), number(least + 255)}), to);
}

// (x - zero_point) * scale, the difference exact.
ValueId dequantize(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[1]).dtype};
  const auto wide = [&](ValueId v) { return cast(r, v, DType::i32); };
  const ValueId difference = r.op(OpCode::op_sub, {wide(r(op.operands[0])), wide(parameter(r, op, 2))});
  return w.out(r.op(OpCode::op_mul, {cast(r, difference, w.inside()), w.in(parameter(r, op, 1))}));
}

// Pairs (a, b) become (a cos - b sin, b cos + a sin), each product and sum rounded. A pair lies half a dim apart, or
// side by side.
ValueId rope(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  DimTable& dims = r.to().dims();
  const ValueId x = w.in(r(op.operands[0]));
  const ValueId cos = w.in(r(op.operands[1])), sin = w.in(r(op.operands[2]));
  const bool interleaved = attr(op, "interleaved").i != 0;
  const size_t last = value.shape.size() - 1;
  const DimId half = dims.floor_div(value.shape[last], dims.constant(2));
  const auto member = [&](bool second) {
    if (!interleaved) return part(r, x, last, second ? half : dims.constant(0), half);
    return part(r, x, last, dims.constant(second), half, 2);
  };
  const ValueId a = member(false), b = member(true);
  const auto times = [&](ValueId v, ValueId table) { return r.op(OpCode::op_mul, {v, table}); };
  const ValueId first = r.op(OpCode::op_sub, {times(a, cos), times(b, sin)});
  const ValueId second = r.op(OpCode::op_add, {times(b, cos), times(a, sin)});
  if (!interleaved)
    return w.out(r.op(OpCode::op_concat, {first, second}, {{"axis", Attr::of_int(static_cast<int64_t>(last))}}));
  const auto column = [&](ValueId v) {
    Shape rows{dims.product(r.to().value(v).shape), dims.constant(1)};
    return r.op(OpCode::op_reshape, {v}, {shape_of(rows)});
  };
  const ValueId pairs = r.op(OpCode::op_concat, {column(first), column(second)}, {{"axis", Attr::of_int(1)}});
  return w.out(r.op(OpCode::op_reshape, {pairs}, {shape_of(value.shape)}));
}

}  // namespace

std::span<const Decomposition> composite_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_softmax, single<softmax>},   {OpCode::op_log_softmax, single<softmax>},
      {OpCode::op_quantize, single<quantize>}, {OpCode::op_dequantize, single<dequantize>},
      {OpCode::op_rope, single<rope>},
  };
  return table;
}

}  // namespace ingot::pass
