// Folds and scans along rows: a warp or a block of threads a row, or many blocks for few long rows.
#include <algorithm>

#include "jit/cuda/text.h"
#include "loop/schedule.h"

namespace ingot::jit::cuda {

using ir::DType;
using loop::Node;
using loop::Prim;

namespace {

class Rows : public KernelText {
 public:
  explicit Rows(const loop::Kernel& kernel) : KernelText(kernel) { find_kept(); }

  // Rows of any length: each fold is one pass over the row, the last pass stores.
  void by_block() {
    line("// One block of 8 warps computes one row.");
    begin("ingot_kernel");
    room(true);
    keep(false);
    line("const i64 n = ", cols(), ";");
    if (traits_.scan_count > 0) scan_buffers();
    open("for (i64 r = blockIdx.x; r < ", rows(), "; r += gridDim.x)");
    axes_from("r", 0, k_.rows);
    passes("row");
    store_rows("threadIdx.x == 0", "__syncthreads();");
    close();
    close();
  }

  // Rows of at most 1,024.
  void by_warp() {
    line();
    line("// One warp computes one row of at most 1024.");
    begin("ingot_kernel_warp");
    line("const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;");
    keep(true);
    line("const i64 n = ", cols(), ";");
    open("for (i64 r = blockIdx.x * 8ll + warp; r < ", rows(), "; r += gridDim.x * 8ll)");
    axes_from("r", 0, k_.rows);
    passes("warp");
    store_rows("lane == 0", "__syncwarp();");
    close();
    close();
  }

  // Few long rows, whose parts are folded by many blocks and joined by one.
  void by_parts() {
    line();
    line("// First stage for few long rows: one block folds one part of a row into scratch.");
    begin("ingot_kernel_parts");
    room(true);
    parts();
    open("for (i64 q = blockIdx.x; q < ", rows(), " * parts; q += gridDim.x)");
    line("const i64 r = q / parts;");
    axes_from("r", 0, k_.rows);
    uniform(0);
    size_t at = 0;
    for_folds([&](NodeId id) {
      const Joining j = joining(id);
      argument(id);
      join_lambda(id);
      line("fold_part<", template_of(id), ", ", j.type, ">(q % parts, items, n, ", j.absent, ", room_of<", j.type,
           ">(room), a.scratch + (", at++, " * ", rows(), " * parts + q) * 64, j", id, ", f", id, ");");
    });
    close();
    close();
    line();
    line("// Second stage: one block joins the parts of a row.");
    begin("ingot_kernel_join");
    room(false);
    parts();
    open("for (i64 r = blockIdx.x; r < ", rows(), "; r += gridDim.x)");
    axes_from("r", 0, k_.rows);
    uniform(0);
    at = 0;
    for_folds([&](NodeId id) {
      const Joining j = joining(id);
      join_lambda(id);
      result(id, cat("join_parts<", j.type, ">(parts, ", j.absent, ", ", j.empty, ", room_of<", j.type,
                     ">(room), a.scratch + (", at++, " * ", rows(), " + r) * parts * 64, j", id, ")"));
    });
    store_rows("threadIdx.x == 0", "");
    close();
    close();
  }

  // Scans in one direction: a thread a row, each element through all scans before the next.
  void by_thread() {
    const bool down = traits_.scan_directions == 2;
    line();
    line("// One thread computes one row, element by element.");
    begin("ingot_kernel_thread");
    line("const i64 n = ", cols(), ";");
    open("for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < ", rows(), "; r += gridDim.x * 256ll)");
    axes_from("r", 0, k_.rows);
    for (NodeId n = 0; n < k_.nodes.size(); ++n) {
      if (!varies(n)) node(n);
      if (!loop::is_scan(k_.nodes[n].op)) continue;
      const Joining j = joining(n);
      line("auto s", n, " = make_scan<", j.type, ">(", j.absent, ", ", j.empty, ", [](", j.type, " x, ", j.type,
           " y) INLINE -> ", j.type, " { return ", j.op, "; });");
    }
    open("for (i64 step = 0; step < n; ++step)");
    line("const i64 k = ", down ? "n - 1 - step" : "step", ";");
    axes_from("k", k_.rows, k_.axis_count());
    for (NodeId n = 0; n < k_.nodes.size(); ++n) {
      if (!varies(n)) continue;
      const Node& v = k_.nodes[n];
      if (loop::is_scan(v.op))
        line("const ", value_name(v.type), " ", name(n), " = (", value_name(v.type), ")s", n,
             v.imm & loop::scan_exclusive ? ".exclusive(" : ".inclusive(", name(v.arg[0]), ");");
      else node(n);
    }
    for (const loop::Store& s : stores(true)) store(s);
    close();
    for (const loop::Store& s : stores(false)) store(s);
    close();
    close();
  }

