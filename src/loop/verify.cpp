// Everything that bytes can express is judged here, once; what follows (schedule, interpreter, emitters) indexes and
// switches without looking again. The order of the checks matters: each relies only on those before it.
#include <bit>
#include <tuple>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "loop/rules.h"

namespace ingot::loop {

namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : k_(kernel) {}

  void run() {
    counts();
    for (size_t i = 0; i < k_.views.size(); ++i) view(i);
    tensors();
    level_.resize(k_.nodes.size());
    for (size_t i = 0; i < k_.nodes.size(); ++i) node(i);
    stores();
    unique();
    live();
    folds();
    canonical();
  }

 private:
  template <class... Args>
  [[noreturn]] static void bad(const Args&... why) {
    fail(Code::invalid_argument, "kernel: ", why...);
  }
  template <class... Args>
  [[noreturn]] static void bad_view(size_t i, const Args&... why) {
    bad("view ", i, ": ", why...);
  }
  template <class... Args>
  [[noreturn]] void bad_node(size_t i, const Args&... why) const {
    const PrimInfo* info = prim_info(k_.nodes[i].op);
    bad("node ", i, " (", info ? info->name : "?", "): ", why...);
  }

  void counts() const {
    if (k_.axis_count() > max_axes) bad(k_.axis_count(), " axes, at most ", max_axes);
    if (k_.views.size() > max_views) bad(k_.views.size(), " views, at most ", max_views);
    if (k_.nodes.size() > max_nodes) bad(k_.nodes.size(), " nodes, at most ", max_nodes);
    if (k_.tensors > max_views) bad(unsigned{k_.tensors}, " tensors, at most ", max_views);
    if (k_.sizes > max_sizes) bad(unsigned{k_.sizes}, " size slots, at most ", max_sizes);
    if (k_.sizes < k_.axis_count()) bad("fewer size slots than axes");
    if (k_.stores.empty()) bad("it stores nothing");
    if (k_.stores.size() > k_.views.size()) bad("more stores than views");
  }

  void view(size_t i) const {
    const View& v = k_.views[i];
    if (v.axes & ~(k_.row_set() | k_.col_set())) bad_view(i, "an axis beyond the kernel's");
    if (v.boxes.size() > max_boxes) bad_view(i, v.boxes.size(), " boxes, at most ", max_boxes);
    AxisSet boxed = 0;
    for (size_t b = 0; b < v.boxes.size(); ++b) {
      const Box& box = v.boxes[b];
      if (box.axis >= k_.axis_count()) bad_view(i, "box ", b, " on an axis beyond the kernel's");
      if (box.lo >= k_.sizes || box.hi >= k_.sizes) bad_view(i, "box ", b, " names no size slot");
      const auto key = [](const Box& x) { return std::tuple(x.axis, x.lo, x.hi); };
      if (b > 0 && key(v.boxes[b - 1]) >= key(box)) bad_view(i, "boxes are not ascending by axis, lo, hi");
      boxed |= AxisSet{1} << box.axis;
    }
    if (boxed & ~v.axes) bad_view(i, "a box on an axis that is not the view's");
    const bool memory = v.kind == ViewKind::load || v.kind == ViewKind::store;
    switch (v.kind) {
      case ViewKind::load:
      case ViewKind::store:
        if (!is_value_type(v.storage)) bad_view(i, "no such storage type");
        if (v.tensor >= k_.tensors) bad_view(i, "no such tensor");
        break;
      case ViewKind::iota:
        if (v.storage != DType::i64) bad_view(i, "iota is i64");
        break;
      case ViewKind::inside:
        if (v.storage != DType::boolean) bad_view(i, "inside is boolean");
        if (v.boxes.empty() || boxed != v.axes) bad_view(i, "inside has the axes of its boxes, and at least one");
        break;
      default: bad_view(i, "no such kind");
    }
    if (!memory && v.tensor != 0) bad_view(i, "no memory, but a tensor");
    if (v.kind == ViewKind::store || v.kind == ViewKind::iota)
      if (!v.boxes.empty()) bad_view(i, "boxes are for load and inside");
    if (v.kind != ViewKind::load || v.boxes.empty())
      if (v.fill != 0) bad_view(i, "a fill that is never read");
    if (!fits(v.storage, v.fill)) bad_view(i, "the fill is no value of its storage type");
  }

