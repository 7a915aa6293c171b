#include "fuse/cost.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "loop/expand.h"

namespace ingot::fuse {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

namespace {
// Ops looked at for one value: keeps planning near linear. As many operations are dear in any case.
constexpr size_t cone_limit = 64;
}  // namespace

double estimate(const ir::DimTable& dims, ir::DimId extent) {
  const ir::Bounds b = dims.bounds(extent);
  return static_cast<double>(std::max<int64_t>(std::clamp(assumed_extent, b.lo, std::max(b.lo, b.hi)), 1));
}

double estimate(const ir::DimTable& dims, std::span<const ir::DimId> shape) {
  double out = 1;
  for (const ir::DimId d : shape) out *= estimate(dims, d);
  return out;
}

uint32_t operations(const ir::Graph& graph, const ir::Op& op) {
  if (ir::op_info(op.code)->cls == OpClass::movement) return 0;
  const ir::DType type = graph.value(op.results[0]).dtype;
  // As loop::schedule() weighs them: what is one primitive is not always one addition.
  switch (op.code) {
    case OpCode::op_div:
    case OpCode::op_sqrt: return 4;
    case OpCode::op_cast: return 1;
    default: return loop::expansion_weight(op.code, type);
  }
}

Cone cone_of(const ir::Graph& graph, const ir::DimTable& dims, ValueId value,
             const std::function<bool(ValueId)>& in_memory) {
  Cone out;
  const double elements = estimate(dims, graph.value(value).shape);
  std::vector<ValueId> stack{value};
  std::unordered_set<ValueId> seen{value};
  while (!stack.empty() && seen.size() < cone_limit) {
    const ValueId v = stack.back();
    stack.pop_back();
    const ir::Value& x = graph.value(v);
    // A scalar is computed once for all lanes.
    if (v != value && estimate(dims, x.shape) == 1) continue;
    const bool made = x.kind == ir::ValueKind::result;
    const OpClass cls = made ? ir::op_info(graph.op(x.source).code)->cls : OpClass::elementwise;
    const bool folded = made && (cls == OpClass::reduce || cls == OpClass::scan || cls == OpClass::contraction);
    out.folds |= folded;
    if (!made || folded || (v != value && in_memory(v))) {
      out.bytes += static_cast<double>(ir::item_size(x.dtype)) * estimate(dims, x.shape) / elements;
      continue;
    }
    const ir::Op& op = graph.op(x.source);
    out.operations += operations(graph, op);
    for (const ValueId a : op.operands)
      if (seen.insert(a).second) stack.push_back(a);
  }
  return out;
}

std::optional<Reason> dearer(const Cone& cone, double item_size, const Repeats& r, uint32_t op) {
  if (r.times <= 1) return std::nullopt;
  // For each element: what is computed again, and the bytes that are not moved for that.
  const double again = cone.operations * (r.times - 1);
  const double stored = item_size * (r.joins ? r.times : r.times + 1) - cone.bytes * (r.passes - 1);
  if (again <= operations_a_byte * stored) return std::nullopt;
  const double bytes = std::max(stored / (r.times - 1), 0.0);
  return Reason{
      .why = Why::dear, .op = op, .operations = cone.operations, .bytes = static_cast<uint64_t>(std::lround(bytes))};
}

}  // namespace ingot::fuse
