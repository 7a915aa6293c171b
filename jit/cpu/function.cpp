#include "jit/cpu/function.h"

#include <llvm/IR/MDBuilder.h>

#include "base/error.h"
#include "jit/cpu/llvm_compat.h"
#include "jit/frame.h"
#include "loop/range.h"
#include "loop/rules.h"

namespace ingot::jit {

using llvm::Type;
using llvm::Value;

namespace {
std::vector<int> repeat(unsigned lanes, unsigned period) {
  std::vector<int> index(lanes);
  for (unsigned i = 0; i < lanes; ++i) index[i] = static_cast<int>(i % period);
  return index;
}
}  // namespace

FunctionEmitter::FunctionEmitter(llvm::Module& module, const Target& target, const loop::Kernel& kernel,
                                 const loop::Schedule& schedule, const std::string& name)
    : module_(module),
      target_(target),
      k_(kernel),
      s_(schedule),
      b(module.getContext()),
      ops(b, module, target_),
      views_(kernel.views.size()),
      holds_(schedule.holds.size()),
      scalar_(kernel.nodes.size()),
      lane_(kernel.nodes.size()),
      splats_(kernel.nodes.size()),
      uses_(kernel.nodes.size()),
      aheads_(kernel.views.size()),
      alongs_(kernel.views.size()) {
  for (const loop::Node& n : kernel.nodes)
    for (const NodeId a : n.arg)
      if (a != loop::no_node) ++uses_[a];
  function_ = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
                                     llvm::GlobalValue::ExternalLinkage, name, &module);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("frame-pointer", "all");
  function_->addFnAttr("no-builtins");
  // Without the first LLVM takes 512-bit vectors for granted and the second means nothing.
  function_->addFnAttr("min-legal-vector-width", "0");
  function_->addFnAttr("prefer-vector-width", std::to_string(8 * target_.register_bytes));
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function_));
  exit_ = llvm::BasicBlock::Create(module.getContext(), "exit", function_);
}

void FunctionEmitter::begin(const std::vector<NodeId>& uniform) {
  auto* loops = llvm::BasicBlock::Create(module_.getContext(), "loops", function_, exit_);
  if (s_.mode == loop::LaneMode::cols) {
    row_ = llvm::BasicBlock::Create(module_.getContext(), "row", function_, loops);
    entry_ = b.CreateBr(row_);
    b.SetInsertPoint(row_);
    b.CreatePHI(b.getInt64Ty(), 2, "rows left");
  }
  preheader_ = b.CreateBr(loops);
  if (!entry_) entry_ = preheader_;
  b.SetInsertPoint(preheader_);
  for (const NodeId n : uniform) emit_scalar(n);
  b.SetInsertPoint(loops);
}

void FunctionEmitter::guard(Value* more_than_zero) {
  auto* after = llvm::BasicBlock::Create(module_.getContext(), "some", function_, exit_);
  b.CreateCondBr(more_than_zero, after, exit_);
  b.SetInsertPoint(after);
}

void FunctionEmitter::finish() {
  if (row_) {
    Value* more = field(offsetof(Frame, more_rows), b.getInt64Ty());
    auto* left = llvm::cast<llvm::PHINode>(&row_->front());
    auto* next = llvm::BasicBlock::Create(module_.getContext(), "next row", function_, exit_);
    b.CreateCondBr(b.CreateICmpSGT(left, b.getInt64(0)), next, exit_);
    b.SetInsertPoint(next);
    left->addIncoming(more, entry_->getParent());
    left->addIncoming(b.CreateSub(left, b.getInt64(1)), next);
    for (const Moving& m : moving_) m.pointer->addIncoming(b.CreateGEP(b.getInt8Ty(), m.pointer, m.step(b)), next);
    b.CreateBr(row_);
  } else {
    b.CreateBr(exit_);
  }
  b.SetInsertPoint(exit_);
  b.CreateRetVoid();
}

Value* FunctionEmitter::by_row(Value* first, Step step) {
  if (!row_) return first;
  llvm::IRBuilder<> head(row_, row_->getFirstNonPHIIt());
  llvm::PHINode* pointer = head.CreatePHI(first->getType(), 2);
  pointer->addIncoming(first, entry_->getParent());
  moving_.push_back({pointer, std::move(step)});
  return pointer;
}