  // A tensor is loaded or stored, not both: in-place is two tensors at one address, which only the launch knows.
  void tensors() const {
    std::vector<const View*> first(k_.tensors, nullptr);
    for (size_t i = 0; i < k_.views.size(); ++i) {
      const View& v = k_.views[i];
      if (v.kind != ViewKind::load && v.kind != ViewKind::store) continue;
      const View*& f = first[v.tensor];
      if (!f) {
        f = &v;
      } else if (f->kind == ViewKind::store || v.kind == ViewKind::store) {
        bad_view(i, "tensor ", unsigned{v.tensor}, " has a view beside the one that stores it");
      } else if (f->storage != v.storage) {
        bad_view(i, "tensor ", unsigned{v.tensor}, " is viewed with two storage types");
      }
    }
  }

  void node(size_t i) {
    const Node& n = k_.nodes[i];
    const PrimInfo* info = prim_info(n.op);
    if (!info) bad_node(i, "no such primitive");
    AxisSet axes = 0;
    size_t level = 0;
    DType types[3] = {DType::invalid, DType::invalid, DType::invalid};
    for (size_t a = 0; a < 3; ++a) {
      if (a >= info->arity) {
        if (n.arg[a] != no_node) bad_node(i, "takes ", unsigned{info->arity}, " arguments");
        continue;
      }
      if (n.arg[a] >= i) bad_node(i, "argument ", a, " does not precede it");
      const Node& arg = k_.nodes[n.arg[a]];
      types[a] = arg.type;
      axes |= arg.axes;
      level = std::max<size_t>(level, level_[n.arg[a]]);
    }
    if (const char* fault = type_fault(n.op, n.type, types[0], types[1], types[2])) bad_node(i, fault);
    if (info->cls == PrimClass::leaf) {
      axes = leaf(i);
    } else if (is_scan(n.op)) {
      if (n.imm & ~(scan_exclusive | scan_reverse)) bad_node(i, "no such scan");
    } else if (info->cls == PrimClass::index) {
      indexed(i);
    } else if (n.imm != 0) {
      bad_node(i, "a field that it does not have is set");
    }
    if (ends_sweep(n.op)) {
      if (k_.cols == 0) bad_node(i, is_scan(n.op) ? "a scan without cols" : "a fold without cols");
      axes = is_scan(n.op) ? axes | k_.col_set() : axes & k_.row_set();
      ++level;
    }
    if (level > max_levels) bad_node(i, "more than ", max_levels, " levels");
    level_[i] = static_cast<uint8_t>(level);
    if (n.axes != axes) bad_node(i, "its axes are not those of its arguments");
  }

  // Checks what is left of a leaf and returns its axes.
  AxisSet leaf(size_t i) const {
    const Node& n = k_.nodes[i];
    switch (n.op) {
      case Prim::literal:
        if (!fits(n.type, n.imm)) bad_node(i, "its bits are no value of its type");
        return 0;
      case Prim::size:
        if (n.imm >= k_.sizes) bad_node(i, "no such size slot");
        if (n.type != DType::i64) bad_node(i, "a size is i64");
        return 0;
      default: break;  // load
    }
    if (n.imm >= k_.views.size()) bad_node(i, "no such view");
    const View& v = k_.views[n.imm];
    if (v.kind == ViewKind::store) bad_node(i, "it loads through a store view");
    if (n.type != v.storage) bad_node(i, "its type is not that of the view's values");
    return v.axes;
  }

  // Checks the number beside the arguments.
  void indexed(size_t i) const {
    const Node& n = k_.nodes[i];
    if (n.op == Prim::check) {
      if (n.imm >= max_checks) bad_node(i, "its number is ", n.imm, ", below ", max_checks, " expected");
      return;
    }
    if (n.imm >= k_.views.size()) bad_node(i, "no such view");
    const View& v = k_.views[n.imm];
    if (v.kind != ViewKind::load || v.axes != 0) bad_node(i, "it fetches through a view that is no load without axes");
    if (n.type != v.storage) bad_node(i, "its type is not that of the view's values");
  }

