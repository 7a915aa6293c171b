// Integer primitives: wrapping, total, free of traps and of IR whose result is poison.
#include "base/error.h"
#include "jit/cpu/llvm_compat.h"
#include "jit/cpu/ops.h"

namespace ingot::jit {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Value* Ops::int_arith(Prim op, DType t, Value* x, Value* y) {
  const bool s = ir::is_signed(t);
  switch (op) {
    case Prim::add: return b.CreateAdd(x, y);
    case Prim::sub: return b.CreateSub(x, y);
    case Prim::mul: return b.CreateMul(x, y);
    case Prim::div: return divide(t, x, y);
    case Prim::rem: {
      // By zero the quotient is 0, but the remainder is 0 too, not x. MIN rem -1: MIN - MIN * -1 = 0.
      Value* r = b.CreateSub(x, b.CreateMul(divide(t, x, y), y));
      return b.CreateSelect(b.CreateICmpEQ(y, num(y, 0)), num(y, 0), r);
    }
    case Prim::min: return call(s ? Intrinsic::smin : Intrinsic::umin, x, y);
    case Prim::max: return call(s ? Intrinsic::smax : Intrinsic::umax, x, y);
    case Prim::neg: return b.CreateNeg(x);
    case Prim::abs: return s ? b.CreateSelect(b.CreateICmpSLT(x, num(x, 0)), b.CreateNeg(x), x) : x;
    case Prim::and_: return b.CreateAnd(x, y);
    case Prim::or_: return b.CreateOr(x, y);
    case Prim::xor_: return b.CreateXor(x, y);
    case Prim::not_: return b.CreateNot(x);
    case Prim::shl:
    case Prim::shr: return shift(op, t, x, y);
    case Prim::popcount: return call(Intrinsic::ctpop, x);
    case Prim::clz:
    case Prim::ctz: {
      const auto id = op == Prim::clz ? Intrinsic::ctlz : Intrinsic::cttz;
      return b.CreateCall(compat::intrinsic(&module_, id, {x->getType()}), {x, b.getFalse()});
    }
    default: bug("no emission of primitive ", static_cast<int>(op), " on integers");
  }
}

Value* Ops::shift(Prim op, DType t, Value* x, Value* count) {
  const unsigned width = x->getType()->getScalarSizeInBits();
  // Unsigned, a negative count is a large one.
  if (op == Prim::shr && ir::is_signed(t)) return b.CreateAShr(x, call(Intrinsic::umin, count, num(count, width - 1)));
  Value* in_range = b.CreateICmpULT(count, num(count, width));
  // A shift by too much is poison, but one that the select does not take; AVX2 shifts mean just this select.
  Value* shifted = op == Prim::shl ? b.CreateShl(x, count) : b.CreateLShr(x, count);
  return b.CreateSelect(in_range, shifted, num(x, 0));
}

// Narrow types through floats, which vectorises: with at least twice the bits of the operands (f32 for 16, f64 for 32)
// the rounded quotient truncates to the exact one, since a quotient that is no integer is off by 1/|y| at least.
Value* Ops::divide(DType t, Value* x, Value* y) {
  const unsigned width = x->getType()->getScalarSizeInBits();
  const bool s = ir::is_signed(t);
  Value* zero = b.CreateICmpEQ(y, num(y, 0));
  Value* one = num(y, 1);
  if (width == 64) {
    Value* safe = b.CreateSelect(zero, one, y);
    if (!s) return b.CreateSelect(zero, num(x, 0), b.CreateUDiv(x, safe));
    Value* minus = b.CreateICmpEQ(y, num(y, ~uint64_t{0}));  // MIN / -1 traps
    safe = b.CreateSelect(minus, one, safe);
    Value* q = b.CreateSelect(minus, b.CreateNeg(x), b.CreateSDiv(x, safe));
    return b.CreateSelect(zero, num(x, 0), q);
  }
  Value* safe = b.CreateSelect(zero, one, y);
  Value* q;
  if (width <= 16) {
    llvm::Type* wide = ints_like(x, 32);
    llvm::Type* real = floats_like(x, 32);
    const auto as_float = [&](Value* v) {
      return b.CreateSIToFP(s ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide), real);
    };
    q = b.CreateTrunc(b.CreateFPToSI(b.CreateFDiv(as_float(x), as_float(safe)), wide), x->getType());
  } else {
    const DType from = t;
    Value* real = b.CreateFDiv(int_to_float(DType::f64, from, x), int_to_float(DType::f64, from, safe));
    Value* whole = call(Intrinsic::trunc, real);
    // 1.5 * 2^52 puts the integer, modulo 2^32, into the low bits; so MIN / -1 = 2^31 wraps to MIN.
    Value* placed = bits_of(b.CreateFAdd(whole, fp(whole, 0x1.8p52)));
    q = b.CreateTrunc(placed, x->getType());
  }
  return b.CreateSelect(zero, num(x, 0), q);
}

}  // namespace ingot::jit