 private:
  // --- values kept in shared memory from one pass to later ones

  // A node whose first values of each row are kept: a load that several passes read, or a value that is dear
  // (loop::Schedule). Pass numbers are those of folds and scans in the order of levels, then the stores along the row.
  struct Kept {
    NodeId node;
    size_t filled;     // by this pass
    size_t last = 0;   // read by this one at the latest
    size_t array = 0;  // of those declared
  };
  static constexpr size_t kept_bytes = 32768, kept_bytes_each = 64;  // of a block, of an item

  void find_kept() {
    if (traits_.scan_count > 0) return;
    for (uint8_t l = 1; l <= loop::max_levels; ++l)
      for (NodeId n = 0; n < k_.nodes.size(); ++n)
        if (level_[n] == l && loop::is_fold(k_.nodes[n].op)) pass_roots_.push_back({k_.nodes[n].arg[0]});
    pass_roots_.emplace_back();
    for (const loop::Store& s : stores(true)) pass_roots_.back().push_back(s.value);
    std::vector<bool> dear(k_.nodes.size(), false);
    for (const loop::Hold& h : loop::schedule(k_).holds) dear[h.node] = true;
    declared_.assign(k_.nodes.size(), false);
    std::vector<size_t> first(k_.nodes.size(), none);
    std::vector<Kept> found;
    for (size_t pass = 0; pass < pass_roots_.size(); ++pass) {
      pass_ = pass;
      kept_ = found;
      for (const NodeId n : needed_here(pass_roots_[pass])) {
        if (!varies(n)) continue;
        const bool load = k_.nodes[n].op == Prim::load && k_.views[k_.nodes[n].imm].kind == loop::ViewKind::load;
        const auto it = std::find_if(found.begin(), found.end(), [&](const Kept& x) { return x.node == n; });
        if (it != found.end()) it->last = pass;
        else if (first[n] == none && dear[n] && pass + 1 < pass_roots_.size()) found.push_back({n, pass});
        else if (first[n] != none && load) found.push_back({n, first[n], pass});
        if (first[n] == none) first[n] = pass;
      }
    }
    std::erase_if(found, [](const Kept& x) { return x.last <= x.filled; });
    // An array is free for a value of the same size from the last pass that reads it.
    std::stable_sort(found.begin(), found.end(), [](const Kept& x, const Kept& y) { return x.filled < y.filled; });
    for (size_t i = 0; i < found.size(); ++i) {
      found[i].array = arrays_.size();
      for (size_t a = 0; a < arrays_.size() && found[i].array == arrays_.size(); ++a) {
        bool fits = arrays_[a] == storage_name(type(found[i].node));
        for (size_t o = 0; o < i; ++o) fits = fits && (found[o].array != a || found[o].last <= found[i].filled);
        if (fits) found[i].array = a;
      }
      if (found[i].array < arrays_.size()) continue;
      arrays_.emplace_back(storage_name(type(found[i].node)));
      array_bytes_ += ir::item_size(type(found[i].node));
    }
    if (array_bytes_ > kept_bytes_each) {
      arrays_.clear();
      found.clear();
    }
    kept_ = std::move(found);
  }

