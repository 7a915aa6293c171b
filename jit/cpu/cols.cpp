// Sweeps whose lanes run over the cols, or over the rows of a pointwise kernel.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "base/error.h"
#include "jit/cpu/function.h"
#include "jit/cpu/llvm_compat.h"
#include "jit/frame.h"
#include "loop/rules.h"

namespace ingot::jit {

using llvm::Value;
using loop::NodeId;

namespace {
constexpr unsigned acc_items = 8;
// Up to this many nodes the four steps of a group are written out, which saves the detour of their sums through memory.
constexpr size_t unroll_below = 6;

// Lanes of one round, 8 or 16: about two registers a value, which interleaves the chains without spilling them. Where a
// register holds 16, one; sweeps in whole groups of 64 (`groups`) take two there, 32.
unsigned round_lanes(const loop::Kernel& kernel, const loop::Sweep& sweep, const Target& target, bool groups) {
  size_t wide = 0;
  for (const NodeId n : sweep.varying) wide += ir::item_size(kernel.nodes[n].type) == 8;
  const bool eights = 2 * wide > sweep.varying.size();
  if (groups && target.register_bytes == 64) return eights ? 16 : 32;
  return target.registers * target.register_bytes < 512 || eights ? 8 : 16;
}
}  // namespace

void FunctionEmitter::sweep_cols(const loop::Sweep& sweep) {
  begin(sweep.uniform);
  bool tree = false;
  for (const NodeId f : sweep.folds) tree |= loop::is_ordered(k_.nodes[f]);
  if (!sweep.folds.empty() || !sweep.fills.empty() || !sweep.stores.empty()) {
    const Regions regions = find_regions(k_, sweep.varying, roots(sweep));
    lanes_ = round_lanes(k_, sweep, target_, tree);
    ahead_ = fetches_ahead(sweep);
    if (sweep.folds.empty()) plain(sweep, regions);
    else tree ? grouped(sweep, regions) : linear(sweep, regions);
  }
  finish();
}

// The first sweep of a row waits for memory, while the later ones compute and leave it idle: the dearest of those that
// read a view from memory again fetches the next rows of it meanwhile.
bool FunctionEmitter::fetches_ahead(const loop::Sweep& sweep) const {
  const auto& sweeps = s_.sweeps;
  const auto reads = [&](const loop::Sweep& s) {
    return &s != &sweeps.front() && std::ranges::any_of(s.views, [&](uint16_t v) {
      return std::ranges::find(sweeps.front().views, v) != sweeps.front().views.end();
    });
  };
  return reads(sweep) && std::ranges::all_of(sweeps, [&](const loop::Sweep& s) {
           return !reads(s) || s.weight < sweep.weight || (s.weight == sweep.weight && &s >= &sweep);
         });
}

void FunctionEmitter::fetch_ahead(size_t view, const Lanes& at) {
  if (!(k_.views[view].axes & k_.row_set()) || !(k_.views[view].axes & k_.col_set())) return;
  Value*& ahead = aheads_[view];
  if (!ahead) {
    Value* flags = field(offsetof(Frame, flags), b.getInt32Ty());
    Value* rows = field(offsetof(Frame, more_rows), b.getInt64Ty());
    Value* steps = field(offsetof(Frame, row_step), b.getPtrTy());
    Value* pointers = field(offsetof(Frame, ptr), b.getPtrTy());
    llvm::IRBuilder<> pre(entry_);
    Value* follow = pre.CreateICmpNE(pre.CreateAnd(flags, pre.getInt32(frame_ahead)), pre.getInt32(0));
    // Where none follow there may be no table: something that can be read, and is not used.
    Value* step = pre.CreateLoad(
        pre.getInt64Ty(), pre.CreateConstGEP1_64(pre.getInt64Ty(), pre.CreateSelect(follow, steps, pointers), view));
    Value* all = pre.CreateMul(pre.CreateAdd(rows, pre.getInt64(1)), step);
    ahead = pre.CreateSelect(follow, all, pre.getInt64(0));
  }
  const size_t bytes = ir::item_size(k_.views[view].storage);
  Value* first = item(b.CreateGEP(b.getInt8Ty(), view_pointer(view), ahead), at.index, bytes);
  const auto fetch = [&](Value* address) {
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                      {address, b.getInt32(0), b.getInt32(3), b.getInt32(1)});
  };
  fetch(first);
  if (at.split) fetch(item(first, b.getInt64(32), bytes));
}

