#include "loop/builder.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "loop/rules.h"

namespace ingot::loop {

Builder::Builder(uint8_t rows, uint8_t cols) {
  if (rows + cols > static_cast<int>(max_axes)) bug("more than ", max_axes, " axes");
  kernel_.rows = rows;
  kernel_.cols = cols;
  kernel_.sizes = static_cast<uint16_t>(rows + cols);
}

uint16_t Builder::add_view(View view) {
  // Boxes are a set; one order of them, so that equal kernels have equal bytes.
  std::ranges::sort(view.boxes, {}, [](const Box& b) { return std::tuple(b.axis, b.lo, b.hi); });
  view.boxes.erase(std::unique(view.boxes.begin(), view.boxes.end()), view.boxes.end());
  kernel_.views.push_back(std::move(view));
  return static_cast<uint16_t>(kernel_.views.size() - 1);
}

size_t Builder::NodeHash::operator()(const Node& n) const noexcept {
  const uint64_t words[] = {static_cast<uint64_t>(n.op) | static_cast<uint64_t>(n.type) << 8, n.imm,
                            n.arg[0] | uint64_t{n.arg[1]} << 32, n.arg[2]};
  return hash64(words, sizeof words);
}

NodeId Builder::intern(const Node& node) {
  const auto [at, fresh] = known_.try_emplace(node, static_cast<NodeId>(kernel_.nodes.size()));
  if (fresh) kernel_.nodes.push_back(node);
  return at->second;
}

NodeId Builder::literal(DType type, uint64_t bits) { return intern({.op = Prim::literal, .type = type, .imm = bits}); }

NodeId Builder::size(uint16_t slot) { return intern({.op = Prim::size, .type = DType::i64, .imm = slot}); }

NodeId Builder::load(uint16_t view) {
  const View& v = kernel_.views[view];
  return intern({.op = Prim::load, .type = v.storage, .axes = v.axes, .imm = view});
}

namespace {
void check_types(Prim prim, DType type, DType a, DType b = DType::invalid, DType c = DType::invalid) {
  if (const char* fault = type_fault(prim, type, a, b, c))
    bug(prim_info(prim)->name, ": ", fault, " (", ir::name(a), ", ", ir::name(b), ", ", ir::name(c), " -> ",
        ir::name(type), ")");
}
}  // namespace

NodeId Builder::op(Prim prim, NodeId a, NodeId b, NodeId c) {
  const PrimInfo* info = prim_info(prim);
  if (!info) bug("no such primitive");
  Node n{.op = prim, .type = DType::invalid, .arg = {a, b, c}};
  DType types[3] = {DType::invalid, DType::invalid, DType::invalid};
  for (size_t i = 0; i < 3; ++i) {
    if ((n.arg[i] != no_node) != (i < info->arity)) bug(info->name, " takes ", unsigned{info->arity}, " arguments");
    if (n.arg[i] == no_node) continue;
    if (n.arg[i] >= kernel_.nodes.size()) bug(info->name, ": no such argument");
    types[i] = type(n.arg[i]);
    n.axes |= node(n.arg[i]).axes;
  }
  if (is_fold(prim)) n.axes &= kernel_.row_set();
  n.type = prim == Prim::select || prim == Prim::rare ? types[1]
           : info->cls == PrimClass::compare          ? DType::boolean
                                                      : types[0];
  check_types(n.op, n.type, types[0], types[1], types[2]);
  return intern(n);
}

NodeId Builder::scan(Prim prim, NodeId a, uint64_t imm) {
  if (!is_scan(prim)) bug("no scan");
  check_types(prim, type(a), type(a));
  const AxisSet axes = node(a).axes | kernel_.col_set();
  return intern({.op = prim, .type = type(a), .axes = axes, .arg = {a, no_node, no_node}, .imm = imm});
}

NodeId Builder::convert(DType to, NodeId a) {
  if (type(a) == to) return a;
  check_types(Prim::convert, to, type(a));
  return intern({.op = Prim::convert, .type = to, .axes = node(a).axes, .arg = {a, no_node, no_node}});
}

NodeId Builder::bitcast(DType to, NodeId a) {
  if (type(a) == to) return a;
  check_types(Prim::bitcast, to, type(a));
  return intern({.op = Prim::bitcast, .type = to, .axes = node(a).axes, .arg = {a, no_node, no_node}});
}

NodeId Builder::number_bits(NodeId a) {
  const DType to = type(a) == DType::f32 ? DType::i32 : DType::i64;
  check_types(Prim::number_bits, to, type(a));
  return intern({.op = Prim::number_bits, .type = to, .axes = node(a).axes, .arg = {a, no_node, no_node}});
}

NodeId Builder::check(uint64_t number, NodeId when, NodeId index, NodeId extent) {
  check_types(Prim::check, DType::boolean, type(when), type(index), type(extent));
  return intern({.op = Prim::check,
                 .type = DType::boolean,
                 .axes = node(when).axes | node(index).axes | node(extent).axes,
                 .arg = {when, index, extent},
                 .imm = number});
}

NodeId Builder::fetch(uint16_t view, NodeId ok, NodeId offset) {
  const DType storage = kernel_.views[view].storage;
  check_types(Prim::fetch, storage, type(ok), type(offset));
  return intern({.op = Prim::fetch,
                 .type = storage,
                 .axes = node(ok).axes | node(offset).axes,
                 .arg = {ok, offset, no_node},
                 .imm = view});
}

void Builder::store(uint16_t view, NodeId value) { kernel_.stores.push_back({view, value}); }

Kernel Builder::finish() {
  const Kernel old = std::move(kernel_);
  kernel_ = old;
  kernel_.nodes.clear();
  kernel_.stores.clear();
  known_.clear();
  // What no store needs must not decide where a canon goes.
  const std::vector<bool> seen = nan_bits_seen(old, live_nodes(old));

  // Arguments from the last to the first. The condition of a `rare` is made behind its fast arm: made before, it would
  // hold registers all the while.
  constexpr size_t in_order[] = {2, 1, 0}, condition_late[] = {0, 2, 1};
  // Depth first from the stores, so that kernels built in another order come out the same. The stack is explicit:
  // expressions are deep and host threads small.
  std::vector<NodeId> made(old.nodes.size(), no_node);
  std::vector<NodeId> stack;
  const auto make = [&](NodeId root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      Node n = old.nodes[id];
      const size_t depth = stack.size();
      if (made[id] == no_node)
        for (const size_t i : n.op == Prim::rare || n.op == Prim::select ? condition_late : in_order)
          if (n.arg[i] != no_node && made[n.arg[i]] == no_node) stack.push_back(n.arg[i]);
      if (stack.size() != depth) continue;
      stack.pop_back();
      if (made[id] != no_node) continue;
      for (NodeId& a : n.arg)
        if (a != no_node) a = made[a];
      if (n.op == Prim::canon) {
        // The argument already carries one where it needs it; what is left is a canon of a moved value.
        const Prim arg = kernel_.nodes[n.arg[0]].op;
        made[id] = !seen[id] || arg == Prim::canon || arg == Prim::number ? n.arg[0] : intern(n);
        continue;
      }
      made[id] = intern(n);
      if (seen[id] && makes_nan(old, old.nodes[id])) made[id] = op(Prim::canon, made[id]);
    }
    return made[root];
  };
  for (const Store& s : old.stores) {
    const NodeId value = make(s.value);
    kernel_.stores.push_back({s.view, value});
  }
  verify(kernel_);
  return std::move(kernel_);
}

}  // namespace ingot::loop
