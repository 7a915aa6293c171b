// Folds in mode row: each call takes up to eight k, those that one item of a group of the sum order adds up
// (NUMERICS.md): with x_0 to x_7 for them t = ((x0 + x4) + (x2 + x6)) + ((x1 + x5) + (x3 + x7)).
#include <llvm/IR/Intrinsics.h>

#include "base/error.h"
#include "jit/cpu/function.h"
#include "jit/frame.h"

namespace ingot::jit {

using llvm::Value;
using loop::NodeId;

namespace {
constexpr unsigned steps = loop::fold_granule / loop::group_items;
// Up to this many nodes along k and lanes the eight steps of a whole group are written out, which keeps their values in
// registers; otherwise, and for the last group of a row, they go through memory.
constexpr size_t unroll_below = 6;
}  // namespace

void FunctionEmitter::emit_group(const loop::Sweep& sweep, const RowLists& lists, const Lanes& at) {
  const std::vector<Value*> before = lane_;
  const std::vector<Value*> outside = views_;
  Value* k = field(offsetof(Frame, k), b.getInt64Ty());
  std::vector<Value*> step, start;
  for (const uint16_t v : lists.views) {
    Value* along = field(offsetof(Frame, step), b.getPtrTy());
    llvm::IRBuilder<> pre(preheader_);
    step.push_back(pre.CreateLoad(pre.getInt64Ty(), pre.CreateConstGEP1_64(pre.getInt64Ty(), along, v)));
    start.push_back(view_pointer(v));
  }
  // The folds' arguments at the k that the views stand at.
  const auto arguments = [&] {
    lane_ = before;
    for (const NodeId n : lists.by_k) emit_scalar(n);
    emit_lanes(lists.varying, 0, at);
    std::vector<Value*> out;
    for (const NodeId f : sweep.folds) out.push_back(lane_of(k_.nodes[f].arg[0], at.count));
    return out;
  };
  const auto add = [&](const auto& x) {  // x(fold, step)
    for (size_t i = 0; i < sweep.folds.size(); ++i) {
      const NodeId f = sweep.folds[i];
      const DType t = k_.nodes[f].type;
      const auto pair = [&](unsigned s) { return merge(f, x(i, s), x(i, s + 4)); };
      Value* sum = merge(f, merge(f, pair(0), pair(2)), merge(f, pair(1), pair(3)));
      Value* items = lane_items(f, offsetof(Frame, acc));
      store_items(t, items, at, merge(f, load_items(t, items, at), sum), false);
    }
  };

  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* done = nullptr;
  if (lists.along + lists.by_k.size() <= unroll_below) {
    auto* whole = llvm::BasicBlock::Create(context, "whole", function_, exit_);
    auto* partial = llvm::BasicBlock::Create(context, "partial", function_, exit_);
    done = llvm::BasicBlock::Create(context, "done", function_, exit_);
    b.CreateCondBr(b.CreateICmpEQ(k, b.getInt64(steps)), whole, partial);
    b.SetInsertPoint(whole);
    std::vector<std::vector<Value*>> x;
    for (unsigned s = 0; s < steps; ++s) {
      for (size_t i = 0; i < start.size(); ++i)
        views_[lists.views[i]] =
            s ? b.CreateGEP(b.getInt8Ty(), start[i], b.CreateMul(step[i], b.getInt64(s))) : start[i];
      if (at.count == loop::fold_granule)
        for (const uint16_t v : lists.views) fetch_further(v, at);
      x.push_back(arguments());
    }
    add([&](size_t fold, unsigned s) { return x[s][fold]; });
    b.CreateBr(done);
    b.SetInsertPoint(partial);
  }

  // One step at a time, its values kept on the stack; those that are absent are the identity.
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  std::vector<Value*> slots;
  const auto slot = [&](size_t fold, Value* s) {
    return b.CreateGEP(slot_type(sweep.folds[fold], at), slots[fold], s);
  };
  for (const NodeId f : sweep.folds) slots.push_back(entry.CreateAlloca(slot_type(f, at), entry.getInt32(steps)));
  for (size_t i = 0; i < slots.size(); ++i)
    for (unsigned s = 1; s < steps; ++s) b.CreateStore(identity(sweep.folds[i], at.count), slot(i, b.getInt64(s)));
  const Loop loop = begin_loop(b.getInt64(0), start);
  for (size_t i = 0; i < start.size(); ++i) views_[lists.views[i]] = loop.carried[i];
  const std::vector<Value*> x = arguments();
  for (size_t i = 0; i < x.size(); ++i) b.CreateStore(x[i], slot(i, loop.index));
  std::vector<Value*> next;
  for (size_t i = 0; i < start.size(); ++i) next.push_back(b.CreateGEP(b.getInt8Ty(), loop.carried[i], step[i]));
  Value* after = b.CreateAdd(loop.index, b.getInt64(1), "", true, true);
  end_loop(loop, after, b.CreateICmpSLT(after, k), next);
  add([&](size_t fold, unsigned s) {
    return b.CreateLoad(slot_type(sweep.folds[fold], at), slot(fold, b.getInt64(s)));
  });
  if (done) {
    b.CreateBr(done);
    b.SetInsertPoint(done);
  }
  views_ = outside;
}

// So many rows at once are more than the hardware follows: each is fetched a little ahead of where it is read (column
// sums of 4096 x 1024 took 0.87 ms without, 0.69 with 384 to 768 bytes).
void FunctionEmitter::fetch_further(size_t view, const Lanes& at) {
  constexpr uint64_t ahead = 640, line = 64;
  const size_t bytes = ir::item_size(k_.views[view].storage);
  Value* from = item(view_pointer(view), at.index, bytes);
  for (uint64_t to = 0; to < at.count * bytes; to += line)
    b.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {b.getPtrTy()},
        {b.CreateConstGEP1_64(b.getInt8Ty(), from, ahead + to), b.getInt32(0), b.getInt32(3), b.getInt32(1)});
}

llvm::Type* FunctionEmitter::slot_type(NodeId fold, const Lanes& at) { return ops.type(k_.nodes[fold].type, at.count); }

}  // namespace ingot::jit
