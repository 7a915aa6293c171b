#include "pass/decompose.h"

#include <unordered_map>

#include "pass/passes.h"

namespace ingot::pass {

ir::Graph decompose(const ir::Graph& graph) {
  std::unordered_map<OpCode, void (*)(Rebuild&, const ir::Op&)> known;
  for (const auto& kind :
       {float_decompositions(), movement_decompositions(), reduce_decompositions(), norm_decompositions(),
        composite_decompositions(), indexed_decompositions(), random_decompositions()})
    for (const Decomposition& d : kind) known.emplace(d.code, d.run);
  Rebuild r(graph);
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    r.begin_origin(op);
    if (const auto at = known.find(op.code); at != known.end()) at->second(r, op);
    else if (ir::op_info(op.code)->cls == ir::OpClass::reduce)
      r.set(op.results[0], reduced(r, op.code, r(op.operands[0]), attr(op, "axes").ints, attr(op, "keepdims").i != 0));
    else r.copy(op);
    r.end_origin();
  }
  return r.finish();
}

}  // namespace ingot::pass