FunctionEmitter::Loop FunctionEmitter::begin_loop(Value* start, const std::vector<Value*>& carried) {
  llvm::BasicBlock* from = b.GetInsertBlock();
  auto* header = llvm::BasicBlock::Create(module_.getContext(), "loop", function_, exit_);
  b.CreateBr(header);
  b.SetInsertPoint(header);
  Loop loop{header, b.CreatePHI(start->getType(), 2), {}};
  loop.index->addIncoming(start, from);
  for (Value* v : carried) {
    loop.carried.push_back(b.CreatePHI(v->getType(), 2));
    loop.carried.back()->addIncoming(v, from);
  }
  return loop;
}

void FunctionEmitter::end_loop(const Loop& loop, Value* next, Value* again, const std::vector<Value*>& carried) {
  llvm::BasicBlock* latch = b.GetInsertBlock();
  auto* after = llvm::BasicBlock::Create(module_.getContext(), "after", function_, exit_);
  b.CreateCondBr(again, loop.header, after);
  loop.index->addIncoming(next, latch);
  for (size_t i = 0; i < carried.size(); ++i) loop.carried[i]->addIncoming(carried[i], latch);
  b.SetInsertPoint(after);
}

void FunctionEmitter::in_rounds(const std::vector<unsigned>& widths,
                                const std::function<void(Value*, unsigned)>& emit) {
  unsigned at = 0;
  in_rounds(widths, {.begin =
                         [&](unsigned width) {
                           at = width;
                           return std::vector<Value*>{};
                         },
                     .round =
                         [&](const Loop& loop, Value*) {
                           emit(loop.index, at);
                           return std::vector<Value*>{};
                         },
                     .end = [] {}});
}

void FunctionEmitter::in_rounds(const std::vector<unsigned>& widths, const Rounds& each) {
  Value* n = field(offsetof(Frame, n), b.getInt64Ty());
  Value* done = b.getInt64(0);
  for (const unsigned width : widths) {
    const auto fits = [&](Value* from) { return b.CreateICmpSLE(b.CreateAdd(from, b.getInt64(width)), n); };
    llvm::BasicBlock* before = b.GetInsertBlock();
    auto* rounds = llvm::BasicBlock::Create(module_.getContext(), "rounds", function_, exit_);
    auto* rest = llvm::BasicBlock::Create(module_.getContext(), "rest", function_, exit_);
    b.CreateCondBr(fits(done), rounds, rest);
    b.SetInsertPoint(rounds);
    const Loop loop = begin_loop(done, each.begin(width));
    Value* next = b.CreateAdd(loop.index, b.getInt64(width), "", /*NUW=*/true, /*NSW=*/true);
    const std::vector<Value*> carried = each.round(loop, next);
    end_loop(loop, next, fits(next), carried);
    each.end();
    llvm::BasicBlock* after = b.GetInsertBlock();
    b.CreateBr(rest);
    b.SetInsertPoint(rest);
    llvm::PHINode* phi = b.CreatePHI(b.getInt64Ty(), 2);
    phi->addIncoming(done, before);
    phi->addIncoming(next, after);
    done = phi;
  }
}

Value* FunctionEmitter::field(size_t offset, Type* type) {
  Value*& loaded = fields_[offset];
  llvm::IRBuilder<> pre(entry_);
  if (!loaded)
    loaded = pre.CreateLoad(type, pre.CreateConstInBoundsGEP1_64(pre.getInt8Ty(), function_->getArg(0), offset));
  return loaded;
}

Value* FunctionEmitter::pointer_at(size_t array, size_t index, size_t steps) {
  Value* const pointers = field(array, b.getPtrTy());
  llvm::IRBuilder<> pre(entry_);
  Value* first = pre.CreateLoad(pre.getPtrTy(), pre.CreateConstInBoundsGEP1_64(pre.getPtrTy(), pointers, index));
  return by_row(first, [this, index, steps](llvm::IRBuilder<>& at) -> Value* {
    Value* table = field(steps, at.getPtrTy());
    return at.CreateLoad(at.getInt64Ty(), at.CreateConstInBoundsGEP1_64(at.getInt64Ty(), table, index));
  });
}

Value* FunctionEmitter::view_pointer(size_t view) {
  if (!views_[view]) views_[view] = pointer_at(offsetof(Frame, ptr), view, offsetof(Frame, row_step));
  return views_[view];
}

Value* FunctionEmitter::along(size_t view) {
  Value* const table = field(offsetof(Frame, along), b.getPtrTy());
  Value*& mask = alongs_[view];
  llvm::IRBuilder<> pre(entry_);
  if (!mask) mask = pre.CreateLoad(pre.getInt64Ty(), pre.CreateConstInBoundsGEP1_64(pre.getInt64Ty(), table, view));
  return mask;
}

