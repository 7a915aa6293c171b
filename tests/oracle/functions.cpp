#include "functions.h"

#include <map>
#include <string>
#include <vector>

#include "array.h"
#include "loop/eval.h"
#include "loop/expand.h"
#include "narrow.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using loop::DType;
using loop::Prim;

// The primitives of one function over one or two loads.
loop::Kernel expansion(const ir::Op& op, DType type) {
  loop::Builder b(1, 0);
  std::vector<loop::Val> args;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    loop::View view{.kind = loop::ViewKind::load, .storage = type, .tensor = b.add_tensor(), .axes = 1};
    args.emplace_back(b, b.load(b.add_view(std::move(view))));
  }
  const loop::Val out = loop::expand(op.code, op.attrs, args);
  b.store(b.add_view({.kind = loop::ViewKind::store, .storage = type, .tensor = b.add_tensor(), .axes = 1}), out.id());
  return b.finish();
}

}  // namespace

uint64_t function_op(const ir::Op& op, DType type, uint64_t a, uint64_t b) {
  // On f16 and bf16 that of f32, rounded.
  if (is_narrow(type)) {
    const auto wide = [&](uint64_t v) { return cast(DType::f32, type, v); };
    return cast(type, DType::f32, function_op(op, DType::f32, wide(a), wide(b)));
  }
  thread_local std::map<std::pair<std::string, DType>, loop::Kernel> known;
  std::string name(ir::op_info(op.code)->name);
  if (!op.attrs.empty()) name += op.attrs[0].s + std::to_string(to_bits(op.attrs[0].f));
  auto at = known.find({name, type});
  if (at == known.end()) at = known.emplace(std::pair{name, type}, expansion(op, type)).first;
  const loop::Kernel& k = at->second;

  thread_local std::vector<uint64_t> value;
  value.assign(k.nodes.size(), 0);
  const auto bits = [&](loop::NodeId n) { return n == loop::no_node ? 0 : value[n]; };
  for (size_t i = 0; i < k.nodes.size(); ++i) {
    const loop::Node& n = k.nodes[i];
    if (n.op == Prim::literal) {
      value[i] = n.imm;
    } else if (n.op == Prim::load) {
      value[i] = k.views[n.imm].tensor == 0 ? a : b;
    } else {
      const bool chooses = n.op == Prim::select || n.op == Prim::rare;
      value[i] = loop::eval(n.op, n.type, k.nodes[n.arg[chooses ? 1 : 0]].type, bits(n.arg[0]), bits(n.arg[1]),
                            bits(n.arg[2]));
    }
  }
  const uint64_t out = value[k.stores[0].value];
  return type == DType::f32 ? to_bits(canonical(from_bits<float>(out))) : to_bits(canonical(from_bits<double>(out)));
}

}  // namespace ingot::oracle