  DType type(NodeId n) const { return k_.nodes[n].type; }
  const Kept* kept(NodeId n) const {
    const auto it = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& x) { return x.node == n; });
    return it == kept_.end() ? nullptr : &*it;
  }
  // What a pass computes, its kept values being leaves.
  std::vector<NodeId> needed_here(const std::vector<NodeId>& roots) {
    std::vector<NodeId> read;
    for (const Kept& x : kept_)
      if (x.filled < pass_ && !declared_[x.node]) read.push_back(x.node);
    for (const NodeId n : read) declared_[n] = true;
    std::vector<NodeId> order = needed(roots);
    for (const NodeId n : read) declared_[n] = false;
    // Those read: what the others take, or roots.
    std::vector<NodeId> used = roots;
    for (const NodeId n : order)
      for (const NodeId a : k_.nodes[n].arg)
        if (a != loop::no_node) used.push_back(a);
    for (const NodeId n : read)
      if (std::find(used.begin(), used.end(), n) != used.end()) order.push_back(n);
    std::sort(order.begin(), order.end());
    return order;
  }

  size_t block_items() const { return kept_bytes / std::max<size_t>(array_bytes_, 1) / 256 * 256; }
  size_t warp_items() const { return std::min<size_t>(block_items() / block_warps, warp_row); }

  void keep(bool warps) {
    items_ = warps ? warp_items() : block_items();
    whole_ = warps && items_ == warp_row;
    if (!arrays_.empty() && whole_) line("// The items of a row are read or computed once, and kept here.");
    else if (!arrays_.empty())
      line("// The first ", items_, " items of a row are read or computed once, and kept here.");
    for (size_t a = 0; a < arrays_.size(); ++a) {
      if (!warps) line("__shared__ ", arrays_[a], " kept", a, "[", items_, "];");
      else line("__shared__ ", arrays_[a], " kept", a, "_of[8][", items_, "];");
      if (warps) line(arrays_[a], "* const kept", a, " = kept", a, "_of[warp];");
    }
  }

  // Computes a pass's values at k; reads those that are kept, and keeps those that later passes read.
  void compute_here(const std::vector<NodeId>& roots) {
    for (const NodeId n : needed_here(roots)) {
      const Kept* own = kept(n);
      if (own && own->filled < pass_) {
        read_kept(*own);
        continue;
      }
      node(n);
      if (own) line(whole_ ? "" : cat("if (k < ", items_, ") "), "kept", own->array, "[k] = ", name(n), ";");
    }
  }
  void read_kept(const Kept& own) {
    const char* t = value_name(type(own.node));
    if (whole_) return line("const ", t, " ", name(own.node), " = kept", own.array, "[k];");
    line(t, " h", own.node, ";");
    line("if (k < ", items_, ") h", own.node, " = kept", own.array, "[k];");
    open("else");
    compute(needed({own.node}));
    line("h", own.node, " = ", name(own.node), ";");
    close();
    line("const ", t, " ", name(own.node), " = h", own.node, ";");
  }

  // --- passes

  void passes(const std::string& by) {
    const uint8_t last = *std::max_element(level_.begin(), level_.end());
    pass_ = 0;
    for (uint8_t l = 0; l <= last; ++l) {
      if (l > 0) line("// Level ", unsigned{l}, ".");
      for (NodeId n = 0; n < k_.nodes.size(); ++n) {
        if (level_[n] != l) continue;
        if (loop::is_fold(k_.nodes[n].op)) fold(n, by);
        if (loop::is_scan(k_.nodes[n].op)) scan(n);
      }
      uniform(l);
    }
    const std::vector<loop::Store> along = stores(true);
    if (along.empty()) return;
    line("// Stores along the row.");
    if (by == "warp") open("for (i64 k = lane; k < n; k += 32)");
    else open("each_in_row(n, [&](i64 k) INLINE");
    axes_from("k", k_.rows, k_.axis_count());
    std::vector<NodeId> roots;
    for (const loop::Store& s : along) roots.push_back(s.value);
    compute_here(roots);
    for (const loop::Store& s : along) store(s);
    close(by == "warp" ? "" : ");");
  }