Value* FunctionEmitter::hold_pointer(size_t hold) {
  if (!holds_[hold]) holds_[hold] = pointer_at(offsetof(Frame, hold), hold, offsetof(Frame, hold_step));
  return holds_[hold];
}

Value* FunctionEmitter::item(Value* base, Value* index, size_t item_bytes) {
  return b.CreateGEP(b.getIntNTy(static_cast<unsigned>(8 * item_bytes)), base, index);
}

Value* FunctionEmitter::fold_value(NodeId fold) {
  const auto slot = static_cast<uint64_t>(s_.fold_slot[fold]);
  if (!value_)
    value_ = by_row(field(offsetof(Frame, value), b.getPtrTy()), [this](llvm::IRBuilder<>& at) -> Value* {
      return at.getInt64(s_.folds.size() * sizeof(uint64_t));
    });
  Value* const base = value_;
  llvm::IRBuilder<> pre(preheader_);
  // Mode row without a row axis has one lane, whose results lie as those of lanes do.
  Value* at =
      s_.mode == loop::LaneMode::cols
          ? pre.CreateConstGEP1_64(pre.getInt64Ty(), base, slot)
          : pre.CreateGEP(pre.getInt8Ty(), base,
                          pre.CreateMul(field(offsetof(Frame, acc_stride), b.getInt64Ty()), pre.getInt64(slot)));
  const DType t = k_.nodes[fold].type;
  if (t != DType::boolean) return pre.CreateLoad(ops.type(t, 0), at);
  Value* byte = pre.CreateLoad(pre.getInt8Ty(), at);
  return pre.CreateICmpNE(byte, pre.getInt8(0));
}

Value* FunctionEmitter::load_items(DType t, Value* base, const Lanes& at) {
  const size_t bytes = ir::item_size(t);
  const auto load = [&](Value* from, unsigned lanes) -> Value* {
    Type* type = t == DType::boolean ? ops.type(DType::u8, lanes) : ops.type(t, lanes);
    return b.CreateAlignedLoad(type, from, llvm::Align(1));
  };
  Value* from = at.index ? item(base, at.index, bytes) : base;
  Value* v = at.split ? ops.join(load(from, at.count / 2), load(item(from, b.getInt64(32), bytes), at.count / 2))
                      : load(from, at.count);
  return t == DType::boolean ? b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
}

void FunctionEmitter::store_items(DType t, Value* base, const Lanes& at, Value* value, bool stream) {
  const size_t bytes = ir::item_size(t);
  if (t == DType::boolean) {
    if (value->getType()->getScalarSizeInBits() == 1) {
      value = b.CreateZExt(value, ops.type(DType::u8, at.count));
    } else {
      value = ops.to_mask(value, 8);
      value = b.CreateAnd(value, llvm::ConstantInt::get(value->getType(), 1));
    }
  }
  const auto store = [&](Value* to, Value* v) {
    // Streamed stores go to 64-byte aligned strips by whole steps.
    const uint64_t width = v->getType()->getPrimitiveSizeInBits() / 8;
    llvm::StoreInst* s = b.CreateAlignedStore(v, to, llvm::Align(stream ? std::min<uint64_t>(width, 64) : 1));
    if (!stream) return;
    llvm::LLVMContext& context = module_.getContext();
    s->setMetadata(llvm::LLVMContext::MD_nontemporal,
                   llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(b.getInt32(1))));
  };
  Value* to = at.index ? item(base, at.index, bytes) : base;
  if (!at.split) return store(to, value);
  store(to, ops.part(value, 0, at.count / 2));
  store(item(to, b.getInt64(32), bytes), ops.part(value, at.count / 2, at.count / 2));
}

Value* FunctionEmitter::scalar_of(NodeId node) {
  Value*& v = scalar_[node];
  if (!v && loop::is_fold(k_.nodes[node].op)) v = fold_value(node);
  if (!v) bug("node ", node, " is used before it is computed");
  return v;
}

Value* FunctionEmitter::lane_of(NodeId node, unsigned lanes) {
  if (lane_[node]) return lane_[node];
  Value* scalar = scalar_of(node);
  return lanes == 0 ? scalar : splat(node, scalar, lanes);
}

