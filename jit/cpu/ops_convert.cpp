// Conversions between value types: rounded once from the source, saturating towards integers, NaN to 0.
#include <cmath>

#include "base/error.h"
#include "jit/cpu/llvm_compat.h"
#include "jit/cpu/ops.h"
#include "loop/rules.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace ingot::jit {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {
unsigned bits(DType t) { return static_cast<unsigned>(8 * ir::item_size(t)); }
}  // namespace

Value* Ops::convert(DType to, DType from, Value* x) {
  if (to == from) return x;
  if (loop::is_narrow(from)) return widen(from, x);
  if (loop::is_narrow(to)) return narrow(to, x, /*canonical=*/true);
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  llvm::Type* want = type(to, vector ? vector->getNumElements() : 0);
  if (from == DType::boolean) {
    Value* i1 = to_i1(x);
    if (!ir::is_float(to)) return b.CreateZExt(i1, want);
    llvm::Constant* one = llvm::ConstantFP::get(want, 1.0);
    return b.CreateSelect(i1, one, llvm::Constant::getNullValue(want));
  }
  const bool from_float = ir::is_float(from), to_float = ir::is_float(to);
  if (to == DType::boolean) return from_float ? b.CreateFCmpUNE(x, fp(x, 0.0)) : b.CreateICmpNE(x, num(x, 0));
  if (from_float && to_float) return to == DType::f64 ? b.CreateFPExt(x, want) : b.CreateFPTrunc(x, want);
  if (from_float) return float_to_int(to, from, x);
  if (to_float) return int_to_float(to, from, x);
  return ir::is_signed(from) ? b.CreateSExtOrTrunc(x, want) : b.CreateZExtOrTrunc(x, want);
}

Value* Ops::int_to_float(DType to, DType from, Value* x) {
  const bool s = ir::is_signed(from);
  llvm::Type* want = floats_like(x, bits(to));
  if (bits(from) < 32) {
    llvm::Type* i32 = ints_like(x, 32);
    return b.CreateSIToFP(s ? b.CreateSExt(x, i32) : b.CreateZExt(x, i32), want);
  }
  if (bits(from) == 32) {
    if (s) return b.CreateSIToFP(x, want);
    if (to == DType::f64) {
      // Below 2^52 an integer is the low bits of 2^52 plus it.
      Value* wide = b.CreateZExt(x, ints_like(x, 64));
      return b.CreateFSub(floats_of(b.CreateOr(wide, num(wide, 0x4330000000000000))), fp(floats_of(wide), 0x1p52));
    }
    return convert(DType::f32, DType::f64, int_to_float(DType::f64, from, x));  // f64 holds it exactly
  }
  if (to == DType::f64) return int64_to_f64(s, x);
  // To f32 by way of f64, rounding to odd where f64 cannot hold the value: the lowest 11 bits become one sticky bit,
  // which leaves 53 bits, and f32's 24 are far enough below those for one rounding to be seen.
  Value* low = b.CreateAnd(x, num(x, 0x7FF));
  Value* sticky = b.CreateAnd(b.CreateAdd(low, num(x, 0x7FF)), num(x, 0x800));
  Value* odd = b.CreateOr(b.CreateAnd(x, num(x, ~uint64_t{0x7FF})), sticky);
  Value* small;
  if (s) {
    constexpr uint64_t half = uint64_t{1} << 53;
    small = b.CreateICmpULT(b.CreateAdd(x, num(x, half)), num(x, 2 * half));
  } else {
    small = b.CreateICmpULT(x, num(x, uint64_t{1} << 53));
  }
  return b.CreateFPTrunc(int64_to_f64(s, b.CreateSelect(small, x, odd)), want);
}

// Without an instruction: the halves as the low bits of large powers of two, joined by the only addition that rounds.
Value* Ops::int64_to_f64(bool is_signed, Value* x) {
  llvm::Type* want = floats_like(x, 64);
  if (target_.int64_conv || !x->getType()->isVectorTy())
    return is_signed ? b.CreateSIToFP(x, want) : b.CreateUIToFP(x, want);
  Value* low = b.CreateOr(b.CreateAnd(x, num(x, 0xFFFFFFFF)), num(x, 0x4330000000000000));  // 2^52 + low
  Value* high = b.CreateLShr(x, num(x, 32));
  // Signed, the high half is biased by 2^31 and 2^84 + 2^63 comes off again.
  if (is_signed) high = b.CreateXor(high, num(x, 0x80000000));
  high = b.CreateOr(high, num(x, 0x4530000000000000));  // 2^84 + 2^32 * high
  Value* offset = llvm::ConstantFP::get(want, is_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52);
  return b.CreateFAdd(b.CreateFSub(floats_of(high), offset), floats_of(low));
}

