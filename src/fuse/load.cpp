#include "fuse/load.h"

#include "loop/expand.h"

namespace ingot::fuse {

using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

namespace {
// Below the kernel IR's limits, where a dim more here or there is a slot more.
constexpr uint32_t max_views = loop::max_views;
constexpr uint32_t max_slots = loop::max_sizes / 2;
constexpr uint32_t max_folds = loop::max_levels - 2;
}  // namespace

Cluster::Load sum(const Cluster::Load& a, const Cluster::Load& b) {
  return {a.weight + b.weight, a.reads + b.reads, a.extra + b.extra,
          a.stores + b.stores, a.slots + b.slots, a.folds + b.folds};
}

std::optional<Reason> over_limit(const Cluster::Load& load, uint32_t most_weight) {
  const auto over = [](Why why, uint64_t number, uint64_t limit) {
    return number > limit ? std::optional<Reason>({.why = why, .number = number, .limit = limit}) : std::nullopt;
  };
  if (const auto r = over(Why::full_work, load.weight, most_weight)) return r;
  if (const auto r = over(Why::full_views, load.reads + load.extra + load.stores, max_views)) return r;
  if (const auto r = over(Why::full_sizes, load.slots, max_slots)) return r;
  return over(Why::full_folds, load.folds, max_folds);
}

uint32_t weight(const ir::Graph& graph, const ir::Op& op) {
  return loop::expansion_weight(op.code, graph.value(op.results[0]).dtype);
}

bool is_load(const ir::Graph& graph, ValueId v) {
  const ir::Value& x = graph.value(v);
  if (x.kind == ir::ValueKind::dim_input) return false;
  return x.kind != ir::ValueKind::constant || graph.constant_data(v).size != ir::item_size(x.dtype);
}

Cluster::Load load_of(const ir::Graph& graph, const ir::Op& op, size_t times) {
  const auto n = static_cast<uint32_t>(op.operands.size());
  const auto rank = static_cast<uint32_t>(graph.value(op.results[0]).shape.size());
  Cluster::Load l{.weight = weight(graph, op)};
  for (const ValueId v : op.operands) l.reads += is_load(graph, v);
  switch (op.code) {
    case OpCode::op_iota: l.extra = 1; break;
    case OpCode::op_random_bits:
    case OpCode::op_random_uniform:
    case OpCode::op_random_normal: l.extra = l.slots = 1; break;
    case OpCode::op_dim: l.slots = 1; break;
    case OpCode::op_pad:
      l.extra = 1;
      l.slots = 2 * rank;
      break;
    case OpCode::op_gather:
    case OpCode::op_take_along_axis:
    case OpCode::op_gather_nd: {
      // The memory, its strides along the dims that are indexed, the place but for those, and the inside of boxes.
      const auto picked = static_cast<uint32_t>(picked_dims(graph, op).size());
      l.reads = picked;
      l.extra = picked + 3;
      l.slots = picked;
      l.weight *= picked;
      break;
    }
    case OpCode::op_concat:
      l.extra = n - 1;
      l.slots = 2 * n;
      break;
    default: break;
  }
  const ir::OpClass cls = ir::op_info(op.code)->cls;
  l.folds = cls == OpClass::reduce || cls == OpClass::contraction || cls == OpClass::scan;
  const auto k = static_cast<uint32_t>(times);
  return {l.weight * k, l.reads * k, l.extra * k, 0, l.slots * k, l.folds * k};
}

}  // namespace ingot::fuse
