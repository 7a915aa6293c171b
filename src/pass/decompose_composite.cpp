// Composites by the formulas of docs/numerics.md.
#include <algorithm>
#include <limits>
#include <numeric>

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

// Without dims to sum over every product is a result: one of fma(a, b, -0), which is a * b.
void dot_general(Rebuild& r, const ir::Op& op) {
  if (!attr(op, "lhs_contract").ints.empty()) return r.copy(op);
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const DimId one = r.to().dims().constant(1);
  const Shape& result = r.from().value(op.results[0]).shape;
  size_t left_over = attr(op, "lhs_batch").ints.size();
  // Batch dims first, then an extent of 1 for each dim of the other operand.
  const auto side = [&](size_t i, const std::vector<int64_t>& batch) {
    const size_t rank = r.from().value(op.operands[i]).shape.size();
    std::vector<int64_t> perm = batch;
    for (size_t d = 0; d < rank; ++d)
      if (std::ranges::find(batch, static_cast<int64_t>(d)) == batch.end()) perm.push_back(static_cast<int64_t>(d));
    const size_t own = rank - batch.size();
    Shape shape(result.size(), one);
    std::copy_n(result.begin(), batch.size(), shape.begin());
    std::copy_n(result.begin() + static_cast<std::ptrdiff_t>(left_over), own,
                shape.begin() + static_cast<std::ptrdiff_t>(left_over));
    left_over += own;
    const ValueId turned = r.op(OpCode::op_transpose, {w.in(r(op.operands[i]))}, {{"perm", Attr::of_ints(perm)}});
    return r.op(OpCode::op_reshape, {turned}, {shape_of(shape)});
  };
  const ValueId a = side(0, attr(op, "lhs_batch").ints), b = side(1, attr(op, "rhs_batch").ints);
  r.set(op.results[0], w.out(r.op(OpCode::op_mul, {a, b})));
}

// s = q k^T * scale, masked; e = exp(s - max s); (e v) / sum e. A row that sees nothing, whose maximum is -inf, gives
// 0.
ValueId attention(Rebuild& r, const ir::Op& op) {
  const ir::Value& q = r.from().value(op.operands[0]);
  const Widened w{r, q.dtype};
  const auto number = [&](double v) { return r.to().scalar(w.inside(), v); };
  const auto equal = [&](ValueId v, ValueId to) { return r.op(OpCode::op_eq, {v, to}); };
  const auto where = [&](ValueId c, ValueId a, ValueId b) { return r.op(OpCode::op_select, {c, a, b}); };

  ValueId scale = number(attr(op, "scale").f);
  if (attr(op, "scale").f == 0) {
    const ValueId extent = r.op(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = q.shape.back()}}});
    scale = r.op(OpCode::op_div, {number(1), r.op(OpCode::op_sqrt, {cast(r, extent, w.inside())})});
  }
  const ValueId k = w.in(r(op.operands[1]));
  const size_t k_rank = r.to().value(k).shape.size();
  std::vector<int64_t> perm(k_rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[k_rank - 2], perm[k_rank - 1]);
  const ValueId turned = r.op(OpCode::op_transpose, {k}, {{"perm", Attr::of_ints(std::move(perm))}});
  ValueId s = r.op(OpCode::op_matmul, {w.in(r(op.operands[0])), turned});
  s = r.op(OpCode::op_mul, {s, scale});

  const ValueId unseen = number(-std::numeric_limits<double>::infinity());
  if (op.operands.size() > 3) {
    const ValueId mask = r(op.operands[3]);
    if (r.to().value(mask).dtype == DType::boolean) s = where(mask, s, unseen);
    else s = r.op(OpCode::op_add, {s, w.in(mask)});
  }
  if (attr(op, "causal").i != 0) {
    const Shape square(r.to().value(s).shape.end() - 2, r.to().value(s).shape.end());
    const auto index = [&](int64_t axis) {
      return r.op(OpCode::op_iota, {}, {shape_of(square), {"axis", Attr::of_int(axis)}});
    };
    s = where(r.op(OpCode::op_le, {index(1), index(0)}), s, unseen);
  }
  // A mask may have leading dims that only v has, so the last dim is that of the masked products.
  const auto columns = static_cast<int64_t>(r.to().value(s).shape.size()) - 1;
  const ValueId most = reduced(r, OpCode::op_reduce_max, s, {columns}, true);
  const ValueId e = r.op(OpCode::op_exp, {r.op(OpCode::op_sub, {s, where(equal(most, unseen), number(0), most)})});
  const ValueId sum = reduced(r, OpCode::op_reduce_sum, e, {columns}, true);
  const ValueId y = r.op(OpCode::op_div, {r.op(OpCode::op_matmul, {e, w.in(r(op.operands[2]))}), sum});
  return w.out(where(equal(sum, number(0)), number(0), y));
}

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
      {OpCode::op_dot_general, dot_general},   {OpCode::op_attention, single<attention>},
      {OpCode::op_rope, single<rope>},
  };
  return table;
}

}  // namespace ingot::pass