// Copies of a scalar. Of one made before the loops, a register of copies is made there too and repeated for nothing;
// a whole value of copies would occupy as many registers as any other.
Value* FunctionEmitter::splat(NodeId node, Value* scalar, unsigned lanes) {
  if (auto* c = llvm::dyn_cast<llvm::Constant>(scalar))
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), c);
  const auto* made = llvm::dyn_cast<llvm::Instruction>(scalar);
  if (!made || made->getParent() != preheader_->getParent()) {
    if (scalar->getType()->isIntegerTy(1)) scalar = b.CreateSExt(scalar, b.getInt32Ty());
    return b.CreateVectorSplat(lanes, scalar);
  }
  Value*& copies = splats_[node];
  if (!copies) {
    llvm::IRBuilder<> pre(preheader_);
    Value* v = scalar->getType()->isIntegerTy(1) ? pre.CreateSExt(scalar, pre.getInt32Ty()) : scalar;
    const unsigned most = target_.register_bytes * 8 / v->getType()->getScalarSizeInBits();
    copies = pre.CreateVectorSplat(std::min(lanes, most), v);
  }
  const unsigned period = llvm::cast<llvm::FixedVectorType>(copies->getType())->getNumElements();
  if (period == lanes) return copies;
  if (period > lanes) return ops.part(copies, 0, lanes);
  return b.CreateShuffleVector(copies, repeat(lanes, period));
}

Value* FunctionEmitter::apply(NodeId node, Value* x, Value* y, Value* z) {
  const loop::Node& n = k_.nodes[node];
  const loop::Node& arg = k_.nodes[n.arg[n.op == Prim::select ? 1 : 0]];
  const DType from = arg.type;
  if (n.op == Prim::convert && loop::is_narrow(from) && arg.op == Prim::convert) {
    // Rounded and widened again: it need not be packed in between. Where an earlier sweep rounded, that is all there
    // is.
    Value* wide = x->getType()->isVectorTy() ? lane_[arg.arg[0]] : scalar_[arg.arg[0]];
    if (wide) return ops.rounded(from, wide);
  }
  if (loop::converts_as_is(k_, n)) return ops.to_small_int(n.type, x);
  return ops.prim(n.op, n.type, from, x, y, z);
}

void FunctionEmitter::emit_scalar(NodeId node) {
  const loop::Node& n = k_.nodes[node];
  Value* a[3] = {};
  for (size_t i = 0; i < 3; ++i)
    if (n.arg[i] != loop::no_node) a[i] = scalar_of(n.arg[i]);
  switch (n.op) {
    case Prim::literal: scalar_[node] = ops.literal(n.type, n.imm); return;
    case Prim::size: {
      Value* sizes = field(offsetof(Frame, size), b.getPtrTy());
      scalar_[node] = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), sizes, n.imm));
      return;
    }
    case Prim::load: scalar_[node] = load_items(k_.views[n.imm].storage, view_pointer(n.imm), {nullptr, 0}); return;
    case Prim::rare: scalar_[node] = b.CreateSelect(a[0], a[2], a[1]); return;
    case Prim::check: scalar_[node] = emit_check(node, a[0], a[1], a[2], {nullptr, 0}); return;
    case Prim::fetch: scalar_[node] = emit_fetch(node, a[0], a[1], {nullptr, 0}); return;
    default: scalar_[node] = apply(node, a[0], a[1], a[2]);
  }
}

void FunctionEmitter::emit_lanes(const Regions& regions, uint32_t region, const Lanes& at) {
  for (const NodeId n : regions.nodes[region]) emit_lane_node(regions, n, at);
}

// The argument that is best read from memory by the instruction itself, 3 if there is none: a literal that nothing else
// uses. Left to LLVM it is broadcast to a register first, once for all registers of the value; but the registers that
// the core has for values under way are what limits long chains.
size_t FunctionEmitter::memory_operand(const loop::Node& n, unsigned lanes) const {
  constexpr size_t none = 3;
  if (!target_.x86 || !target_.fma || !ir::is_float(n.type) || loop::is_narrow(n.type)) return none;
  if (lanes * ir::item_size(n.type) < target_.register_bytes) return none;
  const auto single = [&](size_t i) { return k_.nodes[n.arg[i]].op == Prim::literal && uses_[n.arg[i]] == 1; };
  switch (n.op) {
    case Prim::fma: return single(2) ? 2 : single(1) ? 1 : none;
    case Prim::add:
    case Prim::mul: return single(1) ? 1 : single(0) ? 0 : none;
    case Prim::sub: return single(1) ? 1 : none;
    default: return none;
  }
}

