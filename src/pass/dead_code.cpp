#include "pass/passes.h"
#include "pass/rebuild.h"

namespace ingot::pass {

ir::Graph dead_code(const ir::Graph& graph) {
  std::vector<bool> live(graph.value_count(), false);
  for (const ir::Output& o : graph.outputs()) live[o.value] = true;
  size_t dead = 0;
  for (size_t i = graph.op_count(); i-- > 0;) {
    const ir::Op& op = graph.op(static_cast<uint32_t>(i));
    bool needed = false;
    for (const ValueId v : op.results) needed = needed || live[v];
    dead += !needed;
    if (!needed) continue;
    for (const ValueId v : op.operands) live[v] = true;
  }
  if (dead == 0) return graph;
  Rebuild r(graph);
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    bool needed = false;
    for (const ValueId v : op.results) needed = needed || live[v];
    if (needed) r.copy(op);
  }
  return r.finish();
}

}  // namespace ingot::pass
