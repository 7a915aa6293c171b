// The interpreter's table: for each primitive and type a function that computes a whole strip. Built once for the
// baseline of the platform and, on x86-64, once more for AVX2 and FMA; both give the same bits.
#pragma once

#include <cstdint>

#include "loop/kernel.h"

namespace ingot::jit::interp {

// out[i] = op(a[i], b[i], c[i]) for i < n. Bit x of `scalars` says that operand x is a single item for all lanes. Items
// need no alignment; `out` may be an operand's own memory, and overlaps it in no other way. Unused operands are null.
using StripFn = void (*)(int64_t n, char* out, const char* a, const char* b, const char* c, unsigned scalars);

// Folds lanes [0, valid) of `n` (a multiple of 64) at `src` into the eight items at `acc` (Frame::acc, mode cols).
using FoldFn = void (*)(int64_t n, int64_t valid, const char* src, char* acc);

// p[i] = fma(a[i], b[i], p[i]) for i < n (integers: p + a * b).
using ChainFn = void (*)(int64_t n, char* p, const char* a, const char* b, unsigned scalars);

// acc[i] += the chain, from -0 (integers 0), of `k` products whose operands are `a_step` and `b_step` bytes apart.
using DotFn = void (*)(int64_t n, int64_t k, char* acc, const char* a, int64_t a_step, const char* b, int64_t b_step,
                       unsigned scalars);

struct Ops {
  // Every primitive but leaves, bitcast and folds. `arg` is the first argument's type (select, rare: the second's).
  StripFn (*strip)(loop::Prim prim, loop::DType type, loop::DType arg);
  // Copies items of 1, 2, 4 or 8 bytes.
  StripFn (*move)(unsigned size);
  // Memory to value: a boolean byte to 0 or 1. Null where they are the same.
  StripFn (*load)(loop::DType storage);
  FoldFn (*fold)(loop::Prim prim, loop::DType type);
  ChainFn (*chain)(loop::DType type);
  DotFn (*dot)(loop::DType type);
  // acc[i] += p[i].
  StripFn (*accumulate)(loop::DType type);
};

const Ops& ops_baseline();
const Ops& ops_avx2();  // only where the processor has AVX2 and FMA

}  // namespace ingot::jit::interp
