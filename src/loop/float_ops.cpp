#include "loop/float_ops.h"

#include <map>

namespace ingot::loop {

namespace {

bool counts(Prim op) {
  switch (op) {
    case Prim::add:
    case Prim::sub:
    case Prim::mul:
    case Prim::div:
    case Prim::min:
    case Prim::max:
    case Prim::fma:
    case Prim::sqrt:
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::round:
    case Prim::scale2: return true;
    default: return ends_sweep(op);
  }
}

// What some store needs where no slow arm runs. Operands precede uses.
std::vector<bool> usual(const Kernel& k) {
  std::vector<bool> out(k.nodes.size());
  for (const Store& s : k.stores) out[s.value] = true;
  for (size_t n = k.nodes.size(); n-- > 0;) {
    if (!out[n]) continue;
    const size_t arms = k.nodes[n].op == Prim::rare ? 2 : 3;
    for (size_t a = 0; a < arms; ++a)
      if (const NodeId arg = k.nodes[n].arg[a]; arg != no_node) out[arg] = true;
  }
  return out;
}

}  // namespace

std::vector<FloatOps> float_ops(const Kernel& k) {
  const std::vector<bool> used = usual(k);
  std::map<std::pair<DType, AxisSet>, uint32_t> found;
  for (size_t n = 0; n < k.nodes.size(); ++n) {
    const Node& node = k.nodes[n];
    if (!used[n] || !counts(node.op) || (node.type != DType::f32 && node.type != DType::f64)) continue;
    AxisSet axes = node.axes;
    if (ends_sweep(node.op)) {
      axes = k.col_set();
      for (const NodeId a : node.arg)
        if (a != no_node) axes |= k.nodes[a].axes;
    }
    ++found[{node.type, axes}];
  }
  std::vector<FloatOps> out;
  for (const auto& [key, count] : found) out.push_back({key.first, key.second, count});
  return out;
}

}  // namespace ingot::loop
