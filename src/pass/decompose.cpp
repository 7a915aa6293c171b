#include "pass/decompose.h"

#include <algorithm>
#include <unordered_map>

#include "pass/passes.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DType;

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

}  // namespace

ir::Graph decompose(const ir::Graph& graph) {
  std::unordered_map<OpCode, void (*)(Rebuild&, const ir::Op&)> known;
  for (const auto& kind : {float_decompositions(), movement_decompositions(), composite_decompositions()})
    for (const Decomposition& d : kind) known.emplace(d.code, d.run);
  Rebuild r(graph);
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    if (const auto at = known.find(op.code); at != known.end()) at->second(r, op);
    else if (ir::op_info(op.code)->cls == ir::OpClass::reduce && reduces_nothing(graph, op))
      r.set(op.results[0], reduce_nothing(r, op));
    else r.copy(op);
  }
  return r.finish();
}

}  // namespace ingot::pass
