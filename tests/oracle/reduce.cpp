// Makes a failing graph smaller while it still fails.
#include <algorithm>

#include "evaluate.h"
#include "random_graph.h"

namespace ingot::oracle {

namespace {

using ir::ValueId;

std::vector<ir::NamedAttr> attrs_of(const ir::Op& op) {
  std::vector<ir::NamedAttr> out;
  for (size_t i = 0; i < op.attrs.size(); ++i)
    out.push_back({std::string(ir::op_info(op.code)->attrs[i].name), op.attrs[i]});
  return out;
}

// The graph with only some outputs and with some op results made inputs; what nothing needs is dropped, except inputs,
// which bind symbols.
Failing rebuild(const Failing& f, const std::vector<size_t>& outputs, const std::vector<bool>& cut) {
  const ir::Graph& g = *f.graph;
  const std::vector<Array> values = evaluate_all(g, f.inputs);
  std::vector<bool> live(g.value_count(), false);
  for (const size_t o : outputs) live[g.outputs()[o].value] = true;
  for (size_t i = g.op_count(); i-- > 0;) {
    const ir::Op& op = g.op(static_cast<uint32_t>(i));
    // Cut for all of its results together.
    const bool needed = std::ranges::any_of(op.results, [&](ValueId v) { return live[v]; });
    if (!needed || cut[op.results[0]]) continue;
    for (const ValueId v : op.operands) live[v] = true;
  }
  Failing out;
  auto h = std::make_shared<ir::Graph>("reduced");
  h->dims() = g.dims();
  std::vector<ValueId> now(g.value_count(), ir::no_value);
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    const ir::Value& v = g.value(g.inputs()[i]);
    now[g.inputs()[i]] = v.dim != ir::no_dim ? h->dim_input("", v.dim) : h->input("", v.dtype, v.shape);
    out.inputs.push_back(f.inputs[i]);
  }
  for (ValueId v = 0; v < g.value_count(); ++v) {
    if (!live[v] || now[v] != ir::no_value) continue;
    const ir::Value& value = g.value(v);
    if (value.kind == ir::ValueKind::constant) {
      now[v] = h->constant(value.dtype, value.shape, g.constant_data(v));
    } else if (cut[v]) {
      now[v] = h->input("", value.dtype, value.shape);
      out.inputs.push_back(values[v]);
    } else {
      const ir::Op& op = g.op(value.source);
      std::vector<ValueId> operands;
      for (const ValueId a : op.operands) operands.push_back(now[a]);
      const ValueId first = h->op(op.code, operands, attrs_of(op));
      for (size_t k = 0; k < op.results.size(); ++k) now[op.results[k]] = first + static_cast<ValueId>(k);
    }
  }
  for (const size_t o : outputs) h->output("", now[g.outputs()[o].value]);
  h->seal();
  out.graph = std::move(h);
  return out;
}

}  // namespace

Failing reduce(Failing failing, const std::function<bool(const Failing&)>& fails) {
  const auto attempt = [&](const std::vector<size_t>& outputs, const std::vector<bool>& cut) {
    try {
      Failing less = rebuild(failing, outputs, cut);
      if (!fails(less)) return false;
      failing = std::move(less);
      return true;
    } catch (const Error&) {
      return false;  // not a graph, or not one with these inputs
    }
  };
  const auto all_outputs = [&] {
    std::vector<size_t> all;
    for (size_t o = 0; o < failing.graph->outputs().size(); ++o) all.push_back(o);
    return all;
  };
  const auto no_cut = [&] { return std::vector<bool>(failing.graph->value_count(), false); };
  for (size_t o = 0; o < failing.graph->outputs().size();) {
    std::vector<size_t> rest = all_outputs();
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(o));
    if (rest.empty() || !attempt(rest, no_cut())) ++o;
  }
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (uint32_t i = 0; i < failing.graph->op_count() && !smaller; ++i) {
      const ir::Op& op = failing.graph->op(i);
      // An op that is an output itself cannot become an input without becoming a copy.
      const auto outs = failing.graph->outputs();
      const auto made = [&](const ir::Output& o) { return std::ranges::find(op.results, o.value) != op.results.end(); };
      if (std::any_of(outs.begin(), outs.end(), made)) continue;
      std::vector<bool> cut = no_cut();
      for (const ValueId v : op.results) cut[v] = true;
      smaller = attempt(all_outputs(), cut);
    }
  }
  return failing;
}

}  // namespace ingot::oracle
