#include "jit/interp/compile.h"

#include <algorithm>

#include "base/error.h"
#include "loop/rules.h"

namespace ingot::jit::interp {

using loop::is_fold;
using loop::LaneMode;
using loop::no_node;
using loop::Node;
using loop::NodeId;
using loop::Prim;

namespace {

constexpr int64_t l1_bytes = 24 * 1024;  // for strips: half to three quarters of the usual L1
constexpr uint32_t none = ~uint32_t{0};

class Compiler {
 public:
  Compiler(const loop::Kernel& kernel, const loop::Schedule& schedule, const Ops& ops)
      : k_(kernel), s_(schedule), ops_(ops), where_(kernel.nodes.size(), none) {
    lanes_ = s_.mode == LaneMode::row ? (k_.rows ? loop::AxisSet{1} << (k_.rows - 1) : 0)
             : k_.cols                ? k_.col_set()
                                      : k_.row_set();
  }

  Code sweep(unsigned index) {
    const loop::Sweep& sw = s_.sweeps[index];
    for (const uint16_t h : sw.reads) {
      const NodeId n = s_.holds[h].node;
      where_[n] = operand(Source::hold, h, item(n), true);
    }
    fills_.assign(k_.nodes.size(), none);
    for (const uint16_t h : sw.fills)
      if (!s_.holds[h].scanned()) fills_[s_.holds[h].node] = h;
    copy_loads_ = sw.stores.size() > 1;

    for (const NodeId n : sw.uniform) emit(code_.uniform, n);
    for (const NodeId n : sw.per_lane_invariant) emit(code_.per_lane, n);
    guarded(sw);
    for (const uint16_t h : sw.fills)
      if (s_.holds[h].scanned()) fill(h);
    for (const NodeId n : sw.folds) fold(n);
    for (const uint16_t st : sw.stores) store(st);
    allocate();
    return std::move(code_);
  }

  Code row() {
    for (const NodeId n : s_.row_nodes) emit(code_.uniform, n);
    for (const uint16_t st : s_.row_stores) store(st);
    allocate();
    return std::move(code_);
  }

 private:
  uint8_t item(NodeId n) const { return static_cast<uint8_t>(ir::item_size(k_.nodes[n].type)); }
  bool has_lanes(loop::AxisSet axes) const { return axes & lanes_; }

  uint32_t operand(Source source, uint32_t index, uint8_t bytes, bool per_lane) {
    code_.operands.push_back({source, index, bytes, per_lane});
    return static_cast<uint32_t>(code_.operands.size() - 1);
  }
  // Strips get their numbers in allocate(); until then each is its own.
  uint32_t new_strip(uint8_t bytes) {
    code_.strip_item = std::max<uint32_t>(code_.strip_item, bytes);
    return operand(Source::strip, none, bytes, true);
  }
  uint32_t new_place(NodeId n) {
    return has_lanes(k_.nodes[n].axes) ? new_strip(item(n)) : operand(Source::single, code_.singles++, item(n), false);
  }

  uint32_t get(NodeId n) {
    uint32_t& at = where_[n];
    if (at != none) return at;
    if (!is_fold(k_.nodes[n].op)) bug("interpreter: node ", n, " is used before it is computed");
    // The result of an earlier sweep.
    const bool per_lane = s_.mode == LaneMode::row && has_lanes(k_.nodes[n].axes);
    at = operand(Source::value, static_cast<uint32_t>(s_.fold_slot[n]), item(n), per_lane);
    return at;
  }

  void step(std::vector<Step>& steps, StripFn fn, uint32_t out, uint32_t a, uint32_t b = none, uint32_t c = none) {
    if (!fn) bug("interpreter: an operation without a function");
    push(steps, StepKind::compute, fn, out, a, b, c);
  }

