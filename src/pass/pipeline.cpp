#include "pass/pipeline.h"

#include <chrono>

#include "pass/passes.h"

namespace ingot::pass {

ir::Graph run(const ir::Graph& graph, const Options& options, const Evaluate& evaluate, const Observe& observe) {
  const auto step = [&](std::string_view name, const ir::Graph& in, auto&& pass) {
    const auto began = std::chrono::steady_clock::now();
    ir::Graph out = pass(in);
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    if (observe) observe(name, out, took.count());
    return out;
  };
  // Composites first: everything after sees only ops that the planner knows.
  ir::Graph g = step("decompose", graph, decompose);
  if (!options.simplify) return g;
  // Dead code before the rest so that no time is spent on it.
  g = step("dead_code", g, dead_code);
  // Moves and neutral elements go before folding, which would compute them.
  g = step("simplify", g, simplify);
  g = step("fold_constants", g, [&](const ir::Graph& in) { return fold_constants(in, options.fold_bytes, evaluate); });
  g = step("common_subexpressions", g, common_subexpressions);
  // Folding and merging leave neutral elements and unused values behind.
  g = step("simplify", g, simplify);
  return step("dead_code", g, dead_code);
}

}  // namespace ingot::pass