  void fold(NodeId id, const std::string& by) {
    const Joining j = joining(id);
    const NodeId of = k_.nodes[id].arg[0];
    open("const auto f", id, " = [&](i64 k) INLINE");
    if (varies(of)) axes_from("k", k_.rows, k_.axis_count());
    compute_here({of});
    line("return (", j.type, ")", name(of), ";");
    close(";");
    join_lambda(id);
    const std::string where = by == "warp" ? "" : cat("room_of<", j.type, ">(room), ");
    result(id, cat("fold_", by, "<", template_of(id), ", ", j.type, ">(n, ", j.absent, ", ", j.empty, ", ", where, "j",
                   id, ", f", id, ")"));
    ++pass_;
  }
  void result(NodeId id, const std::string& value) {
    line("const ", value_name(type(id)), " ", name(id), " = (", value_name(type(id)), ")", value, ";");
    declared_[id] = true;
  }

  // Whether the order matters, and how many groups of 64 are computed at a time: fewer where one is much.
  std::string template_of(NodeId id) {
    const size_t much = needed({k_.nodes[id].arg[0]}).size();
    return cat(joining(id).ordered ? "true" : "false", ", ", much > 60 ? 1 : much > 20 ? 2 : 4);
  }

  void store_rows(const char* who, const char* wait) {
    const std::vector<loop::Store> once = stores(false);
    if (once.empty()) return;
    if (*wait) line(wait, "  // what is stored may lie where other threads read");
    open("if (", who, ")");
    compute_and_store(once);
    close();
  }

  // --- scans: their values lie in scratch, a row of each for each block in flight

  void scan_buffers() {
    std::string before = "0", pointers;
    for (NodeId n = 0; n < k_.nodes.size(); ++n) {
      if (!loop::is_scan(k_.nodes[n].op)) continue;
      const char* t = storage_name(type(n));
      pointers += cat("  ", t, "* const s", n, " = reinterpret_cast<", t, "*>(a.scratch + blockIdx.x * row_bytes + ",
                      before, ");\n");
      before += cat(" + up8(n * ", ir::item_size(type(n)), ")");
    }
    line("const i64 row_bytes = ", before, ";");
    out_ += pointers;
  }
  void scan(NodeId id) {
    const Joining j = joining(id);
    const uint64_t imm = k_.nodes[id].imm;
    argument(id);
    join_lambda(id);
    line("scan_row<", j.type, ">(n, ", imm & loop::scan_exclusive ? "true, " : "false, ",
         imm & loop::scan_reverse ? "true, " : "false, ", j.absent, ", ", j.empty, ", room_of<", j.type, ">(room), j",
         id, ", f", id, ", s", id, ");");
    ++pass_;
  }

  // --- shared memory and parts

  // What folds and scans work in: fold_blocks, join_parts and scan_row say how much.
  void room(bool whole) {
    size_t item = 4;
    for (const Node& n : k_.nodes)
      if (loop::ends_sweep(n.op) && ir::item_size(n.type) == 8) item = 8;
    size_t items = traits_.folds ? (whole ? 64 + 8 * 8 * 28 : 256 * 21) : 0;
    if (traits_.scan_count > 0) items = std::max<size_t>(items, 256 * 17 + 257);
    line("__shared__ u64 room[", items * item / 8 + 1, "];");
  }
  void parts() {
    line("const i64 n = ", cols(), ", blocks = (n + 1023) / 1024, items = 1024ll * (blocks < 32768 ? 8 : 64);");
    line("const i64 parts = (n + items - 1) / items;");
  }
  template <class F>
  void for_folds(F f) {
    for (NodeId n = 0; n < k_.nodes.size(); ++n)
      if (loop::is_fold(k_.nodes[n].op)) f(n);
  }

  static constexpr size_t none = ~size_t{0};
  std::vector<std::vector<NodeId>> pass_roots_;
  std::vector<Kept> kept_;
  std::vector<std::string> arrays_;  // item types
  size_t array_bytes_ = 0, items_ = 0, pass_ = 0;
  bool whole_ = false;  // rows are no longer than what is kept
};

}  // namespace

std::string rows_text(const loop::Kernel& kernel) {
  Rows text(kernel);
  const Traits t = traits(kernel);
  text.by_block();
  if (t.scan_count == 0) text.by_warp();
  if (in_parts(t)) text.by_parts();
  if (in_walks(t)) text.by_thread();
  return text.take();
}

}  // namespace ingot::jit::cuda
