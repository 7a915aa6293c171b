#include "pass/decompose.h"

#include <unordered_map>

#include "pass/passes.h"

namespace ingot::pass {

namespace {

// What an op needs of extents may contradict what ops after it have told about them, or an extent within it be too
// large. Then the ops it becomes do not fit together, and a message about those alone would name what nobody wrote.
void run(const Decomposition& d, Rebuild& r, const ir::Op& op) {
  try {
    d.run(r, op);
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument) throw;
    fail(Code::invalid_argument, ir::op_info(op.code)->name,
         ": does not fit all that is known of extents: ", e.message());
  }
}

// What gathers and routines read lies in memory, where the value of a dim input does not: it becomes that of an op.
void compute_dim_inputs(Rebuild& r) {
  const ir::Graph& graph = r.from();
  bool gathers = false;
  for (uint32_t i = 0; i < graph.op_count(); ++i)
    gathers = gathers || ir::op_info(graph.op(i).code)->cls == ir::OpClass::gather;
  if (!gathers) return;
  for (const ValueId v : graph.inputs()) {
    const ir::Value& value = graph.value(v);
    if (value.kind == ir::ValueKind::dim_input)
      r.set(v, r.op(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = value.dim}}}));
  }
}

}  // namespace

ir::Graph decompose(const ir::Graph& graph) {
  std::unordered_map<OpCode, const Decomposition*> known;
  for (const auto& kind :
       {float_decompositions(), movement_decompositions(), reduce_decompositions(), norm_decompositions(),
        composite_decompositions(), indexed_decompositions(), random_decompositions()})
    for (const Decomposition& d : kind) known.emplace(d.code, &d);
  Rebuild r(graph);
  compute_dim_inputs(r);
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    r.begin_origin(op);
    if (const auto at = known.find(op.code); at != known.end()) run(*at->second, r, op);
    else if (ir::op_info(op.code)->cls == ir::OpClass::reduce)
      r.set(op.results[0], reduced(r, op.code, r(op.operands[0]), attr(op, "axes").ints, attr(op, "keepdims").i != 0));
    else r.copy(op);
    r.end_origin();
  }
  return r.finish();
}

}  // namespace ingot::pass
