#include "jit/cpu/ops.h"

#include "base/error.h"
#include "jit/cpu/llvm_compat.h"
#include "loop/rules.h"

namespace ingot::jit {

using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace {
Type* with_lanes(Type* element, Value* like) {
  auto* v = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return v ? llvm::FixedVectorType::get(element, v->getNumElements()) : element;
}

unsigned lanes_of(Value* v) {
  auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return t ? t->getNumElements() : 0;
}
}  // namespace

Type* Ops::type(DType t, unsigned lanes) const {
  Type* element = t == DType::boolean ? b.getInt1Ty()
                  : t == DType::f32   ? b.getFloatTy()
                  : t == DType::f64   ? b.getDoubleTy()
                                      : static_cast<Type*>(b.getIntNTy(static_cast<unsigned>(8 * ir::item_size(t))));
  return lanes ? llvm::FixedVectorType::get(element, lanes) : element;
}

llvm::Constant* Ops::literal(DType t, uint64_t bits, unsigned lanes) const {
  Type* ty = type(t, lanes);
  if (!ty->isFPOrFPVectorTy()) return llvm::ConstantInt::get(ty, bits);
  const bool narrow = t == DType::f32;
  return llvm::ConstantFP::get(ty, llvm::APFloat(narrow ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble(),
                                                 llvm::APInt(narrow ? 32 : 64, bits)));
}

Type* Ops::ints_like(Value* v, unsigned bits) const { return with_lanes(b.getIntNTy(bits), v); }
Type* Ops::floats_like(Value* v, unsigned bits) const {
  return with_lanes(bits == 32 ? b.getFloatTy() : b.getDoubleTy(), v);
}
Value* Ops::bits_of(Value* v) { return b.CreateBitCast(v, ints_like(v, v->getType()->getScalarSizeInBits())); }
Value* Ops::floats_of(Value* v) { return b.CreateBitCast(v, floats_like(v, v->getType()->getScalarSizeInBits())); }
llvm::Constant* Ops::fp(Value* like, double v) { return llvm::ConstantFP::get(like->getType(), v); }
llvm::Constant* Ops::num(Value* like, uint64_t v) { return llvm::ConstantInt::get(like->getType(), v); }

Value* Ops::call(ID id, Value* x) { return b.CreateCall(compat::intrinsic(&module_, id, {x->getType()}), {x}); }
Value* Ops::call(ID id, Value* x, Value* y) {
  return b.CreateCall(compat::intrinsic(&module_, id, {x->getType()}), {x, y});
}

Value* Ops::part(Value* v, unsigned first, unsigned lanes) {
  if (first == 0 && lanes == lanes_of(v)) return v;
  llvm::SmallVector<int, 32> index(lanes);
  for (unsigned i = 0; i < lanes; ++i) index[i] = static_cast<int>(first + i);
  return b.CreateShuffleVector(v, index);
}

Value* Ops::join(Value* low, Value* high) {
  llvm::SmallVector<int, 32> index(2 * lanes_of(low));
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int>(i);
  return b.CreateShuffleVector(low, high, index);
}

Value* Ops::to_i1(Value* boolean) {
  if (boolean->getType()->getScalarSizeInBits() == 1) return boolean;
  return b.CreateICmpSLT(boolean, llvm::Constant::getNullValue(boolean->getType()));
}

Value* Ops::to_mask(Value* boolean, unsigned bits) {
  Type* want = ints_like(boolean, bits);
  if (boolean->getType() == want) return boolean;
  return b.CreateSExtOrTrunc(boolean, want);
}

Value* Ops::any(Value* boolean) {
  if (!boolean->getType()->isVectorTy()) return boolean;
  if (target_.masks) {
    Value* i1 = to_i1(boolean);
    Value* word = b.CreateBitCast(i1, b.getIntNTy(lanes_of(boolean)));
    return b.CreateICmpNE(word, num(word, 0));
  }
  unsigned bits = boolean->getType()->getScalarSizeInBits();
  if (bits == 1) {
    const auto* cmp = llvm::dyn_cast<llvm::CmpInst>(boolean);
    bits = cmp ? cmp->getOperand(0)->getType()->getScalarSizeInBits() : 32;
  }
  Value* mask = to_mask(boolean, bits);
  Value* word = target_.x86 ? b.CreateOrReduce(mask) : b.CreateIntMaxReduce(mask, /*IsSigned=*/false);
  return b.CreateICmpNE(word, num(word, 0));
}

Value* Ops::select(Value* boolean, Value* x, Value* y) {
  const unsigned bits = x->getType()->getScalarSizeInBits();
  if (x->getType() == y->getType() && !(x->getType()->isVectorTy() && x->getType()->isIntOrIntVectorTy(1)))
    return b.CreateSelect(to_i1(boolean), x, y);
  // Booleans of unlike forms, or vectors of i1: by bits, as masks.
  const unsigned wide =
      std::max({bits, y->getType()->getScalarSizeInBits(), boolean->getType()->getScalarSizeInBits()});
  const unsigned to = wide == 1 ? (target_.masks ? 1 : 32) : wide;
  Value* c = to_mask(boolean, to);
  return b.CreateOr(b.CreateAnd(c, to_mask(x, to)), b.CreateAnd(b.CreateNot(c), to_mask(y, to)));
}

Value* Ops::bool_arith(Prim op, Value* x, Value* y) {
  // The narrower of the masks that the operands have: narrowing is one pack, widening needs a register for each.
  const auto width = [](Value* v) -> unsigned {
    const unsigned bits = v->getType()->getScalarSizeInBits();
    if (bits > 1) return bits;
    const auto* cmp = llvm::dyn_cast<llvm::CmpInst>(v);
    return cmp ? cmp->getOperand(0)->getType()->getScalarSizeInBits() : 64;
  };
  if (x->getType()->isVectorTy() && !target_.masks) {
    const unsigned bits = std::min({width(x), y ? width(y) : 64u, 32u});
    x = to_mask(x, bits);
    if (y) y = to_mask(y, bits);
  } else {
    x = to_i1(x);
    if (y) y = to_i1(y);
  }
  switch (op) {
    case Prim::and_: return b.CreateAnd(x, y);
    case Prim::or_: return b.CreateOr(x, y);
    case Prim::xor_: return b.CreateXor(x, y);
    default: return b.CreateNot(x);
  }
}

Value* Ops::compare(Prim op, DType t, Value* x, Value* y) {
  using P = llvm::CmpInst::Predicate;
  if (t == DType::boolean) {
    switch (op) {
      case Prim::eq: return bool_arith(Prim::not_, bool_arith(Prim::xor_, x, y), nullptr);
      case Prim::ne: return bool_arith(Prim::xor_, x, y);
      case Prim::lt: return bool_arith(Prim::and_, bool_arith(Prim::not_, x, nullptr), y);
      default: return bool_arith(Prim::or_, bool_arith(Prim::not_, x, nullptr), y);
    }
  }
  if (ir::is_float(t)) {
    const P p = op == Prim::eq   ? P::FCMP_OEQ
                : op == Prim::ne ? P::FCMP_UNE
                : op == Prim::lt ? P::FCMP_OLT
                                 : P::FCMP_OLE;
    return b.CreateFCmp(p, x, y);
  }
  const bool s = ir::is_signed(t);
  const P p = op == Prim::eq   ? P::ICMP_EQ
              : op == Prim::ne ? P::ICMP_NE
              : op == Prim::lt ? (s ? P::ICMP_SLT : P::ICMP_ULT)
                               : (s ? P::ICMP_SLE : P::ICMP_ULE);
  return b.CreateICmp(p, x, y);
}

Value* Ops::prim(Prim op, DType to, DType from, Value* x, Value* y, Value* z) {
  switch (op) {
    case Prim::select: return select(x, y, z);
    case Prim::convert: return convert(to, from, x);
    case Prim::number: return x;
    case Prim::number_bits:
    case Prim::bitcast: return b.CreateBitCast(x, type(to, lanes_of(x)));
    case Prim::scale2: return scale2(x, y);
    case Prim::eq:
    case Prim::ne:
    case Prim::lt:
    case Prim::le: return compare(op, from, x, y);
    default: break;
  }
  if (to == DType::boolean) return bool_arith(op, x, y);
  if (!ir::is_float(to)) return int_arith(op, to, x, y);
  return loop::is_narrow(to) ? narrow_sign(op, x, y) : float_arith(op, x, y, z);
}

}  // namespace ingot::jit
