#include <optional>

#include "base/error.h"
#include "pass/passes.h"
#include "pass/rebuild.h"

namespace ingot::pass {

namespace {

// A constant larger than its sources by more than this is cheaper to compute where it is used.
constexpr uint64_t growth = 4;

std::optional<uint64_t> constant_bytes(const ir::Graph& g, ValueId v) {
  uint64_t bytes = ir::item_size(g.value(v).dtype);
  for (const ir::DimId d : g.value(v).shape) {
    const auto extent = g.dims().as_constant(d);
    if (!extent || __builtin_mul_overflow(bytes, static_cast<uint64_t>(*extent), &bytes)) return std::nullopt;
  }
  return bytes;
}

// The dims of a graph without symbols; nothing where one is not a constant.
std::optional<std::vector<ir::DimId>> constant_dims(const ir::DimTable& from, ir::DimTable& to, const auto& dims) {
  std::vector<ir::DimId> out;
  for (const auto d : dims) {
    const auto v = from.as_constant(static_cast<ir::DimId>(d));
    if (!v) return std::nullopt;
    out.push_back(to.constant(*v));
  }
  return out;
}

std::optional<std::vector<NamedAttr>> constant_attrs(const ir::DimTable& from, ir::DimTable& to, const ir::Op& op) {
  std::vector<NamedAttr> attrs = named_attrs(op);
  for (NamedAttr& a : attrs) {
    if (a.value.kind != ir::AttrKind::dims) continue;
    const auto dims = constant_dims(from, to, a.value.ints);
    if (!dims) return std::nullopt;
    a.value = ir::Attr::of_dims(*dims);
  }
  return attrs;
}

// Folds all but, if `indexed` is false, the ops that fail where an index is out of range.
ir::Graph fold(const ir::Graph& graph, uint64_t limit_bytes, const Evaluate& evaluate, bool indexed) {
  // Which ops fold: all operands constant or folded, and a result that is small enough to keep.
  std::vector<bool> folds(graph.value_count(), false);
  const auto known = [&](ValueId v) { return graph.value(v).kind == ir::ValueKind::constant || folds[v]; };
  // What folds goes into a graph of its own, whose dims are constants: the symbols of this one are bound by no input
  // there.
  ir::Graph constants("constants");
  bool any = false;
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    uint64_t sources = 64;
    bool fold = !op.operands.empty() && op.results.size() == 1;
    fold = fold && (indexed || ir::op_info(op.code)->cls != ir::OpClass::gather);
    for (const ValueId v : op.operands) {
      fold = fold && known(v);
      if (fold) sources += constant_bytes(graph, v).value_or(0);
    }
    if (!fold) continue;
    const auto bytes = constant_bytes(graph, op.results[0]);
    folds[op.results[0]] = bytes && *bytes > 0 && *bytes <= limit_bytes && *bytes <= sources * growth &&
                           constant_attrs(graph.dims(), constants.dims(), op);
    any = any || folds[op.results[0]];
  }
  if (!any) return graph;

  // Its outputs are the values that something else reads.
  std::vector<bool> wanted(graph.value_count(), false);
  for (uint32_t i = 0; i < graph.op_count(); ++i)
    if (!folds[graph.op(i).results[0]])
      for (const ValueId v : graph.op(i).operands) wanted[v] = folds[v];
  for (const ir::Output& o : graph.outputs()) wanted[o.value] = wanted[o.value] || folds[o.value];

  std::vector<ValueId> there(graph.value_count(), ir::no_value);
  const auto in_constants = [&](ValueId v) {
    const ir::Value& value = graph.value(v);
    if (there[v] == ir::no_value)
      there[v] = constants.constant(value.dtype, *constant_dims(graph.dims(), constants.dims(), value.shape),
                                    graph.constant_data(v));
    return there[v];
  };
  std::vector<ValueId> results;
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    if (!folds[op.results[0]]) continue;
    std::vector<ValueId> operands;
    for (const ValueId v : op.operands) operands.push_back(in_constants(v));
    there[op.results[0]] = constants.op(op.code, operands, *constant_attrs(graph.dims(), constants.dims(), op));
    if (!wanted[op.results[0]]) continue;
    constants.output("", there[op.results[0]]);
    results.push_back(op.results[0]);
  }
  if (results.empty()) return graph;
  constants.seal();
  const std::vector<ir::Constant> values = evaluate(constants);

  Rebuild r(graph);
  for (size_t i = 0; i < results.size(); ++i) {
    const ir::Value& v = graph.value(results[i]);
    r.set(results[i], r.to().constant(v.dtype, v.shape, values[i]));
  }
  for (uint32_t i = 0; i < graph.op_count(); ++i)
    if (!folds[graph.op(i).results[0]]) r.copy(graph.op(i));
  return r.finish();
}

}  // namespace

ir::Graph fold_constants(const ir::Graph& graph, uint64_t limit_bytes, const Evaluate& evaluate) {
  try {
    return fold(graph, limit_bytes, evaluate, true);
  } catch (const Error& e) {
    // The run tells of it, like of any other index.
    if (e.code() != Code::out_of_range) throw;
    return fold(graph, limit_bytes, evaluate, false);
  }
}

}  // namespace ingot::pass