  Step& push(std::vector<Step>& steps, StepKind kind, StripFn fn, uint32_t out, uint32_t a, uint32_t b, uint32_t c) {
    const bool single = !code_.operands[out].per_lane;
    unsigned scalars = 0;
    const uint32_t args[] = {a, b, c};
    for (unsigned i = 0; i < 3; ++i)
      if (args[i] != none && !code_.operands[args[i]].per_lane) scalars |= 1u << i;
    steps.push_back({kind, fn, out, a, b, c, static_cast<uint8_t>(single ? 0 : scalars), single});
    return steps.back();
  }

  void indexed(std::vector<Step>& steps, const Node& n, uint32_t out) {
    const uint32_t a = get(n.arg[0]), b = get(n.arg[1]);
    if (n.op == Prim::check) {
      push(steps, StepKind::check, nullptr, out, a, b, get(n.arg[2])).number = static_cast<uint32_t>(n.imm);
      return;
    }
    const loop::DType storage = k_.views[n.imm].storage;
    const auto bytes = static_cast<uint8_t>(ir::item_size(storage));
    const uint32_t memory = operand(Source::view, static_cast<uint32_t>(n.imm), bytes, false);
    push(steps, StepKind::fetch, nullptr, out, a, b, memory).storage = storage;
  }

  void emit(std::vector<Step>& steps, NodeId id) {
    const Node& n = k_.nodes[id];
    uint32_t at = none;
    switch (n.op) {
      case Prim::literal:
        at = operand(Source::constant, static_cast<uint32_t>(code_.constants.size()), item(id), false);
        code_.constants.push_back(n.imm);
        break;
      case Prim::size: at = operand(Source::size, static_cast<uint32_t>(n.imm), 8, false); break;
      case Prim::bitcast:
      case Prim::number_bits:
      case Prim::number: at = get(n.arg[0]); break;
      case Prim::load: {
        const loop::View& view = k_.views[n.imm];
        const auto bytes = static_cast<uint8_t>(ir::item_size(view.storage));
        at = operand(Source::view, static_cast<uint32_t>(n.imm), bytes, has_lanes(n.axes));
        if (const StripFn fn = view.kind == loop::ViewKind::load ? ops_.load(view.storage) : nullptr) {
          const uint32_t memory = at;
          at = new_place(id);
          step(steps, fn, at, memory);
        }
        break;
      }
      default: break;
    }
    const bool computed = at == none;
    if (computed) {
      const bool second = n.op == Prim::select || n.op == Prim::rare;
      const uint32_t a = get(n.arg[0]);
      const uint32_t b = n.arg[1] == no_node ? none : get(n.arg[1]);
      const uint32_t c = n.arg[2] == no_node ? none : get(n.arg[2]);
      const bool to_hold = !fills_.empty() && fills_[id] != none;
      at = to_hold ? operand(Source::hold, fills_[id], item(id), true) : new_place(id);
      if (loop::prim_info(n.op)->cls == loop::PrimClass::index) indexed(steps, n, at);
      else step(steps, ops_.strip(n.op, n.type, k_.nodes[n.arg[second]].type), at, a, b, c);
    } else if (!fills_.empty() && fills_[id] != none) {
      step(steps, ops_.move(item(id)), operand(Source::hold, fills_[id], item(id), true), at);
    }
    where_[id] = at;
  }

