#include "loop/schedule.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace ingot::loop {

namespace {

// Above this many additions per lane a value is kept in a buffer rather than computed again: writing and reading an L1
// buffer costs about as much as this, and short recomputations (x - mean) are cheaper than either.
constexpr uint32_t hold_above = 6;

// The cost of a node per lane, in additions: throughput of the vector forms, roughly.
uint32_t weight(Prim op) {
  switch (op) {
    case Prim::literal:
    case Prim::size:
    case Prim::load: return 0;
    case Prim::div:
    case Prim::rem:
    case Prim::sqrt: return 4;
    case Prim::fetch: return 8;  // read again it may miss the cache again
    default: return 1;
  }
}

class Scheduler {
 public:
  explicit Scheduler(const Kernel& k)
      : k_(k), level_(levels(k)), computed_in_(k.nodes.size(), none), held_from_(k.nodes.size(), none) {}

  Schedule run() {
    s_.fold_slot.assign(k_.nodes.size(), -1);
    s_.hold_slot.assign(k_.nodes.size(), -1);
    for (NodeId i = 0; i < k_.nodes.size(); ++i) {
      const Prim op = k_.nodes[i].op;
      s_.dots |= op == Prim::fold_dot;
      if (is_scan(op)) scans_.push_back(i);
      if (!is_fold(op)) continue;
      s_.fold_slot[i] = static_cast<int32_t>(s_.folds.size());
      s_.folds.push_back(i);
    }
    if (s_.dots || k_.row_lanes) s_.mode = LaneMode::row;
    lanes_ = s_.mode == LaneMode::row ? (k_.rows > 0 ? AxisSet{1} << (k_.rows - 1) : 0)
             : k_.cols > 0            ? k_.col_set()
                                      : k_.row_set();
    place_roots();
    for (size_t l = 0; l < s_.sweeps.size(); ++l) sweep(static_cast<uint8_t>(l));
    row_part();
    number_holds();
    link_sweeps();
    return std::move(s_);
  }

 private:
  static constexpr uint8_t none = 0xFF;

  bool varies(NodeId n) const { return k_.nodes[n].axes & (lanes_ | k_.col_set()); }

  // Puts each fold and store into its sweep, or with the rows.
  void place_roots() {
    uint8_t last = 0;
    for (const NodeId f : s_.folds) last = std::max(last, level_[f]);
    for (const NodeId n : scans_) last = std::max(last, level_[n]);
    s_.sweeps.resize(size_t{last} + 1);
    for (const NodeId f : s_.folds) s_.sweeps[level_[f] - 1u].folds.push_back(f);
    for (const NodeId n : scans_) {
      held_from_[n] = static_cast<uint8_t>(level_[n] - 1);
      s_.holds.push_back({n, held_from_[n], k_.nodes[n].arg[0]});
    }
    for (size_t i = 0; i < k_.stores.size(); ++i) {
      const auto at = static_cast<uint16_t>(i);
      const AxisSet axes = k_.views[k_.stores[i].view].axes;
      if (s_.mode == LaneMode::row) s_.sweeps.back().stores.push_back(at);
      else if (axes & lanes_) s_.sweeps[level_[k_.stores[i].value]].stores.push_back(at);
      else s_.row_stores.push_back(at);
    }
    if (last > 0 && s_.sweeps.back().stores.empty()) s_.sweeps.pop_back();
  }

  void sweep(uint8_t l) {
    Sweep& sw = s_.sweeps[l];
    in_sweep_.assign(k_.nodes.size(), false);
    read_.assign(k_.nodes.size(), false);
    for (const NodeId f : sw.folds)
      for (const NodeId a : k_.nodes[f].arg)
        if (a != no_node) need(a, l);
    for (const NodeId n : scans_)
      if (held_from_[n] == l) need(k_.nodes[n].arg[0], l);
    for (const uint16_t st : sw.stores) need(k_.stores[st].value, l);

    for (NodeId i = 0; i < k_.nodes.size(); ++i) {
      if (!in_sweep_[i]) continue;
      const Node& n = k_.nodes[i];
      if (!varies(i)) {
        sw.uniform.push_back(i);
      } else if (s_.mode == LaneMode::row && !(n.axes & k_.col_set())) {
        sw.per_lane_invariant.push_back(i);
      } else {
        sw.varying.push_back(i);
        sw.weight += weight(n.op);
      }
      if (!varies(i)) continue;
      if (computed_in_[i] == none) computed_in_[i] = l;
      if (n.op == Prim::load) sw.views.push_back(static_cast<uint16_t>(n.imm));
    }
    std::ranges::sort(sw.views);
    if (s_.mode == LaneMode::cols && std::ranges::any_of(sw.folds, [&](NodeId f) { return is_ordered(k_.nodes[f]); }))
      sw.granule = fold_granule;
  }