void FunctionEmitter::emit_body(const loop::Sweep& sweep, const Regions& regions, const Lanes& at) {
  for (const uint16_t h : sweep.reads) {
    const NodeId n = s_.holds[h].node;
    lane_[n] = load_items(k_.nodes[n].type, hold_pointer(h), at);
  }
  emit_lanes(regions, 0, at);
  for (const uint16_t h : sweep.fills) {
    const NodeId n = s_.holds[h].source;
    store_items(k_.nodes[n].type, hold_pointer(h), at, lane_of(n, at.count), false);
  }
}

void FunctionEmitter::emit_stores(const loop::Sweep& sweep, const Lanes& at) {
  if (sweep.stores.empty()) return;
  const auto all = [&](bool stream) {
    for (const uint16_t i : sweep.stores) {
      const loop::Store& st = k_.stores[i];
      store_items(k_.views[st.view].storage, view_pointer(st.view), at, lane_of(st.value, at.count), stream);
    }
  };
  if (!stream_) {
    Value* flags = field(offsetof(Frame, flags), b.getInt32Ty());
    llvm::IRBuilder<> pre(entry_);
    stream_ = pre.CreateICmpNE(pre.CreateAnd(flags, pre.getInt32(frame_stream)), pre.getInt32(0));
  }
  llvm::LLVMContext& context = module_.getContext();
  auto* streamed = llvm::BasicBlock::Create(context, "stream", function_, exit_);
  auto* plain = llvm::BasicBlock::Create(context, "plain", function_, exit_);
  auto* stored = llvm::BasicBlock::Create(context, "stored", function_, exit_);
  b.CreateCondBr(stream_, streamed, plain);
  b.SetInsertPoint(streamed);
  all(true);
  b.CreateBr(stored);
  b.SetInsertPoint(plain);
  all(false);
  b.CreateBr(stored);
  b.SetInsertPoint(stored);
}