  void stores() const {
    std::vector<bool> stored(k_.views.size(), false);
    for (size_t i = 0; i < k_.stores.size(); ++i) {
      const Store& s = k_.stores[i];
      if (s.view >= k_.views.size() || k_.views[s.view].kind != ViewKind::store) bad("store ", i, ": no store view");
      if (stored[s.view]) bad("store ", i, ": view ", unsigned{s.view}, " is stored twice");
      stored[s.view] = true;
      if (s.value >= k_.nodes.size()) bad("store ", i, ": no such node");
      const View& v = k_.views[s.view];
      const Node& n = k_.nodes[s.value];
      if (n.type != v.storage) bad("store ", i, ": the value's type is not that of the view");
      const AxisSet everywhere = k_.row_set() | k_.col_set();
      if (v.axes != everywhere && (v.axes != k_.row_set() || n.axes & k_.col_set()))
        bad("store ", i, ": the view's axes are not all rows and all cols, nor all rows of a value without cols");
    }
    for (size_t i = 0; i < k_.views.size(); ++i)
      if (k_.views[i].kind == ViewKind::store && !stored[i]) bad_view(i, "nothing is stored through it");
  }

  void unique() const {
    const auto hash = [](const Node* n) {
      const uint64_t words[] = {static_cast<uint64_t>(n->op) | static_cast<uint64_t>(n->type) << 8, n->imm,
                                n->arg[0] | uint64_t{n->arg[1]} << 32, n->arg[2]};
      return hash64(words, sizeof words);
    };
    const auto equal = [](const Node* a, const Node* b) { return *a == *b; };
    std::unordered_set<const Node*, decltype(hash), decltype(equal)> known(k_.nodes.size(), hash, equal);
    for (size_t i = 0; i < k_.nodes.size(); ++i)
      if (!known.insert(&k_.nodes[i]).second) bad_node(i, "an equal node precedes it");
  }

  void live() {
    live_ = live_nodes(k_);
    for (size_t i = 0; i < k_.nodes.size(); ++i)
      if (!live_[i]) bad_node(i, "no store depends on it");
  }

  void folds() const {
    bool any = false, dot = false;
    for (const Node& n : k_.nodes) {
      any |= ends_sweep(n.op);
      dot |= n.op == Prim::fold_dot;
    }
    if (k_.cols > 0 && !any) bad("cols without a fold or scan: they are rows");

    // `fast` arms are always computed. A fold inside `slow` alone would have to run under a condition of its result,
    // and a check there would not always be made.
    std::vector<bool> always(k_.nodes.size(), false);
    for (const Store& s : k_.stores) always[s.value] = true;
    for (size_t i = k_.nodes.size(); i-- > 0;) {
      const Node& n = k_.nodes[i];
      if ((ends_sweep(n.op) || n.op == Prim::check) && !always[i]) bad_node(i, "only the slow arm of a rare needs it");
      if (!always[i]) continue;
      for (size_t a = 0; a < (n.op == Prim::rare ? 2 : 3); ++a)
        if (n.arg[a] != no_node) always[n.arg[a]] = true;
    }

    if (k_.row_lanes && !may_have_row_lanes(k_)) bad("row_lanes: it cannot run with lanes along its last row axis");
    if (!dot) return;
    for (size_t i = 0; i < k_.nodes.size(); ++i)
      if (is_scan(k_.nodes[i].op)) bad_node(i, "a scan in a kernel with fold.dot");
    for (size_t i = 0; i < k_.nodes.size(); ++i)
      if (level_[i] > 1) bad_node(i, "a fold of a fold in a kernel with fold.dot");
    for (const Store& s : k_.stores)
      if (k_.views[s.view].axes & k_.col_set()) bad_node(s.value, "stored along the cols of a fold.dot");
  }

  void canonical() const {
    const std::vector<bool> seen = nan_bits_seen(k_, live_);
    for (size_t i = 0; i < k_.nodes.size(); ++i) {
      const Node& n = k_.nodes[i];
      if (seen[i] && makes_nan(k_, n)) bad_node(i, "the bits of its NaN are seen, so it needs a canon");
      if (n.op == Prim::canon && !seen[i]) bad_node(i, "a canon whose bits are not seen");
    }
  }

  const Kernel& k_;
  std::vector<uint8_t> level_;
  std::vector<bool> live_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace ingot::loop