  // Marks what the sweep has to compute for `root`. What an earlier sweep computed is read from a buffer if it is
  // dear and computed again if it is cheap.
  void need(NodeId root, uint8_t l) {
    stack_.push_back(root);
    while (!stack_.empty()) {
      const NodeId n = stack_.back();
      stack_.pop_back();
      if (in_sweep_[n] || is_fold(k_.nodes[n].op)) continue;
      if (s_.mode == LaneMode::cols && varies(n)) {
        if (held(n, l)) {
          read(n, l);
          continue;
        }
        if (computed_in_[n] < l && dear(n, l)) {
          s_.holds.push_back({n, computed_in_[n], n});
          held_from_[n] = computed_in_[n];
          read(n, l);
          continue;
        }
      }
      in_sweep_[n] = true;
      for (const NodeId a : k_.nodes[n].arg)
        if (a != no_node) stack_.push_back(a);
    }
  }

  bool held(NodeId n, uint8_t l) const { return held_from_[n] < l; }

  void read(NodeId n, uint8_t l) {
    if (read_[n]) return;
    read_[n] = true;
    reads_[l].push_back(n);
  }

  // Whether computing n again from loads and held values costs more than a hold. Stops as soon as that is known.
  bool dear(NodeId n, uint8_t l) {
    uint32_t sum = 0;
    std::vector<NodeId> stack{n}, seen{n};
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      if (!varies(at) || is_fold(k_.nodes[at].op) || held(at, l)) continue;
      sum += weight(k_.nodes[at].op);
      if (sum > hold_above) return true;
      for (const NodeId a : k_.nodes[at].arg)
        if (a != no_node && std::ranges::find(seen, a) == seen.end()) {
          seen.push_back(a);
          stack.push_back(a);
        }
    }
    return false;
  }

  void row_part() {
    in_sweep_.assign(k_.nodes.size(), false);
    for (const uint16_t st : s_.row_stores) need(k_.stores[st].value, none);
    for (NodeId i = 0; i < k_.nodes.size(); ++i)
      if (in_sweep_[i]) s_.row_nodes.push_back(i);
  }

  // Holds are numbered by the sweep that fills them, then by node.
  void number_holds() {
    std::ranges::sort(s_.holds, {}, [](const Hold& h) { return std::pair(h.level, h.node); });
    for (size_t i = 0; i < s_.holds.size(); ++i) {
      s_.hold_slot[s_.holds[i].node] = static_cast<int32_t>(i);
      s_.sweeps[s_.holds[i].level].fills.push_back(static_cast<uint16_t>(i));
    }
    for (size_t l = 0; l < s_.sweeps.size(); ++l) {
      for (const NodeId n : reads_[l]) s_.sweeps[l].reads.push_back(static_cast<uint16_t>(s_.hold_slot[n]));
      std::ranges::sort(s_.sweeps[l].reads);
    }
  }