Value* FunctionEmitter::identity(NodeId fold, unsigned lanes) {
  const loop::Node& n = k_.nodes[fold];
  llvm::Type* type = ops.type(n.type, lanes);
  const unsigned bits = type->getScalarSizeInBits();
  const bool f = ir::is_float(n.type), s = ir::is_signed(n.type);
  switch (n.op) {
    case Prim::fold_sum:
    case Prim::fold_dot: return f ? llvm::ConstantFP::getNegativeZero(type) : llvm::Constant::getNullValue(type);
    case Prim::fold_prod: return f ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
    case Prim::fold_min:
      if (f) return llvm::ConstantFP::getInfinity(type);
      return llvm::ConstantInt::get(type, s ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
    default:
      if (f) return llvm::ConstantFP::getInfinity(type, /*Negative=*/true);
      return llvm::ConstantInt::get(type, s ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
  }
}

Value* FunctionEmitter::merge(NodeId fold, Value* x, Value* y) {
  const loop::Node& n = k_.nodes[fold];
  return ops.prim(loop::join_of(n.op, n.type), n.type, n.type, x, y, nullptr);
}

Value* FunctionEmitter::acc_pointer(NodeId fold) {
  if (!acc_)
    acc_ = by_row(field(offsetof(Frame, acc), b.getPtrTy()),
                  [this](llvm::IRBuilder<>& at) -> Value* { return at.getInt64(s_.folds.size() * acc_bytes); });
  return b.CreateConstGEP1_64(b.getInt8Ty(), acc_, static_cast<uint64_t>(s_.fold_slot[fold]) * acc_bytes);
}

std::vector<FunctionEmitter::Acc> FunctionEmitter::begin_accs(const loop::Sweep& sweep) {
  std::vector<Acc> accs;
  for (const NodeId f : sweep.folds) {
    const loop::Node& n = k_.nodes[f];
    if (n.op == Prim::fold_dot) bug("fold.dot in lane mode cols");
    const bool tree = loop::is_ordered(n);
    Value* start;
    if (tree) {
      start = load_items(n.type, acc_pointer(f), {nullptr, acc_items});
    } else {
      start = identity(f, lanes_);
      if (n.type == DType::boolean && !target_.masks) start = ops.to_mask(start, 8);
    }
    accs.push_back({f, tree, start});
  }
  return accs;
}

void FunctionEmitter::finish_accs(const std::vector<Acc>& accs) {
  for (const Acc& acc : accs) {
    const DType t = k_.nodes[acc.fold].type;
    Value* items = acc.value;
    if (!acc.tree) {
      for (unsigned n = lanes_ / 2; n >= acc_items; n /= 2)
        items = merge(acc.fold, ops.part(items, 0, n), ops.part(items, n, n));
      items = merge(acc.fold, load_items(t, acc_pointer(acc.fold), {nullptr, acc_items}), items);
    }
    store_items(t, acc_pointer(acc.fold), {nullptr, acc_items}, items, false);
  }
}

Value* FunctionEmitter::counting(const Lanes& at) {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned i = 0; i < at.count; ++i)
    numbers.push_back(b.getInt32(at.split && i >= at.count / 2 ? i - at.count / 2 + 32 : i));
  Value* left = b.CreateTrunc(b.CreateSub(field(offsetof(Frame, valid), b.getInt64Ty()), at.index), b.getInt32Ty());
  return b.CreateICmpSLT(llvm::ConstantVector::get(numbers), b.CreateVectorSplat(at.count, left));
}

// The operand with the identity in lanes that do not count. Only the last step or group of a row has such lanes, so
// they are looked at in a branch.
Value* FunctionEmitter::masked(const Acc& acc, Value* operand, const Lanes& at, Value* partial) {
  const bool boolean = operand->getType()->getScalarSizeInBits() == 1 || k_.nodes[acc.fold].type == DType::boolean;
  if (boolean && !target_.masks) operand = ops.to_mask(operand, 8);
  else if (boolean) operand = ops.to_i1(operand);
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* from = b.GetInsertBlock();
  auto* mask = llvm::BasicBlock::Create(context, "mask", function_, exit_);
  auto* whole = llvm::BasicBlock::Create(context, "whole", function_, exit_);
  b.CreateCondBr(partial, mask, whole);
  b.SetInsertPoint(mask);
  Value* counts = counting(at);
  Value* none = identity(acc.fold, at.count);
  Value* kept = ops.select(counts, operand, boolean && !target_.masks ? ops.to_mask(none, 8) : none);
  if (kept->getType() != operand->getType()) kept = ops.to_mask(kept, operand->getType()->getScalarSizeInBits());
  llvm::BasicBlock* masked_end = b.GetInsertBlock();
  b.CreateBr(whole);
  b.SetInsertPoint(whole);
  llvm::PHINode* phi = b.CreatePHI(operand->getType(), 2);
  phi->addIncoming(operand, from);
  phi->addIncoming(kept, masked_end);
  return phi;
}

namespace {
// Work for which the loop around it is worth being there twice.
constexpr uint32_t long_weight = 16;

// How many of the nodes' values are needed at once, at most, when they are computed in this order.
size_t values_alive(const loop::Kernel& kernel, const std::vector<NodeId>& nodes, const std::vector<NodeId>& roots) {
  std::vector<size_t> last(kernel.nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const NodeId a : kernel.nodes[nodes[i]].arg)
      if (a != loop::no_node) last[a] = i;
  for (const NodeId n : roots) last[n] = nodes.size();
  std::vector<size_t> ends(nodes.size() + 1, 0);
  size_t alive = 0, most = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    alive += 1;
    ends[last[nodes[i]]] += 1;
    most = std::max(most, alive);
    alive -= ends[i];
  }
  return most;
}
}  // namespace

// How many lanes a round may have without folds, or of order-free ones, widest first; the last is `lanes_`. A chain of
// operations waits for each of them, so that it runs in wider rounds while they fit, if the values fit the registers: a
// chain of 64 operations took a fifth less, with registers of 16 lanes half. Not where there is a slow arm, whose code
// would be there twice.
std::vector<unsigned> FunctionEmitter::widths(const loop::Sweep& sweep, const Regions& regions) const {
  const bool one_register = lanes_ * sizeof(float) <= target_.register_bytes;
  if (regions.nodes.size() > 1 || (sweep.weight < long_weight && !one_register)) return {lanes_};
  const size_t alive = values_alive(k_, regions.nodes[0], roots(sweep)) + sweep.folds.size();
  for (unsigned times = one_register && sweep.weight >= long_weight ? 8 : 2; times > 1; times /= 2) {
    const size_t each = times * lanes_ * sizeof(float) / target_.register_bytes;
    if (alive * each + 2 <= target_.registers) return {times * lanes_, lanes_};
  }
  return {lanes_};
}

