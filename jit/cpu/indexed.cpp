// Data-dependent places: checks of indices, and fetches of what they name.
#include <llvm/IR/MDBuilder.h>

#include "jit/cpu/function.h"
#include "jit/frame.h"

namespace ingot::jit {

using llvm::Value;
using loop::NodeId;

namespace {
bool is_true(const loop::Node& n) { return n.op == Prim::literal && n.imm == 1; }
}  // namespace

Value* FunctionEmitter::emit_check(NodeId node, Value* when, Value* index, Value* extent, const Lanes& at) {
  // Extents are never negative, so one unsigned comparison is both.
  Value* inside = ops.prim(Prim::lt, DType::boolean, DType::u64, index, extent, nullptr);
  const bool always = is_true(k_.nodes[k_.nodes[node].arg[0]]);
  Value* ok = always ? inside : ops.prim(Prim::and_, DType::boolean, DType::boolean, when, inside, nullptr);
  Value* bad = always ? ops.prim(Prim::not_, DType::boolean, DType::boolean, inside, nullptr, nullptr)
                      : ops.prim(Prim::xor_, DType::boolean, DType::boolean, when, ok, nullptr);
  if (at.count == 0) {
    note_fault(node, bad, index, extent);
    return ok;
  }
  llvm::LLVMContext& context = module_.getContext();
  auto* fault = llvm::BasicBlock::Create(context, "fault", function_, exit_);
  auto* checked = llvm::BasicBlock::Create(context, "checked", function_, exit_);
  b.CreateCondBr(ops.any(bad), fault, checked, llvm::MDBuilder(context).createBranchWeights(1, 2000));
  b.SetInsertPoint(fault);
  Value* counts = b.CreateAnd(ops.to_i1(bad), counting(at));
  Value* lanes = b.CreateBitCast(counts, b.getIntNTy(at.count));
  Value* some = b.CreateICmpNE(lanes, llvm::ConstantInt::get(lanes->getType(), 0));
  // The first of them; any lane will do where there is none.
  Value* first = ops.call(llvm::Intrinsic::cttz, lanes, b.getFalse());
  first = b.CreateAnd(b.CreateZExtOrTrunc(first, b.getInt32Ty()), b.getInt32(at.count - 1));
  note_fault(node, some, b.CreateExtractElement(index, first), b.CreateExtractElement(extent, first));
  b.CreateBr(checked);
  b.SetInsertPoint(checked);
  return ok;
}

// Writes the fault where `bad` holds and none is written yet.
void FunctionEmitter::note_fault(NodeId node, Value* bad, Value* index, Value* extent) {
  Value* fault = field(offsetof(Frame, fault), b.getPtrTy());
  const auto place = [&](size_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), fault, offset); };
  const auto known = [&](size_t offset) { return b.CreateAlignedLoad(b.getInt64Ty(), place(offset), llvm::Align(8)); };
  Value* before = known(offsetof(Fault, check));
  Value* write = b.CreateAnd(bad, b.CreateICmpEQ(before, b.getInt64(0)));
  const auto put = [&](size_t offset, Value* value, Value* old) {
    b.CreateAlignedStore(b.CreateSelect(write, value, old), place(offset), llvm::Align(8));
  };
  put(offsetof(Fault, check), b.getInt64(k_.nodes[node].imm + 1), before);
  put(offsetof(Fault, index), index, known(offsetof(Fault, index)));
  put(offsetof(Fault, extent), extent, known(offsetof(Fault, extent)));
}

Value* FunctionEmitter::emit_fetch(NodeId node, Value* ok, Value* offset, const Lanes& at) {
  const loop::Node& n = k_.nodes[node];
  if (!nothing_) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    nothing_ = entry.CreateAlloca(entry.getInt64Ty());
    entry.CreateStore(entry.getInt64(0), nothing_);
  }
  Value* items;
  if (at.count == 0) {
    items = fetch_one(n.imm, ok, offset);
  } else if (at.split) {
    const unsigned half = at.count / 2;
    ok = ops.to_i1(ok);
    const auto part = [&](unsigned first, Value* index) {
      return fetch_run(n.imm, ops.part(ok, first, half), ops.part(offset, first, half), {index, half});
    };
    Value* low = part(0, at.index);
    items = ops.join(low, part(half, b.CreateAdd(at.index, b.getInt64(32))));
  } else {
    items = fetch_run(n.imm, ok, offset, at);
  }
  return n.type == DType::boolean ? b.CreateICmpNE(items, llvm::Constant::getNullValue(items->getType())) : items;
}

// Consecutive lanes. Where they all count and fetch consecutive items, as along the inner dims of a gather, one load.
Value* FunctionEmitter::fetch_run(size_t view, Value* ok, Value* offset, const Lanes& at) {
  const DType storage = k_.views[view].storage;
  const DType memory = storage == DType::boolean ? DType::u8 : storage;
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned i = 0; i < at.count; ++i) numbers.push_back(b.getInt64(i));
  Value* first = b.CreateExtractElement(offset, uint64_t{0});
  Value* row = b.CreateAdd(b.CreateVectorSplat(at.count, first), llvm::ConstantVector::get(numbers));
  Value* apart = ops.prim(Prim::ne, DType::boolean, DType::i64, offset, row, nullptr);
  Value* not_ok = ops.prim(Prim::not_, DType::boolean, DType::boolean, ok, nullptr, nullptr);
  Value* each = ops.any(ops.prim(Prim::or_, DType::boolean, DType::boolean, apart, not_ok, nullptr));
  Value* end = b.CreateAdd(at.index, b.getInt64(at.count));
  each = b.CreateOr(each, b.CreateICmpSGT(end, field(offsetof(Frame, valid), b.getInt64Ty())));

  llvm::LLVMContext& context = module_.getContext();
  auto* apart_block = llvm::BasicBlock::Create(context, "apart", function_, exit_);
  auto* row_block = llvm::BasicBlock::Create(context, "run", function_, exit_);
  auto* join = llvm::BasicBlock::Create(context, "fetched", function_, exit_);
  b.CreateCondBr(each, apart_block, row_block);

  b.SetInsertPoint(row_block);
  Value* whole = load_items(memory, item(view_pointer(view), first, ir::item_size(memory)), {nullptr, at.count});
  b.CreateBr(join);

  b.SetInsertPoint(apart_block);
  Value* counts = b.CreateAnd(ops.to_i1(ok), counting(at));
  Value* items = llvm::Constant::getNullValue(ops.type(memory, at.count));
  for (unsigned i = 0; i < at.count; ++i)
    items = b.CreateInsertElement(
        items, fetch_one(view, b.CreateExtractElement(counts, i), b.CreateExtractElement(offset, i)), i);
  b.CreateBr(join);

  b.SetInsertPoint(join);
  llvm::PHINode* phi = b.CreatePHI(whole->getType(), 2);
  phi->addIncoming(whole, row_block);
  phi->addIncoming(items, apart_block);
  return phi;
}

Value* FunctionEmitter::fetch_one(size_t view, Value* ok, Value* offset) {
  const DType storage = k_.views[view].storage;
  const DType memory = storage == DType::boolean ? DType::u8 : storage;
  Value* from = b.CreateSelect(ok, item(view_pointer(view), offset, ir::item_size(memory)), nothing_);
  return load_items(memory, from, {nullptr, 0});
}

}  // namespace ingot::jit
