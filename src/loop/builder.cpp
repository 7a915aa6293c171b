#include "loop/builder.h"

#include "base/error.h"
#include "base/hash.h"

namespace ingot::loop {

Builder::Builder(uint8_t rows, uint8_t cols) {
  kernel_.rows = rows;
  kernel_.cols = cols;
  kernel_.sizes = static_cast<uint16_t>(rows + cols);
}

uint16_t Builder::add_view(View view) {
  for (size_t i = 0; i < kernel_.views.size(); ++i)
    if (kernel_.views[i] == view) return static_cast<uint16_t>(i);
  kernel_.views.push_back(std::move(view));
  return static_cast<uint16_t>(kernel_.views.size() - 1);
}

size_t Builder::NodeHash::operator()(const Node& n) const noexcept {
  const uint64_t words[] = {static_cast<uint64_t>(n.op) | static_cast<uint64_t>(n.type) << 8 | uint64_t{n.axes} << 16, n.imm,
                            n.arg[0] | uint64_t{n.arg[1]} << 32, n.arg[2]};
  return hash64(words, sizeof words);
}

NodeId Builder::intern(const Node& node) {
  const auto [at, fresh] = known_.try_emplace(node, static_cast<NodeId>(kernel_.nodes.size()));
  if (fresh) kernel_.nodes.push_back(node);
  return at->second;
}

NodeId Builder::literal(DType type, uint64_t bits) {
  return intern({.op = Prim::literal, .type = type, .imm = bits});
}

NodeId Builder::size(uint16_t slot) {
  return intern({.op = Prim::size, .type = DType::i64, .imm = slot});
}

NodeId Builder::load(uint16_t view) {
  const View& v = kernel_.views[view];
  return intern({.op = Prim::load, .type = value_type(v.storage), .axes = v.axes, .imm = view});
}

NodeId Builder::op(Prim prim, NodeId a, NodeId b, NodeId c) {
  const PrimInfo* info = prim_info(prim);
  if (!info) bug("no such primitive");
  Node n{.op = prim, .type = type(a), .arg = {a, b, c}};
  for (size_t i = 0; i < 3; ++i) {
    if ((n.arg[i] != no_node) != (i < info->arity)) bug(info->name, " takes ", unsigned{info->arity}, " arguments");
    if (n.arg[i] != no_node) n.axes |= node(n.arg[i]).axes;
  }
  const auto same = [&](NodeId x, NodeId y) {
    if (type(x) != type(y)) bug(info->name, " of ", ir::name(type(x)), " and ", ir::name(type(y)));
  };
  switch (prim) {
    case Prim::select:
    case Prim::rare:
      if (type(a) != DType::boolean) bug(info->name, " needs a boolean condition");
      same(b, c);
      n.type = type(b);
      break;
    case Prim::scale2:
      if (type(b) != DType::i32) bug("scale2 takes an i32 exponent");
      break;
    default:
      if (info->arity > 1) same(a, b);
      if (info->arity > 2) same(a, c);
      if (info->cls == PrimClass::compare) n.type = DType::boolean;
      if (is_fold(prim)) n.axes &= kernel_.row_set();
  }
  return intern(n);
}

NodeId Builder::convert(DType to, NodeId a) {
  if (type(a) == to) return a;
  return intern({.op = Prim::convert, .type = to, .axes = node(a).axes, .arg = {a, no_node, no_node}});
}

NodeId Builder::bitcast(DType to, NodeId a) {
  if (type(a) == to) return a;
  if (ir::item_size(type(a)) != ir::item_size(to)) bug("bitcast of ", ir::name(type(a)), " to ", ir::name(to));
  return intern({.op = Prim::bitcast, .type = to, .axes = node(a).axes, .arg = {a, no_node, no_node}});
}

void Builder::store(uint16_t view, NodeId value) { kernel_.stores.push_back({view, value}); }

namespace {

bool is_move(Prim p) { return p == Prim::select || p == Prim::neg || p == Prim::abs || p == Prim::copysign; }

// Whether the node can produce a NaN whose payload the hardware chose (NUMERICS.md: those become canonical).
bool makes_nan(const Kernel& k, const Node& n) {
  if (n.type != DType::f32 && n.type != DType::f64) return false;
  switch (n.op) {
    case Prim::literal:
    case Prim::load:
    case Prim::bitcast:
    case Prim::canon: return false;
    case Prim::convert: return ir::is_float(k.nodes[n.arg[0]].type);
    default: return !is_move(n.op);
  }
}

// Where the bits of a NaN can be seen: stores, bitcasts, the sign of copysign, and through moves from there. `rare`
// counts as arithmetic: it only occurs inside functions, whose results are canonical.
std::vector<bool> demanded(const Kernel& k) {
  std::vector<bool> seen(k.nodes.size(), false);
  for (const Store& s : k.stores) seen[s.value] = true;
  for (size_t i = k.nodes.size(); i-- > 0;) {
    const Node& n = k.nodes[i];
    if (n.op == Prim::bitcast) seen[n.arg[0]] = true;
    if (n.op == Prim::copysign) seen[n.arg[1]] = true;
    if (!seen[i]) continue;
    if (n.op == Prim::select) seen[n.arg[1]] = seen[n.arg[2]] = true;
    if (n.op == Prim::neg || n.op == Prim::abs || n.op == Prim::copysign) seen[n.arg[0]] = true;
  }
  return seen;
}

}  // namespace

Kernel Builder::finish() {
  const Kernel old = std::move(kernel_);
  kernel_ = old;
  kernel_.nodes.clear();
  kernel_.stores.clear();
  known_.clear();
  const std::vector<bool> seen = demanded(old);

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
        for (size_t i = 3; i-- > 0;)
          if (n.arg[i] != no_node && made[n.arg[i]] == no_node) stack.push_back(n.arg[i]);
      if (stack.size() != depth) continue;
      stack.pop_back();
      if (made[id] != no_node) continue;
      for (NodeId& a : n.arg)
        if (a != no_node) a = made[a];
      if (n.op == Prim::canon) {
        // The argument already carries one where it needs it; what is left is a canon of a moved value.
        const Node& arg = kernel_.nodes[n.arg[0]];
        made[id] = !seen[id] || arg.op == Prim::canon ? n.arg[0] : intern(n);
        continue;
      }
      made[id] = intern(n);
      if (seen[id] && makes_nan(old, n.op == Prim::convert ? old.nodes[id] : n))
        made[id] = op(Prim::canon, made[id]);
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
