// fma where the target has none, exact: x86-64-v2 promises bits, not speed.
//
// Both rest on rounding to odd: a sum rounded so that an inexact result has its last bit set can be rounded once more,
// to at least two bits less, as if it had never been rounded (Boldo and Melquiond, "Emulation of a FMA and correctly
// rounded sums", IEEE Trans. Computers 57, 2008).
#include "jit/cpu/ops.h"

namespace ingot::jit {

using llvm::Value;

namespace {

class SoftFma {
 public:
  explicit SoftFma(llvm::IRBuilder<>& builder) : b(builder) {}

  // The product of two f32 is exact in f64.
  Value* f32(Value* x, Value* y, Value* z) {
    llvm::Type* wide = llvm::FixedVectorType::get(b.getDoubleTy(), 4);
    Value* product = b.CreateFMul(b.CreateFPExt(x, wide), b.CreateFPExt(y, wide));
    return b.CreateFPTrunc(odd_sum(product, b.CreateFPExt(z, wide)), x->getType());
  }

  // On operands scaled to [1, 2), where Dekker's product and every sum are exact; the one rounding that the result's
  // exponent may still ask for, to a denormal, is mended where it meets a tie that the first rounding made.
  Value* f64(Ops& ops, Value* x, Value* y, Value* z) {
    constexpr int64_t reach = 110;  // bits apart beyond which the smaller operand is but a sticky bit: 2 * 53 and some
    const Scaled sx = scaled(x), sy = scaled(y), sz = scaled(z);
    Value* ep = b.CreateAdd(sx.exponent, sy.exponent);
    Value* z_zero = b.CreateFCmpOEQ(z, real(0.0));
    Value* apart = b.CreateSelect(z_zero, word(0), b.CreateSub(sz.exponent, ep));
    Value* far = b.CreateICmpSGT(apart, word(reach));
    Value* base = b.CreateSelect(far, b.CreateSub(sz.exponent, word(reach)), ep);
    Value* near = b.CreateSelect(far, word(reach), apart);
    near = b.CreateSelect(b.CreateICmpSLT(near, word(-reach)), word(-reach), near);
    Value* addend = b.CreateSelect(z_zero, z, b.CreateFMul(sz.value, power(near)));

    const Pair p = product(sx.value, sy.value);
    const Pair t = two_sum(addend, p.low);
    const Pair v = two_sum(p.high, t.high);
    const Pair r = two_sum(v.high, odd_sum(t.low, v.low));

    // Beyond this exponent everything overflows or vanishes, and within it the powers used here exist.
    base = clamp(base, 1250);
    Value* result = ops.prim(Prim::scale2, DType::f64, DType::f64, r.high, base, nullptr);
    Value* back = ops.prim(Prim::scale2, DType::f64, DType::f64, result, b.CreateNeg(base), nullptr);
    Value* lost = b.CreateFSub(r.high, back);  // exact; not zero only where the result is denormal
    Value* unit = real(0x1p-1074);
    Value* scaled_unit = ops.prim(Prim::scale2, DType::f64, DType::f64, unit, b.CreateNeg(base), nullptr);
    Value* twice = b.CreateFAdd(lost, lost);
    Value* inexact = b.CreateFCmpONE(lost, real(0.0));
    Value* up = b.CreateAnd(b.CreateFCmpOEQ(twice, scaled_unit), b.CreateFCmpOGT(r.low, real(0.0)));
    Value* down = b.CreateAnd(b.CreateFCmpOEQ(twice, b.CreateFNeg(scaled_unit)), b.CreateFCmpOLT(r.low, real(0.0)));
    result = b.CreateSelect(b.CreateAnd(inexact, up), b.CreateFAdd(result, unit), result);
    result = b.CreateSelect(b.CreateAnd(inexact, down), b.CreateFSub(result, unit), result);

    // What has no exponent to scale by: zero factors (the product is exact), infinities, NaN.
    Value* factors_finite = b.CreateAnd(finite(ops, x), finite(ops, y));
    Value* z_finite = finite(ops, z);
    Value* plain = b.CreateFAdd(b.CreateFMul(x, y), z);
    plain = b.CreateSelect(b.CreateAnd(factors_finite, b.CreateNot(z_finite)), z, plain);
    Value* nonzero = b.CreateAnd(b.CreateFCmpONE(x, real(0.0)), b.CreateFCmpONE(y, real(0.0)));
    Value* general = b.CreateAnd(b.CreateAnd(factors_finite, z_finite), nonzero);
    return b.CreateSelect(general, result, plain);
  }

 private:
  struct Pair {
    Value *high, *low;
  };
  struct Scaled {
    Value *value, *exponent;  // value * 2^exponent, 1 <= |value| < 2 unless it was zero
  };

