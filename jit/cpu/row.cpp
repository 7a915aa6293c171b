// Sweeps whose lanes run over the last row axis: a loop over k runs inside each tile of lanes. For dots it is a chain
// of fma; the other folds take up to eight k a call, which are joined in the sum order (groups.cpp).
#include <algorithm>

#include "base/error.h"
#include "jit/cpu/function.h"
#include "jit/frame.h"

namespace ingot::jit {

using llvm::Value;
using loop::NodeId;

namespace {
constexpr unsigned vector_lanes = 16;
// Bytes of lanes that share one loop over k: enough independent chains to hide the latency of fma, as long as their
// sums and the values along k fit the registers.
constexpr size_t wide_bytes = 256;
constexpr size_t wide_below = 4;  // nodes along k and lanes for which they do
// Lanes that go through a group of k at once where its steps are written out and registers are wide: whole cache lines
// of each row. The rows of a group often share a set of the cache, so that a line is gone when its rest is wanted.
constexpr unsigned group_lanes = 64;
constexpr size_t few_nodes = 6;

unsigned wide_tile(const loop::Kernel& kernel, const loop::Sweep& sweep, size_t along, const Target& target) {
  size_t item = 0;
  for (const NodeId f : sweep.folds) item += ir::item_size(kernel.nodes[f].type);
  const bool fits =
      item > 0 && along <= wide_below && 2 * wide_bytes <= size_t{target.registers} * target.register_bytes;
  return fits ? std::max(1u, static_cast<unsigned>(wide_bytes / (vector_lanes * item))) : 1;
}
}  // namespace

void FunctionEmitter::sweep_row(const loop::Sweep& sweep) {
  begin(sweep.uniform);
  RowLists lists;
  lists.lane_axis = k_.rows > 0 ? loop::AxisSet{1} << (k_.rows - 1) : 0;
  std::vector<NodeId> along;
  for (const NodeId n : sweep.varying) {
    const loop::Node& node = k_.nodes[n];
    if (node.axes & lists.lane_axis) along.push_back(n);
    else lists.by_k.push_back(n);
    if (node.op == Prim::load) lists.views.push_back(static_cast<uint16_t>(node.imm));
  }
  for (const NodeId f : sweep.folds)
    if (s_.dots && k_.nodes[f].op != Prim::fold_dot)
      fail(Code::unimplemented, "a ", loop::prim_info(k_.nodes[f].op)->name, " beside a fold.dot in one kernel");
  lists.along = along.size();
  lists.varying = find_regions(k_, along, roots(sweep));
  std::vector<NodeId> needed = roots(sweep);
  for (const NodeId n : along)
    for (const NodeId a : k_.nodes[n].arg)
      if (a != loop::no_node) needed.push_back(a);
  lists.invariant = find_regions(k_, sweep.per_lane_invariant, needed);

  if (!lists.lane_axis) {
    emit_tile(sweep, lists, nullptr, 1, 0);
    return finish();
  }
  // While a wide tile fits, then single vectors.
  std::vector<unsigned> widths{vector_lanes};
  if (const unsigned wide = s_.dots ? wide_tile(k_, sweep, along.size(), target_) : 1; wide > 1)
    widths.insert(widths.begin(), wide * vector_lanes);
  if (!s_.dots && !sweep.folds.empty() && target_.register_bytes == 64 && along.size() <= few_nodes)
    widths.insert(widths.begin(), group_lanes);
  in_rounds(widths, [&](Value* index, unsigned width) {
    if (s_.dots) emit_tile(sweep, lists, index, width / vector_lanes, vector_lanes);
    else emit_tile(sweep, lists, index, 1, width);
  });
  finish();
}

// The accumulators (by Frame::acc) or results (by Frame::value) of a fold.
Value* FunctionEmitter::lane_items(NodeId fold, size_t offset) {
  Value* base = field(offset, b.getPtrTy());
  Value* stride = field(offsetof(Frame, acc_stride), b.getInt64Ty());
  return b.CreateGEP(b.getInt8Ty(), base, b.CreateMul(stride, b.getInt64(static_cast<uint64_t>(s_.fold_slot[fold]))));
}

// `vectors` times `count` lanes from `index` on, or one lane without an index, where `count` is 0.
void FunctionEmitter::emit_tile(const loop::Sweep& sweep, const RowLists& lists, Value* index, unsigned vectors,
                                unsigned count) {
  std::vector<Lanes> at;
  std::vector<std::vector<Value*>> values;  // what lane_ holds, per vector of the tile
  for (unsigned u = 0; u < vectors; ++u) {
    at.push_back({index ? b.CreateAdd(index, b.getInt64(u * count)) : nullptr, count});
    lane_.assign(k_.nodes.size(), nullptr);
    for (const NodeId f : s_.folds)
      if (std::ranges::find(sweep.folds, f) == sweep.folds.end())  // those of later sweeps nobody reads
        lane_[f] = load_items(k_.nodes[f].type, lane_items(f, offsetof(Frame, value)), at[u]);
    emit_lanes(lists.invariant, 0, at[u]);
    values.push_back(lane_);
  }
  if (sweep.folds.empty()) {
    for (unsigned u = 0; u < vectors; ++u) {
      lane_ = values[u];
      emit_stores(sweep, at[u]);
    }
    return;
  }

  if (!s_.dots) return emit_group(sweep, lists, at[0]);

  // The loop over k: a pointer for each view, the chains p for each fold and vector.
  Value* k = field(offsetof(Frame, k), b.getInt64Ty());
  Value* steps = field(offsetof(Frame, step), b.getPtrTy());
  std::vector<Value*> carried;
  std::vector<Value*> step;
  for (const uint16_t v : lists.views) {
    llvm::IRBuilder<> pre(preheader_);
    step.push_back(pre.CreateLoad(pre.getInt64Ty(), pre.CreateConstGEP1_64(pre.getInt64Ty(), steps, v)));
    carried.push_back(view_pointer(v));
  }
  for (const NodeId f : sweep.folds)
    for (unsigned u = 0; u < vectors; ++u) carried.push_back(identity(f, count));
  const Loop loop = begin_loop(b.getInt64(0), carried);
  const std::vector<Value*> outside = views_;
  for (size_t i = 0; i < lists.views.size(); ++i) views_[lists.views[i]] = loop.carried[i];

  for (const NodeId n : lists.by_k) emit_scalar(n);
  std::vector<Value*> next;
  for (size_t i = 0; i < lists.views.size(); ++i) next.push_back(b.CreateGEP(b.getInt8Ty(), loop.carried[i], step[i]));
  next.resize(carried.size());
  for (unsigned u = 0; u < vectors; ++u) {
    lane_ = values[u];
    emit_lanes(lists.varying, 0, at[u]);
    size_t slot = lists.views.size() + u;
    for (const NodeId f : sweep.folds) {
      const loop::Node& n = k_.nodes[f];
      Value* x = lane_of(n.arg[0], count);
      Value* y = lane_of(n.arg[1], count);
      Value* p = loop.carried[slot];
      next[slot] = ir::is_float(n.type) ? ops.fma(x, y, p) : b.CreateAdd(b.CreateMul(x, y), p);
      slot += vectors;
    }
  }
  Value* after = b.CreateAdd(loop.index, b.getInt64(1), "", true, true);
  end_loop(loop, after, b.CreateICmpSLT(after, k), next);
  views_ = outside;
  size_t slot = lists.views.size();
  for (const NodeId f : sweep.folds) {
    const DType t = k_.nodes[f].type;
    for (unsigned u = 0; u < vectors; ++u, ++slot) {
      Value* items = lane_items(f, offsetof(Frame, acc));
      Value* sum = ops.prim(Prim::add, t, t, load_items(t, items, at[u]), next[slot], nullptr);
      store_items(t, items, at[u], sum, false);
    }
  }
}

}  // namespace ingot::jit
