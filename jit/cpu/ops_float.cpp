// Float primitives. NUMERICS.md fixes every bit but the payloads of NaNs, which `canon` settles where they can be seen.
#include <algorithm>

#include "base/error.h"
#include "jit/cpu/llvm_compat.h"
#include "jit/cpu/ops.h"

#include <llvm/IR/MDBuilder.h>

namespace ingot::jit {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {
// The value of a constant that is the same in all lanes.
const llvm::APFloat* constant(Value* v) {
  auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (c && c->getType()->isVectorTy()) c = c->getSplatValue();
  auto* f = c ? llvm::dyn_cast<llvm::ConstantFP>(c) : nullptr;
  return f ? &f->getValueAPF() : nullptr;
}
}  // namespace

Value* Ops::float_arith(Prim op, Value* x, Value* y, Value* z) {
  switch (op) {
    case Prim::add: return b.CreateFAdd(x, y);
    case Prim::sub: return b.CreateFSub(x, y);
    case Prim::mul: return b.CreateFMul(x, y);
    case Prim::div: return b.CreateFDiv(x, y);
    case Prim::neg: return b.CreateFNeg(x);
    case Prim::abs: return call(Intrinsic::fabs, x);
    case Prim::fma: return fma(x, y, z);
    case Prim::sqrt: return call(Intrinsic::sqrt, x);
    case Prim::floor: return call(Intrinsic::floor, x);
    case Prim::ceil: return call(Intrinsic::ceil, x);
    case Prim::trunc: return call(Intrinsic::trunc, x);
    case Prim::round: return call(Intrinsic::roundeven, x);
    case Prim::canon: return canon(x);
    case Prim::min: return float_min_max(false, x, y);
    case Prim::max: return float_min_max(true, x, y);
    case Prim::copysign: {
      const unsigned bits = x->getType()->getScalarSizeInBits();
      Value* sign = num(bits_of(x), uint64_t{1} << (bits - 1));
      Value* magnitude = b.CreateAnd(bits_of(x), b.CreateNot(sign));
      return floats_of(b.CreateOr(magnitude, b.CreateAnd(bits_of(y), sign)));
    }
    default: bug("no emission of primitive ", static_cast<int>(op), " on floats");
  }
}

Value* Ops::canon(Value* x) { return b.CreateSelect(b.CreateFCmpUNO(x, x), llvm::ConstantFP::getNaN(x->getType()), x); }

// maxps(a, b) is a > b ? a : b, so it gives b when either is NaN or both are zeros.
Value* Ops::float_min_max(bool max, Value* x, Value* y) {
  if (!target_.x86) return call(max ? Intrinsic::maximum : Intrinsic::minimum, x, y);
  const auto pick = [&](Value* p, Value* q) {
    return b.CreateSelect(max ? b.CreateFCmpOGT(p, q) : b.CreateFCmpOLT(p, q), p, q);
  };
  if (constant(x)) std::swap(x, y);
  if (const llvm::APFloat* c = constant(y); c && !c->isNaN()) {
    // With the constant first, a NaN in x passes. Zeros: max(x, +0) must not give x = -0, and adding +0 mends just
    // that; max(x, -0) and min(x, +0) are right as they are; min(x, -0) takes the general way.
    Value* picked = pick(y, x);
    if (!c->isZero() || max == c->isNegative()) return picked;
    if (max) return b.CreateFAdd(picked, y);
  }
  Value* one = bits_of(pick(x, y));
  Value* other = bits_of(pick(y, x));
  Value* joined = max ? b.CreateAnd(one, other) : b.CreateOr(one, other);
  Value* unordered = b.CreateFCmpUNO(x, y);
  return floats_of(b.CreateOr(joined, b.CreateSExt(unordered, joined->getType())));
}

// x * 2^n rounded once: by up to three powers of two, of which only the last product can round.
//
// Upwards every product is exact until one overflows. Downwards a single normal power rounds once. Below the least
// normal power the first factor is 2^-low with low = bias - 1 - precision, which leaves at least 2^-precision-1 to
// come: if the first product is denormal and loses bits, the result lies under half the least denormal and is zero.
//
// For vectors one product is tried first, in all lanes at once: nearly every exponent is that of a normal power.
Value* Ops::scale2(Value* x, Value* n) {
  const bool narrow = x->getType()->getScalarSizeInBits() == 32;
  if (narrow && x->getType()->isVectorTy()) {
    constexpr int bias = 127, precision = 24;
    llvm::LLVMContext& context = module_.getContext();
    llvm::Function* function = b.GetInsertBlock()->getParent();
    auto* beyond = llvm::BasicBlock::Create(context, "scale", function);
    auto* join = llvm::BasicBlock::Create(context, "scaled", function);
    const auto lit = [&](int v) { return num(n, static_cast<uint64_t>(int64_t{v})); };
    Value* field = b.CreateAdd(n, lit(bias));
    Value* fast = b.CreateFMul(x, floats_of(b.CreateShl(field, lit(precision - 1))));
    Value* needed = any(b.CreateICmpUGE(b.CreateSub(field, lit(1)), lit(2 * bias)));
    llvm::BasicBlock* from = b.GetInsertBlock();
    b.CreateCondBr(needed, beyond, join, llvm::MDBuilder(context).createBranchWeights(1, 2000));
    b.SetInsertPoint(beyond);
    Value* slow = scale2_any(x, n);
    b.CreateBr(join);
    b.SetInsertPoint(join);
    llvm::PHINode* phi = b.CreatePHI(x->getType(), 2);
    phi->addIncoming(fast, from);
    phi->addIncoming(slow, beyond);
    return phi;
  }
  return scale2_any(x, n);
}

Value* Ops::scale2_any(Value* x, Value* n) {
  const bool narrow = x->getType()->getScalarSizeInBits() == 32;
  const int bias = narrow ? 127 : 1023, precision = narrow ? 24 : 53;
  const int least = 1 - bias, low = least + precision;
  const auto lit = [&](Value* like, int v) { return num(like, static_cast<uint64_t>(int64_t{v})); };
  // Beyond these every finite x overflows or vanishes; the powers below reach a little further.
  const int most = 2 * bias + precision + 8;
  n = call(Intrinsic::smax, n, lit(n, -most));
  n = call(Intrinsic::smin, n, lit(n, most));
  if (!narrow && n->getType()->getScalarSizeInBits() == 32) n = b.CreateSExt(n, ints_like(n, 64));
  const auto power = [&](Value* e) {
    return floats_of(b.CreateShl(b.CreateAdd(e, lit(e, bias)), lit(e, precision - 1)));
  };
  const auto step = [&](Value* e) {
    Value* upper = call(Intrinsic::smin, e, lit(e, bias));
    return b.CreateSelect(b.CreateICmpSLT(e, lit(e, least)), lit(e, low), upper);
  };
  Value* first = step(n);
  Value* rest = b.CreateSub(n, first);
  Value* second = step(rest);
  Value* third = b.CreateSub(rest, second);
  return b.CreateFMul(b.CreateFMul(b.CreateFMul(x, power(first)), power(second)), power(third));
}

Value* Ops::fma(Value* x, Value* y, Value* z) {
  if (target_.fma) return b.CreateCall(compat::intrinsic(&module_, Intrinsic::fma, {x->getType()}), {x, y, z});
  // Out of line: the exact pieces are some sixty instructions for each register.
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  llvm::Type* element = x->getType()->getScalarType();
  llvm::Function* function = soft_fma(element);
  const auto* callee = llvm::cast<llvm::FixedVectorType>(function->getReturnType());
  const unsigned step = callee->getNumElements();
  if (!vector || lanes < step) {
    Value* args[3] = {x, y, z};
    for (Value*& a : args) {
      Value* wide = llvm::ConstantAggregateZero::get(function->getReturnType());
      for (unsigned i = 0; i < lanes; ++i)
        wide = b.CreateInsertElement(wide, vector ? b.CreateExtractElement(a, uint64_t{i}) : a, uint64_t{i});
      a = wide;
    }
    Value* r = b.CreateCall(function, args);
    return vector ? part(r, 0, lanes) : b.CreateExtractElement(r, uint64_t{0});
  }
  llvm::SmallVector<Value*, 8> parts;
  for (unsigned at = 0; at < lanes; at += step)
    parts.push_back(b.CreateCall(function, {part(x, at, step), part(y, at, step), part(z, at, step)}));
  while (parts.size() > 1) {
    for (size_t i = 0; i < parts.size() / 2; ++i) parts[i] = join(parts[2 * i], parts[2 * i + 1]);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

}  // namespace ingot::jit
