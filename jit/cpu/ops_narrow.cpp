// f16, bf16 and fp8 from and to f32. They are held as integers: LLVM's own half and bfloat arithmetic becomes library
// calls or flushes subnormals, so every conversion is spelled out here, by F16C or by integer operations.
#include "base/error.h"
#include "jit/cpu/llvm_compat.h"
#include "jit/cpu/ops.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace ingot::jit {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

// What overflow becomes (infinity, or where the format saturates its largest value) and the canonical NaN.
struct Format {
  unsigned exp, man;
  uint32_t most, nan;

  uint32_t bias() const { return (1u << (exp - 1)) - 1; }
  uint32_t magnitude() const { return (1u << (exp + man)) - 1; }
  // e4m3 has numbers where the others have infinity and NaNs.
  bool single_nan() const { return nan == magnitude(); }
  uint32_t special() const { return single_nan() ? nan : ((1u << exp) - 1) << man; }
};

Format format(DType t) {
  switch (t) {
    case DType::f16: return {5, 10, 0x7C00, 0x7E00};
    case DType::f8e4m3: return {4, 3, 0x7E, 0x7F};
    case DType::f8e5m2: return {5, 2, 0x7B, 0x7E};
    default: bug(ir::name(t), " is not converted by its fields");
  }
}

constexpr unsigned f16c_lanes = 8;

}  // namespace

// By vectors of eight; what is shorter is filled up.
Value* Ops::narrow_by_parts(Value* x) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const auto eight = [&](Value* v) {
    llvm::Function* f = compat::intrinsic(&module_, Intrinsic::x86_vcvtps2ph_256, {});
    return b.CreateCall(f, {v, b.getInt32(0)});  // to nearest even, whatever MXCSR says
  };
  if (!vector) {
    Value* wide = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getFloatTy(), f16c_lanes));
    return b.CreateExtractElement(eight(b.CreateInsertElement(wide, x, uint64_t{0})), uint64_t{0});
  }
  if (vector->getNumElements() == f16c_lanes) return eight(x);
  const unsigned half = vector->getNumElements() / 2;
  return join(narrow_by_parts(part(x, 0, half)), narrow_by_parts(part(x, half, half)));
}

Value* Ops::widen_by_parts(Value* x) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  // LLVM has no intrinsic for vcvtph2ps: the extension of eight halves is its name in the IR (clang's _mm256_cvtph_ps),
  // and with F16C it becomes that instruction and nothing else.
  const auto eight = [&](Value* v) {
    Value* halves = b.CreateBitCast(v, llvm::FixedVectorType::get(b.getHalfTy(), f16c_lanes));
    return b.CreateFPExt(halves, llvm::FixedVectorType::get(b.getFloatTy(), f16c_lanes));
  };
  if (!vector) {
    Value* wide = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt16Ty(), f16c_lanes));
    return b.CreateExtractElement(eight(b.CreateInsertElement(wide, x, uint64_t{0})), uint64_t{0});
  }
  if (vector->getNumElements() == f16c_lanes) return eight(x);
  const unsigned half = vector->getNumElements() / 2;
  return join(widen_by_parts(part(x, 0, half)), widen_by_parts(part(x, half, half)));
}

Value* Ops::widen(DType from, Value* x) {
  if (from == DType::f16 && target_.f16c) return widen_by_parts(x);
  Value* v = b.CreateZExt(x, ints_like(x, 32));
  if (from == DType::bf16) return floats_of(b.CreateShl(v, num(v, 16)));
  const Format f = format(from);
  Value* magnitude = b.CreateAnd(v, num(v, f.magnitude()));
  Value* placed = b.CreateShl(magnitude, num(v, 23 - f.man));
  // Rebiased by a multiplication in f32, which also makes subnormals right (exact: a power of two).
  Value* scaled = floats_of(placed);
  scaled = bits_of(b.CreateFMul(scaled, llvm::ConstantFP::get(scaled->getType(), 0x1p127 / (uint64_t{1} << f.bias()))));
  Value* top = b.CreateOr(placed, num(v, f.single_nan() ? 0x7FC00000 : 0x7F800000));
  Value* bits = b.CreateSelect(b.CreateICmpSGE(magnitude, num(v, f.special())), top, scaled);
  Value* sign = b.CreateShl(b.CreateLShr(v, num(v, f.exp + f.man)), num(v, 31));
  return floats_of(b.CreateOr(bits, sign));
}