  // Which sweeps go together strip by strip: decided from the last to the first.
  void link_sweeps() {
    const size_t count = s_.sweeps.size();
    std::vector<size_t> last_read(s_.holds.size(), 0), end(count);  // per sweep: the last one that it is walked with
    for (size_t l = 0; l < count; ++l) {
      end[l] = l;
      for (const uint16_t h : s_.sweeps[l].reads) last_read[h] = l;
    }
    bool next_down = false;
    for (size_t l = count; l-- > 0;) {
      Sweep& sw = s_.sweeps[l];
      bool up = false, down = false, kept = false;
      for (const uint16_t h : sw.fills) {
        if (s_.holds[h].scanned()) (k_.nodes[s_.holds[h].node].imm & scan_reverse ? down : up) = true;
        kept |= last_read[h] > l + 1;
      }
      if (l + 1 < count && sw.folds.empty() && up != down) {
        const Sweep& next = s_.sweeps[l + 1];
        // A walk down meets the blocks of a fold in the wrong order, and its last strip writes beyond its end.
        const bool fits = up || (!kept && next.folds.empty() && (next.fills.empty() || next.linked));
        sw.linked = fits && (!next.linked || next_down == down);
      }
      if (sw.linked) end[l] = end[l + 1];
      next_down = down;
    }
    for (Hold& h : s_.holds) h.window = last_read[static_cast<size_t>(s_.hold_slot[h.node])] <= end[h.level];
  }

  const Kernel& k_;
  std::vector<NodeId> scans_;
  const std::vector<uint8_t> level_;
  std::vector<uint8_t> computed_in_;  // the first sweep with the node among its varying ones, or `none`
  std::vector<uint8_t> held_from_;    // the sweep that fills its hold, or `none`
  std::vector<bool> in_sweep_;        // of the sweep being made: computed in it
  std::vector<bool> read_;            // of the sweep being made: read from a hold
  std::vector<NodeId> stack_;
  std::vector<NodeId> reads_[max_levels + 1];
  AxisSet lanes_ = 0;
  Schedule s_;
};

void list(std::string& out, const char* what, const std::vector<NodeId>& nodes) {
  if (nodes.empty()) return;
  append(out, "  ");
  append(out, what);
  for (const NodeId n : nodes) out += cat(" %", n);
  out += '\n';
}

void list(std::string& out, const char* what, const char* prefix, const std::vector<uint16_t>& items) {
  if (items.empty()) return;
  append(out, "  ");
  append(out, what);
  for (const uint16_t i : items) out += cat(" ", prefix, unsigned{i});
  out += '\n';
}

std::string hold_text(size_t index, const Hold& hold) {
  std::string out = cat("hold h", index, " = %", hold.node);
  if (hold.scanned()) out += cat(" scanned from %", hold.source);
  return out + cat(" from sweep ", unsigned{hold.level}, hold.window ? ", a strip at a time\n" : "\n");
}

std::vector<uint16_t> store_views(const Kernel& kernel, const std::vector<uint16_t>& stores) {
  std::vector<uint16_t> views;
  for (const uint16_t s : stores) views.push_back(kernel.stores[s].view);
  return views;
}

}  // namespace

bool is_ordered(const Node& fold) {
  return ir::is_float(fold.type) && (fold.op == Prim::fold_sum || fold.op == Prim::fold_prod);
}

Schedule schedule(const Kernel& kernel) { return Scheduler(kernel).run(); }

std::string to_text(const Kernel& kernel, const Schedule& schedule) {
  std::string out = cat("schedule lanes ", schedule.mode == LaneMode::row ? "row" : "cols", "\n");
  for (size_t i = 0; i < schedule.holds.size(); ++i) out += hold_text(i, schedule.holds[i]);
  for (size_t l = 0; l < schedule.sweeps.size(); ++l) {
    const Sweep& s = schedule.sweeps[l];
    out += cat("sweep ", l, " granule ", s.granule, " weight ", s.weight, s.linked ? " linked\n" : "\n");
    list(out, "reads", "h", s.reads);
    list(out, "views", "v", s.views);
    list(out, "uniform", s.uniform);
    list(out, "lane", s.per_lane_invariant);
    list(out, "varying", s.varying);
    list(out, "folds", s.folds);
    list(out, "fills", "h", s.fills);
    list(out, "stores", "v", store_views(kernel, s.stores));
  }
  if (!schedule.row_stores.empty()) {
    out += "row\n";
    list(out, "nodes", schedule.row_nodes);
    list(out, "stores", "v", store_views(kernel, schedule.row_stores));
  }
  return out;
}

}  // namespace ingot::loop