void FunctionEmitter::plain(const loop::Sweep& sweep, const Regions& regions) {
  in_rounds(widths(sweep, regions), [&](Value* index, unsigned width) {
    lanes_ = width;
    const Lanes at{index, width};
    emit_body(sweep, regions, at);
    emit_stores(sweep, at);
  });
}

// Consecutive lanes, with order-free folds: each width of round collects its own items.
void FunctionEmitter::linear(const loop::Sweep& sweep, const Regions& regions) {
  Value* valid = field(offsetof(Frame, valid), b.getInt64Ty());
  std::vector<Acc> accs;
  const Rounds rounds{
      .begin =
          [&](unsigned width) {
            lanes_ = width;
            accs = begin_accs(sweep);
            std::vector<Value*> start;
            for (const Acc& a : accs) start.push_back(a.value);
            return start;
          },
      .round =
          [&](const Loop& loop, Value* next) {
            const Lanes at{loop.index, lanes_};
            emit_body(sweep, regions, at);
            Value* partial = b.CreateICmpSGT(next, valid);
            std::vector<Value*> carried;
            for (size_t i = 0; i < accs.size(); ++i) {
              Value* operand = masked(accs[i], lane_of(k_.nodes[accs[i].fold].arg[0], lanes_), at, partial);
              Value* merged = merge(accs[i].fold, loop.carried[i], operand);
              if (merged->getType() != loop.carried[i]->getType())
                merged = ops.to_mask(merged, loop.carried[i]->getType()->getScalarSizeInBits());
              carried.push_back(accs[i].value = merged);
            }
            emit_stores(sweep, at);
            return carried;
          },
      .end = [&] { finish_accs(accs); },
  };
  in_rounds(widths(sweep, regions), rounds);
}