Value* FunctionEmitter::constant_in_memory(NodeId literal, unsigned lanes) {
  const loop::Node& n = k_.nodes[literal];
  llvm::Constant* value = ops.literal(n.type, n.imm, lanes);
  const llvm::Align align(target_.register_bytes);
  auto* global = llvm::cast<llvm::GlobalVariable>(
      module_.getOrInsertGlobal(cat("literal", literal, "x", lanes), value->getType()));
  global->setInitializer(value);
  global->setConstant(true);
  global->setLinkage(llvm::GlobalValue::PrivateLinkage);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(align);
  return b.CreateAlignedLoad(value->getType(), global, align);
}

void FunctionEmitter::emit_lane_node(const Regions& regions, NodeId node, const Lanes& at) {
  const loop::Node& n = k_.nodes[node];
  if (n.op == Prim::load) {
    Lanes from = at;
    if (loop::may_stand_still(k_, k_.views[n.imm])) from.index = b.CreateAnd(at.index, along(n.imm));
    lane_[node] = load_items(k_.views[n.imm].storage, view_pointer(n.imm), from);
    if (ahead_) fetch_ahead(n.imm, at);
    return;
  }
  if (n.op == Prim::rare) {
    lane_[node] = emit_rare(regions, node, at);
    return;
  }
  Value* a[3] = {};
  const size_t memory = memory_operand(n, at.count);
  for (size_t i = 0; i < 3; ++i)
    if (n.arg[i] != loop::no_node)
      a[i] = i == memory ? constant_in_memory(n.arg[i], at.count) : lane_of(n.arg[i], at.count);
  lane_[node] = n.op == Prim::check   ? emit_check(node, a[0], a[1], a[2], at)
                : n.op == Prim::fetch ? emit_fetch(node, a[0], a[1], at)
                                      : apply(node, a[0], a[1], a[2]);
}

Value* FunctionEmitter::emit_rare(const Regions& regions, NodeId node, const Lanes& at) {
  const loop::Node& n = k_.nodes[node];
  const uint32_t region = regions.slow_of[node];
  Value* cond = lane_of(n.arg[0], at.count);
  Value* fast = lane_of(n.arg[1], at.count);
  if (regions.is_inline(region)) {
    emit_lanes(regions, region, at);
    return ops.select(cond, lane_of(n.arg[2], at.count), fast);
  }
  // One form on both ways into the join.
  const bool mask = n.type == DType::boolean && at.count > 0 && !target_.masks;
  if (mask) fast = ops.to_mask(fast, 32);
  else if (n.type == DType::boolean) fast = ops.to_i1(fast);
  llvm::LLVMContext& context = module_.getContext();
  auto* slow_block = llvm::BasicBlock::Create(context, "slow", function_, exit_);
  auto* join = llvm::BasicBlock::Create(context, "join", function_, exit_);
  Value* needed = ops.any(cond);
  llvm::BasicBlock* from = b.GetInsertBlock();
  b.CreateCondBr(needed, slow_block, join, llvm::MDBuilder(context).createBranchWeights(1, 2000));
  b.SetInsertPoint(slow_block);
  emit_lanes(regions, region, at);
  Value* slow = ops.select(cond, lane_of(n.arg[2], at.count), fast);
  if (mask) slow = ops.to_mask(slow, 32);
  else if (n.type == DType::boolean) slow = ops.to_i1(slow);
  llvm::BasicBlock* slow_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  llvm::PHINode* phi = b.CreatePHI(fast->getType(), 2);
  phi->addIncoming(fast, from);
  phi->addIncoming(slow, slow_end);
  return phi;
}

std::vector<loop::NodeId> FunctionEmitter::roots(const loop::Sweep& sweep) const {
  std::vector<NodeId> out;
  for (const NodeId f : sweep.folds)
    for (const NodeId a : k_.nodes[f].arg)
      if (a != loop::no_node) out.push_back(a);
  for (const uint16_t h : sweep.fills) out.push_back(s_.holds[h].source);
  for (const uint16_t st : sweep.stores) out.push_back(k_.stores[st].value);
  return out;
}

void FunctionEmitter::row() {
  begin(s_.row_nodes);
  for (const uint16_t i : s_.row_stores) {
    const loop::Store& st = k_.stores[i];
    store_items(k_.views[st.view].storage, view_pointer(st.view), {nullptr, 0}, scalar_of(st.value), false);
  }
  finish();
}

}  // namespace ingot::jit