Value* Ops::narrow(DType to, Value* x, bool canonical) {
  llvm::Type* want = ints_like(x, static_cast<unsigned>(8 * ir::item_size(to)));
  if (to == DType::f16 && target_.f16c) return narrow_by_parts(canonical ? canon(x) : x);
  Value* v = bits_of(x);
  if (to == DType::bf16) {
    Value* near = b.CreateSelect(b.CreateFCmpUNO(x, x), num(v, 0x7FC00000), half_up(v));
    return b.CreateTrunc(b.CreateLShr(near, num(v, 16)), want);
  }
  const Format f = format(to);
  Value* magnitude = b.CreateAnd(v, num(v, 0x7FFFFFFF));
  // Normal: rounding carries into the exponent.
  Value* odd = b.CreateAnd(b.CreateLShr(v, num(v, 23 - f.man)), num(v, 1));
  Value* up = b.CreateAdd(b.CreateAdd(magnitude, num(v, (1u << (22 - f.man)) - 1)), odd);
  Value* normal = b.CreateSub(b.CreateLShr(up, num(v, 23 - f.man)), num(v, (127 - f.bias()) << f.man));
  // Subnormal: adding 2^k makes the hardware round at the right bit.
  Value* magic = num(v, (127 + 23 + 1 - f.bias() - f.man) << 23);
  Value* low = b.CreateSub(bits_of(b.CreateFAdd(floats_of(magnitude), floats_of(magic))), magic);
  Value* most = num(v, f.most);
  Value* high = b.CreateSelect(b.CreateICmpSLT(normal, most), normal, most);
  Value* finite = b.CreateSelect(b.CreateICmpSLT(magnitude, num(v, (128 - f.bias()) << 23)), low, high);
  Value* sign = b.CreateShl(b.CreateLShr(v, num(v, 31)), num(v, f.exp + f.man));
  Value* is_nan = b.CreateICmpSGT(magnitude, num(v, 0x7F800000));
  return b.CreateTrunc(b.CreateSelect(is_nan, num(v, f.nan), b.CreateOr(finite, sign)), want);
}

Value* Ops::rounded(DType to, Value* x) {
  if (to != DType::bf16) return widen(to, narrow(to, x, /*canonical=*/false));
  Value* near = half_up(bits_of(x));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, floats_of(b.CreateAnd(near, num(near, 0xFFFF0000))));
}

// The bits of an f32 plus what makes their upper half the nearest bf16. A NaN's could carry into infinity and beyond.
Value* Ops::half_up(Value* v) {
  Value* odd = b.CreateAnd(b.CreateLShr(v, num(v, 16)), num(v, 1));
  return b.CreateAdd(b.CreateAdd(v, num(v, 0x7FFF)), odd);
}

Value* Ops::narrow_sign(Prim op, Value* x, Value* y) {
  const uint64_t bit = uint64_t{1} << (x->getType()->getScalarSizeInBits() - 1);
  switch (op) {
    case Prim::neg: return b.CreateXor(x, num(x, bit));
    case Prim::abs: return b.CreateAnd(x, num(x, bit - 1));
    case Prim::copysign: return b.CreateOr(b.CreateAnd(x, num(x, bit - 1)), b.CreateAnd(y, num(y, bit)));
    default: bug("no emission of primitive ", static_cast<int>(op), " on floats that are only moved");
  }
}

}  // namespace ingot::jit