  // Emits the varying nodes. Those that only the slow arm of a `rare` needs go right before it, behind a guard that
  // skips them where no lane takes it; the select then reads garbage, and takes none of it.
  void guarded(const loop::Sweep& sw) {
    std::vector<NodeId> owner(k_.nodes.size(), no_node);
    std::vector<bool> listed(k_.nodes.size(), false), pinned(k_.nodes.size(), false);
    std::vector<std::vector<NodeId>> users(k_.nodes.size());
    for (const NodeId n : sw.varying) {
      listed[n] = true;
      for (const NodeId a : k_.nodes[n].arg)
        if (a != no_node) users[a].push_back(n);
    }
    for (const NodeId f : sw.folds)
      for (const NodeId a : k_.nodes[f].arg)
        if (a != no_node) pinned[a] = true;
    for (const uint16_t st : sw.stores) pinned[k_.stores[st].value] = true;
    for (const uint16_t h : sw.fills) pinned[s_.holds[h].source] = true;

    for (size_t i = sw.varying.size(); i-- > 0;) {
      const NodeId r = sw.varying[i];
      const Node& node = k_.nodes[r];
      if (node.op != Prim::rare || owner[r] != no_node) continue;
      if (node.arg[0] == node.arg[2] || node.arg[1] == node.arg[2]) continue;
      // Descending, so that a node's users are decided before it.
      for (size_t j = i; j-- > 0;) {
        const NodeId x = sw.varying[j];
        if (pinned[x] || owner[x] != no_node || users[x].empty()) continue;
        const bool only =
            std::ranges::all_of(users[x], [&](NodeId u) { return owner[u] == r || (u == r && x == node.arg[2]); });
        if (only) owner[x] = r;
      }
    }
    for (size_t i = 0; i < sw.varying.size(); ++i) {
      const NodeId n = sw.varying[i];
      if (owner[n] != no_node) continue;
      if (k_.nodes[n].op == Prim::rare && listed[k_.nodes[n].arg[2]] && owner[k_.nodes[n].arg[2]] == n) {
        const size_t guard = code_.varying.size();
        const uint32_t cond = get(k_.nodes[n].arg[0]);
        code_.varying.push_back({StepKind::guard, nullptr, 0, cond, none, none, 0, !code_.operands[cond].per_lane});
        for (size_t j = 0; j < i; ++j)
          if (owner[sw.varying[j]] == n) emit(code_.varying, sw.varying[j]);
        code_.varying[guard].out = static_cast<uint32_t>(code_.varying.size());
      }
      emit(code_.varying, n);
    }
  }

  // What the driver will scan.
  void fill(uint16_t hold) {
    const NodeId n = s_.holds[hold].source;
    step(code_.varying, ops_.move(item(n)), operand(Source::hold, hold, item(n), true), get(n));
  }

  void fold(NodeId id) {
    const Node& n = k_.nodes[id];
    const auto slot = static_cast<uint32_t>(s_.fold_slot[id]);
    const uint32_t acc = operand(Source::acc, slot, item(id), s_.mode == LaneMode::row);
    if (n.op == Prim::fold_dot) {
      DotStep d{ops_.dot(n.type),
                ops_.chain(n.type),
                ops_.accumulate(n.type),
                n.type,
                get(n.arg[0]),
                get(n.arg[1]),
                acc,
                none,
                0};
      d.scalars = static_cast<uint8_t>((code_.operands[d.a].per_lane ? 0 : 1) | (code_.operands[d.b].per_lane ? 0 : 2));
      code_.dots.push_back(d);
      return;
    }
    uint32_t src = get(n.arg[0]);
    if (!code_.operands[src].per_lane) {  // a value that does not vary along k
      const uint32_t spread = new_strip(item(id));
      step(code_.varying, ops_.move(item(id)), spread, src);
      src = spread;
    }
    if (s_.mode == LaneMode::row) {
      GroupStep g{ops_.strip(loop::join_of(n.op, n.type), n.type, n.type), src, acc, {}, item(id)};
      for (uint32_t& k : g.kept) k = new_strip(item(id));
      code_.groups.push_back(g);
      return;
    }
    code_.folds.push_back({ops_.fold(n.op, n.type), src, acc});
    if (!code_.folds.back().fn) bug("interpreter: no such fold");
  }