// Whole groups of 64 in the sum order. With q_s lanes 8s..8s+7, h_s = q_s + q_(s+4) and t = (h_0 + h_2) + (h_1 + h_3)
// is added to the eight items. A step computes q_s and q_(s+4) at once, or one of them, or where registers are so wide
// q_s, q_(s+1) and q_(s+4), q_(s+5).
void FunctionEmitter::grouped(const loop::Sweep& sweep, const Regions& regions) {
  constexpr unsigned parts = 8, group = 64;
  const bool both = lanes_ >= 2 * acc_items;
  const unsigned sum_items = both ? lanes_ / 2 : lanes_;  // of h or q in a step
  const unsigned steps = group / lanes_;
  const bool unrolled = sweep.varying.size() <= unroll_below;
  Value* n = field(offsetof(Frame, n), b.getInt64Ty());
  Value* valid = field(offsetof(Frame, valid), b.getInt64Ty());
  std::vector<Value*> slots(sweep.folds.size());  // on the stack, of what each step gives: h_s, or q_s
  if (!unrolled) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    for (size_t i = 0; i < slots.size(); ++i)
      if (loop::is_ordered(k_.nodes[sweep.folds[i]]))
        slots[i] = entry.CreateAlloca(ops.type(k_.nodes[sweep.folds[i]].type, sum_items), entry.getInt32(steps));
  }
  guard(b.CreateICmpSGT(n, b.getInt64(0)));
  std::vector<Acc> accs = begin_accs(sweep);
  std::vector<Value*> carried;
  for (const Acc& a : accs) carried.push_back(a.value);
  const Loop groups = begin_loop(b.getInt64(0), carried);
  for (size_t i = 0; i < accs.size(); ++i) accs[i].value = groups.carried[i];
  Value* end = b.CreateAdd(groups.index, b.getInt64(group), "", true, true);
  Value* partial = b.CreateICmpSGT(end, valid);
  // How many steps have lanes that count; what the others would add are identities.
  Value* needed = b.getInt64(steps);
  if (!unrolled) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::BasicBlock* before = b.GetInsertBlock();
    auto* last = llvm::BasicBlock::Create(context, "last", function_, exit_);
    auto* any = llvm::BasicBlock::Create(context, "any", function_, exit_);
    b.CreateCondBr(partial, last, any);
    b.SetInsertPoint(last);
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i]) {
        Value* none = identity(sweep.folds[i], sum_items);
        for (unsigned s = 0; s < steps; ++s) b.CreateStore(none, b.CreateConstGEP1_32(none->getType(), slots[i], s));
      }
    Value* left =
        b.CreateUDiv(b.CreateAdd(b.CreateSub(valid, groups.index), b.getInt64(sum_items - 1)), b.getInt64(sum_items));
    Value* some = b.CreateSelect(b.CreateICmpSLT(left, needed), left, needed);
    b.CreateBr(any);
    b.SetInsertPoint(any);
    llvm::PHINode* phi = b.CreatePHI(b.getInt64Ty(), 2);
    phi->addIncoming(needed, before);
    phi->addIncoming(some, last);
    needed = phi;
  }

  // One step: h or q for the folds in the sum order; the others merge at once.
  const auto step = [&](Value* index) {
    const Lanes at{index, lanes_, /*split=*/both};
    emit_body(sweep, regions, at);
    std::vector<Value*> sums(accs.size());
    for (size_t i = 0; i < accs.size(); ++i) {
      Value* x = masked(accs[i], lane_of(k_.nodes[accs[i].fold].arg[0], lanes_), at, partial);
      if (accs[i].tree) {
        sums[i] = both ? merge(accs[i].fold, ops.part(x, 0, sum_items), ops.part(x, sum_items, sum_items)) : x;
      } else {
        Value* merged = merge(accs[i].fold, accs[i].value, x);
        if (merged->getType() != accs[i].value->getType())
          merged = ops.to_mask(merged, accs[i].value->getType()->getScalarSizeInBits());
        accs[i].value = merged;
      }
    }
    emit_stores(sweep, at);
    return sums;
  };

  std::vector<std::vector<Value*>> sums(steps, std::vector<Value*>(accs.size()));
  if (unrolled) {
    for (unsigned s = 0; s < steps; ++s)
      sums[s] = step(s ? b.CreateAdd(groups.index, b.getInt64(sum_items * s)) : groups.index);
  } else {
    std::vector<Value*> inner;
    for (const Acc& a : accs)
      if (!a.tree) inner.push_back(a.value);
    const Loop loop = begin_loop(b.getInt64(0), inner);
    size_t at = 0;
    for (Acc& a : accs)
      if (!a.tree) a.value = loop.carried[at++];
    const std::vector<Value*> mine = step(b.CreateAdd(groups.index, b.CreateMul(loop.index, b.getInt64(sum_items))));
    inner.clear();
    for (size_t i = 0; i < accs.size(); ++i) {
      if (accs[i].tree) b.CreateStore(mine[i], b.CreateGEP(mine[i]->getType(), slots[i], loop.index));
      else inner.push_back(accs[i].value);
    }
    Value* next = b.CreateAdd(loop.index, b.getInt64(1), "", true, true);
    end_loop(loop, next, b.CreateICmpSLT(next, needed), inner);
    for (size_t i = 0; i < accs.size(); ++i) {
      if (!accs[i].tree) continue;
      llvm::Type* type = ops.type(k_.nodes[accs[i].fold].type, sum_items);
      for (unsigned s = 0; s < steps; ++s) sums[s][i] = b.CreateLoad(type, b.CreateConstGEP1_32(type, slots[i], s));
    }
  }
  for (size_t i = 0; i < accs.size(); ++i) {
    const NodeId f = accs[i].fold;
    if (accs[i].tree) {
      const auto h = [&](unsigned s) { return both ? sums[s][i] : merge(f, sums[s][i], sums[s + parts / 2][i]); };
      Value *even, *odd;  // h_0 + h_2, h_1 + h_3
      if (sum_items > acc_items) {
        Value* pairs = merge(f, h(0), h(1));  // a step has two h
        even = ops.part(pairs, 0, acc_items);
        odd = ops.part(pairs, acc_items, acc_items);
      } else {
        even = merge(f, h(0), h(2));
        odd = merge(f, h(1), h(3));
      }
      accs[i].value = merge(f, groups.carried[i], merge(f, even, odd));
    }
    carried[i] = accs[i].value;
  }
  end_loop(groups, end, b.CreateICmpSLT(end, n), carried);
  finish_accs(accs);
}

}  // namespace ingot::jit