  Value* real(double v) const { return llvm::ConstantFP::get(llvm::FixedVectorType::get(b.getDoubleTy(), 2), v); }
  Value* word(int64_t v) const {
    return llvm::ConstantInt::getSigned(llvm::FixedVectorType::get(b.getInt64Ty(), 2), v);
  }
  Value* bits(Value* v) { return b.CreateBitCast(v, ints(v)); }
  Value* floats(Value* v) { return b.CreateBitCast(v, real(0)->getType()); }
  static llvm::Type* ints(Value* v) {
    auto* t = llvm::cast<llvm::FixedVectorType>(v->getType());
    return llvm::FixedVectorType::get(llvm::Type::getInt64Ty(v->getContext()), t->getNumElements());
  }
  Value* power(Value* e) { return floats(b.CreateShl(b.CreateAdd(e, word(1023)), word(52))); }
  Value* clamp(Value* e, int64_t most) {
    e = b.CreateSelect(b.CreateICmpSGT(e, word(most)), word(most), e);
    return b.CreateSelect(b.CreateICmpSLT(e, word(-most)), word(-most), e);
  }
  Value* finite(Ops& ops, Value* v) {
    Value* magnitude = ops.prim(Prim::abs, DType::f64, DType::f64, v, nullptr, nullptr);
    return b.CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(v->getType()));
  }

  Scaled scaled(Value* v) {
    Value* magnitude = b.CreateAnd(bits(v), word(INT64_MAX));
    Value* denormal = b.CreateICmpSLT(magnitude, word(int64_t{1} << 52));
    Value* from = bits(b.CreateSelect(denormal, b.CreateFMul(v, real(0x1p54)), v));
    Value* field = b.CreateAnd(b.CreateLShr(from, word(52)), word(0x7ff));
    Value* exponent = b.CreateSub(field, b.CreateSelect(denormal, word(1023 + 54), word(1023)));
    Value* mantissa = b.CreateAnd(from, word(static_cast<int64_t>(0x800FFFFFFFFFFFFF)));
    return {floats(b.CreateOr(mantissa, word(int64_t{1023} << 52))), exponent};
  }

  Pair two_sum(Value* x, Value* y) {
    Value* s = b.CreateFAdd(x, y);
    Value* of_y = b.CreateFSub(s, x);
    Value* of_x = b.CreateFSub(s, of_y);
    return {s, b.CreateFAdd(b.CreateFSub(x, of_x), b.CreateFSub(y, of_y))};
  }

  // x + y rounded to odd. An infinite or NaN sum has a NaN error, which compares as none.
  Value* odd_sum(Value* x, Value* y) {
    const Pair p = two_sum(x, y);
    Value* s = bits(p.high);
    llvm::Type* type = s->getType();
    Value* inexact = b.CreateFCmpONE(p.low, llvm::ConstantFP::get(p.low->getType(), 0.0));
    Value* even = b.CreateICmpEQ(b.CreateAnd(s, llvm::ConstantInt::get(type, 1)), llvm::ConstantInt::get(type, 0));
    // Away from zero where the error has the sum's sign, else towards it: +1 or -1 in the bits either way.
    Value* step = b.CreateOr(b.CreateAShr(b.CreateXor(s, bits(p.low)), llvm::ConstantInt::get(type, 63)),
                             llvm::ConstantInt::get(type, 1));
    Value* odd = b.CreateSelect(b.CreateAnd(inexact, even), b.CreateAdd(s, step), s);
    return b.CreateBitCast(odd, p.high->getType());
  }

  Pair product(Value* x, Value* y) {
    const auto split = [&](Value* v) -> Pair {
      Value* c = b.CreateFMul(v, real(0x1p27 + 1));
      Value* high = b.CreateFSub(c, b.CreateFSub(c, v));
      return {high, b.CreateFSub(v, high)};
    };
    const Pair sx = split(x), sy = split(y);
    Value* p = b.CreateFMul(x, y);
    Value* low = b.CreateFSub(b.CreateFMul(sx.high, sy.high), p);
    low = b.CreateFAdd(low, b.CreateFMul(sx.high, sy.low));
    low = b.CreateFAdd(low, b.CreateFMul(sx.low, sy.high));
    return {p, b.CreateFAdd(low, b.CreateFMul(sx.low, sy.low))};
  }

  llvm::IRBuilder<>& b;
};

}  // namespace

llvm::Function* Ops::soft_fma(llvm::Type* element) {
  const bool narrow = element->isFloatTy();
  const char* name = narrow ? "fma_f32" : "fma_f64";
  if (llvm::Function* made = module_.getFunction(name)) return made;
  llvm::Type* type = llvm::FixedVectorType::get(element, narrow ? 4 : 2);
  auto* f = llvm::Function::Create(llvm::FunctionType::get(type, {type, type, type}, false),
                                   llvm::GlobalValue::InternalLinkage, name, &module_);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr("frame-pointer", "all");
  f->addFnAttr("no-builtins");
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module_.getContext(), "", f));
  Ops ops(builder, module_, target_);
  SoftFma soft(builder);
  Value *x = f->getArg(0), *y = f->getArg(1), *z = f->getArg(2);
  builder.CreateRet(narrow ? soft.f32(x, y, z) : soft.f64(ops, x, y, z));
  return f;
}

}  // namespace ingot::jit