  void store(uint16_t index) {
    const loop::Store& st = k_.stores[index];
    const uint8_t bytes = item(st.value);
    uint32_t src = get(st.value);
    if (copy_loads_ && code_.operands[src].source == Source::view) {
      // Another store may overwrite what this one reads, if the two swap tensors in place.
      const uint32_t copy =
          code_.operands[src].per_lane ? new_strip(bytes) : operand(Source::single, code_.singles++, bytes, false);
      step(code_.varying, ops_.move(bytes), copy, src);
      src = copy;
    }
    const loop::View& view = k_.views[st.view];
    // In mode row every store has lanes, also that of a kernel without rows.
    const bool per_lane = has_lanes(view.axes) || s_.mode == LaneMode::row;
    const uint32_t to = operand(Source::view, st.view, bytes, per_lane);
    step(code_.stores, ops_.move(bytes), to, src);
  }

  // Gives the strips numbers, so that one is used again after its last reader.
  void allocate() {
    std::vector<size_t> last(code_.operands.size(), 0);
    // Positions: steps in the order in which they run, ends of the phases included.
    size_t at = 0;
    const auto note = [&](uint32_t o) {
      if (o != none) last[o] = std::max(last[o], at);
    };
    const auto scan = [&](const std::vector<Step>& steps) {
      for (const Step& s : steps) {
        ++at;
        if (s.kind != StepKind::guard) note(s.out);
        note(s.a);
        note(s.b);
        note(s.c);
      }
    };
    scan(code_.per_lane);
    scan(code_.varying);
    ++at;
    const size_t after_k = at;
    for (const FoldStep& f : code_.folds) note(f.src);
    for (const GroupStep& g : code_.groups) note(g.src);
    for (const DotStep& d : code_.dots) {
      note(d.a);
      note(d.b);
    }
    scan(code_.stores);
    const size_t end = at + 1;

    std::vector<uint32_t> free;
    std::vector<std::vector<uint32_t>> expire(end + 1);  // strips by the position after which they are free
    size_t position = 0;
    const auto give = [&](uint32_t o, bool keep) {
      if (o == none || code_.operands[o].source != Source::strip || code_.operands[o].index != none) return;
      uint32_t n;
      if (free.empty()) {
        n = code_.strips++;
      } else {
        n = free.back();
        free.pop_back();
      }
      code_.operands[o].index = n;
      // What is computed before the k loop is read in each of its rounds.
      expire[keep ? std::max(last[o], after_k) : last[o]].push_back(n);
    };
    const auto walk = [&](const std::vector<Step>& steps, bool keep) {
      for (const Step& s : steps) {
        ++position;
        if (s.kind != StepKind::guard) give(s.out, keep);
        for (const uint32_t n : expire[position]) free.push_back(n);
      }
    };
    walk(code_.per_lane, !code_.dots.empty() || !code_.groups.empty());
    // A guard may leave a strip unwritten, but what reads it then takes nothing of it.
    walk(code_.varying, false);
    for (DotStep& d : code_.dots) {
      if (code_.varying.empty()) continue;
      d.dot = nullptr;
      d.p = new_strip(static_cast<uint8_t>(ir::item_size(d.type)));
      code_.operands[d.p].index = code_.strips++;
    }
    for (const GroupStep& g : code_.groups)
      for (const uint32_t k : g.kept) code_.operands[k].index = code_.strips++;
    int64_t lanes = loop::strip_lanes;
    while (lanes > loop::fold_granule && lanes * code_.strip_item * code_.strips > l1_bytes) lanes /= 2;
    code_.lanes = lanes;
  }

  const loop::Kernel& k_;
  const loop::Schedule& s_;
  const Ops& ops_;
  loop::AxisSet lanes_;
  bool copy_loads_ = false;
  std::vector<uint32_t> where_;  // per node: its operand
  std::vector<uint32_t> fills_;  // per node: the hold it fills in this sweep
  Code code_;
};

}  // namespace

Code compile_sweep(const loop::Kernel& kernel, const loop::Schedule& schedule, unsigned index, const Ops& ops) {
  return Compiler(kernel, schedule, ops).sweep(index);
}

Code compile_row(const loop::Kernel& kernel, const loop::Schedule& schedule, const Ops& ops) {
  return Compiler(kernel, schedule, ops).row();
}

}  // namespace ingot::jit::interp
