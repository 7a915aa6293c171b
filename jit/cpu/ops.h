// Primitives as LLVM IR. Each takes and gives scalars or fixed vectors alike; the lanes follow from the arguments.
//
// A boolean is an i1, or for vectors also a mask: integers of some width, all ones or all zeros. Masks of the compared
// type's width are what SSE, AVX2 and NEON compute with; vectors of i1 joined by `and` or carried over blocks make LLVM
// pack and unpack them.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "jit/cpu/target.h"
#include "loop/kernel.h"

namespace ingot::jit {

using loop::DType;
using loop::Prim;

class Ops {
 public:
  Ops(llvm::IRBuilder<>& builder, llvm::Module& module, const Target& target)
      : b(builder), module_(module), target_(target) {}

  // The IR type of `lanes` values, 0 for a scalar; boolean is i1.
  llvm::Type* type(DType t, unsigned lanes) const;
  llvm::Constant* literal(DType t, uint64_t bits, unsigned lanes = 0) const;

  // Any primitive but leaves, folds, and `rare`, which is the caller's to branch on. `from` is the type of the first
  // argument (of the second for select).
  llvm::Value* prim(Prim op, DType to, DType from, llvm::Value* x, llvm::Value* y, llvm::Value* z);

  llvm::Value* to_i1(llvm::Value* boolean);
  llvm::Value* to_mask(llvm::Value* boolean, unsigned bits);
  llvm::Value* any(llvm::Value* boolean);  // one i1: true in some lane
  llvm::Value* select(llvm::Value* boolean, llvm::Value* x, llvm::Value* y);

  // A float within the range of an integer type of at most 16 bits, as one.
  llvm::Value* to_small_int(DType to, llvm::Value* x);

  // f32 rounded to a value of a narrow type. A NaN stays one, of whatever bits.
  llvm::Value* rounded(DType to, llvm::Value* x);

  // Calls of intrinsics overloaded on the result's type alone.
  llvm::Value* call(llvm::Intrinsic::ID id, llvm::Value* x);
  llvm::Value* call(llvm::Intrinsic::ID id, llvm::Value* x, llvm::Value* y);
  llvm::Value* fma(llvm::Value* x, llvm::Value* y, llvm::Value* z);

  // Vectors as parts of equal size and back.
  llvm::Value* part(llvm::Value* v, unsigned first, unsigned lanes);
  llvm::Value* join(llvm::Value* low, llvm::Value* high);

  llvm::IRBuilder<>& b;

 private:
  llvm::Value* float_arith(Prim op, llvm::Value* x, llvm::Value* y, llvm::Value* z);
  llvm::Value* float_min_max(bool max, llvm::Value* x, llvm::Value* y);
  llvm::Value* canon(llvm::Value* x);
  llvm::Value* scale2(llvm::Value* x, llvm::Value* n);
  llvm::Value* scale2_any(llvm::Value* x, llvm::Value* n);
  llvm::Value* int_arith(Prim op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* divide(DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* shift(Prim op, DType t, llvm::Value* x, llvm::Value* count);
  llvm::Value* bool_arith(Prim op, llvm::Value* x, llvm::Value* y);
  llvm::Value* compare(Prim op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* convert(DType to, DType from, llvm::Value* x);
  llvm::Value* widen(DType from, llvm::Value* x);
  llvm::Value* narrow(DType to, llvm::Value* x, bool canonical);
  llvm::Value* narrow_by_parts(llvm::Value* x);
  llvm::Value* widen_by_parts(llvm::Value* x);
  llvm::Value* half_up(llvm::Value* v);
  llvm::Value* narrow_sign(Prim op, llvm::Value* x, llvm::Value* y);
  llvm::Value* int_to_float(DType to, DType from, llvm::Value* x);
  llvm::Value* int64_to_f64(bool is_signed, llvm::Value* x);
  llvm::Value* float_to_int(DType to, DType from, llvm::Value* x);
  llvm::Value* f64_to_int64(bool is_signed, llvm::Value* x);
  llvm::Value* f32_to_i32(llvm::Value* x);
  llvm::Function* soft_fma(llvm::Type* element);

  llvm::Type* ints_like(llvm::Value* v, unsigned bits) const;  // as many lanes as v
  llvm::Type* floats_like(llvm::Value* v, unsigned bits) const;
  llvm::Value* bits_of(llvm::Value* v);                    // floats as integers
  llvm::Value* floats_of(llvm::Value* v);                  // and back
  static llvm::Constant* fp(llvm::Value* like, double v);  // of like's type
  static llvm::Constant* num(llvm::Value* like, uint64_t v);

  llvm::Module& module_;
  const Target& target_;
};

}  // namespace ingot::jit
