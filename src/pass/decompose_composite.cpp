// Composites by the formulas of docs/numerics.md.
#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DType;

// e = exp(x - max x); e / sum e.
ValueId softmax(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const ValueId x = w.in(r(op.operands[0]));
  const int64_t axis = attr(op, "axis").i;
  const ValueId most = r.op(OpCode::op_reduce_max, {x}, {axes({axis}), keep()});
  const ValueId e = r.op(OpCode::op_exp, {r.op(OpCode::op_sub, {x, most})});
  const ValueId sum = r.op(OpCode::op_reduce_sum, {e}, {axes({axis}), keep()});
  return w.out(r.op(OpCode::op_div, {e, sum}));
}

// layer_norm: c = x - mean x; c * rsqrt(mean c^2 + epsilon) * scale + bias. rms_norm: the same with c = x and no bias.
ValueId norm(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  const ValueId x = w.in(r(op.operands[0]));
  std::vector<int64_t> over;
  for (auto a = attr(op, "axis").i; a < static_cast<int64_t>(value.shape.size()); ++a) over.push_back(a);
  ValueId c = x;
  if (op.code == OpCode::op_layer_norm)
    c = r.op(OpCode::op_sub, {x, r.op(OpCode::op_reduce_mean, {x}, {axes(over), keep()})});
  const ValueId var = r.op(OpCode::op_reduce_mean, {r.op(OpCode::op_mul, {c, c})}, {axes(over), keep()});
  const ValueId epsilon = r.to().scalar(w.inside(), attr(op, "epsilon").f);
  const ValueId inverse = r.op(OpCode::op_rsqrt, {r.op(OpCode::op_add, {var, epsilon})});
  ValueId y = r.op(OpCode::op_mul, {r.op(OpCode::op_mul, {c, inverse}), w.in(r(op.operands[1]))});
  if (op.operands.size() > 2) y = r.op(OpCode::op_add, {y, w.in(r(op.operands[2]))});
  return w.out(y);
}

}  // namespace

std::span<const Decomposition> composite_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_softmax, single<softmax>},
      {OpCode::op_layer_norm, single<norm>},
      {OpCode::op_rms_norm, single<norm>},
  };
  return table;
}

}  // namespace ingot::pass
