// Reductions by those that have a fold of their own.
#include <algorithm>
#include <limits>

#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DimId;
using ir::DimKind;
using ir::DimTable;
using ir::DType;

ValueId over_axes(Rebuild& r, const ir::Op& op, OpCode fold, ValueId x) {
  return reduced(r, fold, x, attr(op, "axes").ints, attr(op, "keepdims").i != 0);
}
ValueId kept(Rebuild& r, const ir::Op& op, OpCode fold, ValueId x) {
  return reduced(r, fold, x, attr(op, "axes").ints, true);
}
// sum (x - mean x)^2 / max(n - ddof, 0), and its square root.
ValueId variance(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  const ValueId x = w.in(r(op.operands[0]));
  const ValueId c = r.op(OpCode::op_sub, {x, kept(r, op, OpCode::op_reduce_mean, x)});
  const ValueId sum = over_axes(r, op, OpCode::op_reduce_sum, r.op(OpCode::op_mul, {c, c}));
  DimTable& dims = r.to().dims();
  std::vector<DimId> extents;
  for (const int64_t a : attr(op, "axes").ints) extents.push_back(value.shape[static_cast<size_t>(a)]);
  const DimId left[] = {dims.sub(dims.product(extents), dims.constant(attr(op, "ddof").i)), dims.constant(0)};
  const Attr size{.kind = ir::AttrKind::dim, .i = dims.expr(DimKind::max, left)};
  const ValueId n = cast(r, r.op(OpCode::op_dim, {}, {{"size", size}}), w.inside());
  const ValueId var = r.op(OpCode::op_div, {sum, n});
  return w.out(op.code == OpCode::op_reduce_std ? r.op(OpCode::op_sqrt, {var}) : var);
}

// log(sum exp(x - m)) + m with m = max x, or 0 where that is infinite: inf - inf would be NaN.
ValueId logsumexp(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const ValueId x = w.in(r(op.operands[0]));
  const ValueId most = kept(r, op, OpCode::op_reduce_max, x);
  const ValueId infinity = r.to().scalar(w.inside(), std::numeric_limits<double>::infinity());
  const ValueId infinite = r.op(OpCode::op_eq, {r.op(OpCode::op_abs, {most}), infinity});
  const ValueId m = r.op(OpCode::op_select, {infinite, r.to().scalar(w.inside(), 0.0), most});
  const ValueId e = r.op(OpCode::op_exp, {r.op(OpCode::op_sub, {x, m})});
  const ValueId log = r.op(OpCode::op_log, {kept(r, op, OpCode::op_reduce_sum, e)});
  const ValueId all = r.op(OpCode::op_add, {log, m});
  return w.out(r.op(OpCode::op_reshape, {all}, {shape_of(r.from().value(op.results[0]).shape)}));
}

ValueId l1(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const ValueId x = w.in(r(op.operands[0]));
  return w.out(over_axes(r, op, OpCode::op_reduce_sum, r.op(OpCode::op_abs, {x})));
}

ValueId l2(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const ValueId x = w.in(r(op.operands[0]));
  return w.out(r.op(OpCode::op_sqrt, {over_axes(r, op, OpCode::op_reduce_sum, r.op(OpCode::op_mul, {x, x}))}));
}

ValueId count_nonzero(Rebuild& r, const ir::Op& op) {
  const ValueId x = r(op.operands[0]);
  const ValueId zero = r.to().scalar(r.from().value(op.operands[0]).dtype, uint64_t{0});
  return over_axes(r, op, OpCode::op_reduce_sum, cast(r, r.op(OpCode::op_ne, {x, zero}), DType::i64));
}

// The least index at which the extreme is reached. It is NaN where there is one, equal to nothing: then the NaNs count.
ValueId argument(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const int64_t axis = attr(op, "axis").i;
  ValueId x = r(op.operands[0]);
  if (value.dtype == DType::boolean) x = cast(r, x, DType::u8);
  const OpCode fold = op.code == OpCode::op_argmax ? OpCode::op_reduce_max : OpCode::op_reduce_min;
  const ValueId extreme = reduced(r, fold, x, {axis}, true);
  ValueId reached = r.op(OpCode::op_eq, {x, extreme});
  if (ir::is_float(value.dtype)) reached = r.op(OpCode::op_or, {reached, r.op(OpCode::op_ne, {x, x})});
  std::vector<DimId> line(value.shape.size() - static_cast<size_t>(axis), r.to().dims().constant(1));
  line[0] = value.shape[static_cast<size_t>(axis)];
  const ValueId index = r.op(OpCode::op_iota, {}, {shape_of(line)});
  const ValueId never = r.to().scalar(DType::i64, static_cast<uint64_t>(INT64_MAX));
  return reduced(r, OpCode::op_reduce_min, r.op(OpCode::op_select, {reached, index, never}), {axis},
                 attr(op, "keepdims").i != 0);
}

bool reduces_nothing(const ir::Graph& graph, ValueId x, const std::vector<int64_t>& over) {
  return std::ranges::all_of(
      over, [&](int64_t a) { return graph.dims().is_constant(graph.value(x).shape[static_cast<size_t>(a)], 1); });
}

}  // namespace

ValueId reduced(Rebuild& r, OpCode fold, ValueId x, const std::vector<int64_t>& over, bool keepdims) {
  if (!reduces_nothing(r.to(), x, over)) return r.op(fold, {x}, {axes(over), {"keepdims", Attr::of_bool(keepdims)}});
  // A float's NaN becomes canonical; -0 is neutral for every one of the folds.
  const DType type = r.to().value(x).dtype;
  if (ir::is_float(type)) x = r.op(OpCode::op_add, {x, r.to().scalar(type, -0.0)});
  if (keepdims || over.empty()) return x;
  std::vector<DimId> shape = r.to().value(x).shape;
  for (size_t i = over.size(); i-- > 0;) shape.erase(shape.begin() + over[i]);
  return r.op(OpCode::op_reshape, {x}, {shape_of(shape)});
}

std::span<const Decomposition> reduce_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_reduce_var, single<variance>},
      {OpCode::op_reduce_std, single<variance>},
      {OpCode::op_reduce_logsumexp, single<logsumexp>},
      {OpCode::op_reduce_l1, single<l1>},
      {OpCode::op_reduce_l2, single<l2>},
      {OpCode::op_count_nonzero, single<count_nonzero>},
      {OpCode::op_argmax, single<argument>},
      {OpCode::op_argmin, single<argument>},
  };
  return table;
}

}  // namespace ingot::pass