// For values known to lie within i32, or where x86's "indefinite" for the rest is replaced afterwards.
Value* Ops::f32_to_i32(Value* x) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!target_.x86 || !vector || vector->getNumElements() < 4) return nullptr;
  // The intrinsic is defined for every input, fptosi is not, and clamping first costs two more operations.
  const unsigned step = std::min(vector->getNumElements(), target_.register_bytes / 4);
  const auto id = step == 16  ? Intrinsic::x86_avx512_mask_cvttps2dq_512
                  : step == 8 ? Intrinsic::x86_avx_cvtt_ps2dq_256
                              : Intrinsic::x86_sse2_cvttps2dq;
  llvm::Function* f = compat::intrinsic(&module_, id, {});
  llvm::SmallVector<Value*, 8> parts;
  for (unsigned at = 0; at < vector->getNumElements(); at += step) {
    llvm::SmallVector<Value*, 4> args{part(x, at, step)};
    if (step == 16)  // what masked lanes get, none being masked, and the rounding of the instruction itself
      args.append({llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt32Ty(), step)), b.getInt16(0xFFFF),
                   b.getInt32(4)});
    parts.push_back(b.CreateCall(f, args));
  }
  while (parts.size() > 1) {
    for (size_t i = 0; i < parts.size() / 2; ++i) parts[i] = join(parts[2 * i], parts[2 * i + 1]);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

Value* Ops::to_small_int(DType to, Value* x) {
  Value* wide = x->getType()->getScalarSizeInBits() == 32 ? f32_to_i32(x) : nullptr;
  return b.CreateTrunc(wide ? wide : b.CreateFPToSI(x, ints_like(x, 32)), ints_like(x, bits(to)));
}

Value* Ops::float_to_int(DType to, DType from, Value* x) {
  const bool s = ir::is_signed(to);
  const unsigned width = bits(to);
  llvm::Type* want = ints_like(x, width);
  if (!target_.x86 && width >= 32 && (width == bits(from))) {
    // NEON's conversions are the saturating ones.
    const auto id = s ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
    return b.CreateCall(compat::intrinsic(&module_, id, {want, x->getType()}), {x});
  }
  if (from == DType::f32 && to == DType::i32) {
    if (Value* i = f32_to_i32(x)) {
      // Indefinite is MIN, right for what lies below already.
      i = b.CreateSelect(b.CreateFCmpOGE(x, fp(x, 0x1p31)), num(i, 0x7FFFFFFF), i);
      return b.CreateSelect(b.CreateFCmpUNO(x, x), num(i, 0), i);
    }
  }
  if (from == DType::f32 && width >= 32) return float_to_int(to, DType::f64, b.CreateFPExt(x, floats_like(x, 64)));

  // NaN to 0, then into the range of `to`. The greatest 64-bit integers are no f64, so those clamp to the last f64
  // below and the excess is put right at the end.
  const double least = s ? -std::ldexp(1.0, static_cast<int>(width) - 1) : 0.0;
  const double beyond = std::ldexp(1.0, static_cast<int>(width) - (s ? 1 : 0));
  const double most = width == 64 ? std::nextafter(beyond, 0.0) : beyond - 1;
  Value* in = b.CreateSelect(b.CreateFCmpUNO(x, x), fp(x, 0.0), x);
  in = b.CreateSelect(b.CreateFCmpOLT(in, fp(x, least)), fp(x, least), in);
  in = b.CreateSelect(b.CreateFCmpOGT(in, fp(x, most)), fp(x, most), in);
  if (width < 32) return b.CreateTrunc(b.CreateFPToSI(in, ints_like(x, 32)), want);
  if (width == 32) {
    if (s) return b.CreateFPToSI(in, want);
    Value* whole = call(Intrinsic::trunc, in);
    Value* placed = bits_of(b.CreateFAdd(whole, fp(whole, 0x1p52)));
    return b.CreateTrunc(placed, want);
  }
  Value* i = f64_to_int64(s, in);
  const uint64_t top = s ? INT64_MAX : UINT64_MAX;
  return b.CreateSelect(b.CreateFCmpOGE(x, fp(x, beyond)), num(i, top), i);
}

// x within the range of the type. Without an instruction: the two halves of the truncated value, each placed in the
// low bits of a power of two.
Value* Ops::f64_to_int64(bool is_signed, Value* x) {
  llvm::Type* want = ints_like(x, 64);
  if (target_.int64_conv) return is_signed ? b.CreateFPToSI(x, want) : b.CreateFPToUI(x, want);
  Value* whole = call(Intrinsic::trunc, x);
  Value* high = call(Intrinsic::floor, b.CreateFMul(whole, fp(x, 0x1p-32)));
  Value* low = b.CreateFSub(whole, b.CreateFMul(high, fp(x, 0x1p32)));
  Value* high_bits = bits_of(b.CreateFAdd(high, fp(x, 0x1.8p52)));
  Value* low_bits = bits_of(b.CreateFAdd(low, fp(x, 0x1p52)));
  return b.CreateOr(b.CreateShl(high_bits, num(high_bits, 32)), b.CreateAnd(low_bits, num(low_bits, 0xFFFFFFFF)));
}

}  // namespace ingot::jit
