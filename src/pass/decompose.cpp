#include <algorithm>

#include "pass/decompose.h"
#include "pass/passes.h"
#include "pass/rebuild.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DType;

// A concat of more operands is cut into groups: a kernel has a limited number of views.
constexpr size_t concat_fan = 16;

NamedAttr axes(std::vector<int64_t> list) { return {"axes", Attr::of_ints(std::move(list))}; }
NamedAttr keep() { return {"keepdims", Attr::of_bool(true)}; }

// f16 and bf16 compute in f32 inside and round once at the output.
struct Widened {
  Rebuild& r;
  DType own;

  bool narrow() const { return own == DType::f16 || own == DType::bf16; }
  ValueId in(ValueId v) const {
    return narrow() ? r.op(OpCode::op_cast, {v}, {{"to", Attr::of_dtype(DType::f32)}}) : v;
  }
  ValueId out(ValueId v) const { return narrow() ? r.op(OpCode::op_cast, {v}, {{"to", Attr::of_dtype(own)}}) : v; }
  DType inside() const { return narrow() ? DType::f32 : own; }
};

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

// Whether a reduction removes nothing but extents of 1, or nothing at all.
bool reduces_nothing(const ir::Graph& g, const ir::Op& op) {
  const auto& axes = attr(op, "axes").ints;
  return std::all_of(axes.begin(), axes.end(), [&](int64_t a) {
    return g.dims().is_constant(g.value(op.operands[0]).shape[static_cast<size_t>(a)], 1);
  });
}

// Then it is its operand, computed: a float's NaN becomes canonical. -0 is neutral for every one of them.
ValueId reduce_nothing(Rebuild& r, const ir::Op& op) {
  ValueId x = r(op.operands[0]);
  const DType type = r.from().value(op.operands[0]).dtype;
  if (ir::is_float(type)) x = r.op(OpCode::op_add, {x, r.to().scalar(type, -0.0)});
  const auto& shape = r.from().value(op.results[0]).shape;
  if (shape.size() == r.from().value(op.operands[0]).shape.size()) return x;
  return r.op(OpCode::op_reshape, {x}, {{"shape", Attr::of_dims(shape)}});
}

ValueId wide_concat(Rebuild& r, const ir::Op& op) {
  std::vector<ValueId> level;
  for (const ValueId v : op.operands) level.push_back(r(v));
  const std::vector<NamedAttr> attrs = named_attrs(op);
  while (level.size() > 1) {
    std::vector<ValueId> next;
    for (size_t i = 0; i < level.size(); i += concat_fan) {
      const size_t n = std::min(concat_fan, level.size() - i);
      next.push_back(n == 1 ? level[i] : r.to().op(OpCode::op_concat, {level.data() + i, n}, attrs));
    }
    level = std::move(next);
  }
  return level[0];
}

}  // namespace

ir::Graph decompose(const ir::Graph& graph) {
  Rebuild r(graph);
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    switch (op.code) {
      case OpCode::op_softmax: r.set(op.results[0], softmax(r, op)); break;
      case OpCode::op_layer_norm:
      case OpCode::op_rms_norm: r.set(op.results[0], norm(r, op)); break;
      case OpCode::op_nextafter: r.set(op.results[0], nextafter(r, op)); break;
      case OpCode::op_concat:
        if (op.operands.size() > concat_fan) r.set(op.results[0], wide_concat(r, op));
        else r.copy(op);
        break;
      default:
        if (ir::op_info(op.code)->cls == ir::OpClass::reduce && reduces_nothing(graph, op))
          r.set(op.results[0], reduce_nothing(r, op));
        else r.copy(op);
    }
  }
  return r.finish();
}

}  // namespace ingot::pass
