// The driver's half of a fold: what an accumulator block starts from, how blocks join, and the result (NUMERICS.md,
// "Sum and product"). A block is eight items a_0..a_7 of the fold's type at acc (Frame::acc).
#pragma once

#include <cstdint>

#include "loop/kernel.h"

namespace ingot::jit {

// The identity: sum -0.0 (integers 0), prod 1, min and max the type's largest and smallest (floats: infinities).
void fold_init(loop::Prim fold, loop::DType type, char* acc, int64_t items);
// Joins a block into another, of a fold whose order does not matter.
void fold_join(loop::Prim fold, loop::DType type, char* acc, const char* other);

// The same for a block of eight items in each of `rows` rows, `pitch` bytes from one to the next; and the folds' values
// from the blocks that are left in the end, as bits, zero-extended, at value + r * value_pitch. `n` elements were
// folded in each row: none give +0 for a sum.
void fold_init_rows(loop::Prim fold, loop::DType type, char* acc, size_t pitch, int64_t rows);
void fold_finish_rows(loop::Prim fold, loop::DType type, const char* acc, size_t pitch, int64_t n, char* value,
                      size_t value_pitch, int64_t rows);

// Levels that the stack of a fold over n elements can reach; each is acc_bytes.
unsigned tree_levels(int64_t n);

// Adds block number `block` (0, 1, ...) to the stack at `stack`, which holds the sums of aligned runs of blocks, the
// longest first. Returns how many it holds afterwards.
unsigned tree_push(loop::Prim fold, loop::DType type, char* stack, unsigned depth, int64_t block, const char* acc);
// Joins what the stack holds (at least one) into its first entry.
void tree_close(loop::Prim fold, loop::DType type, char* stack, unsigned depth);

// The same side by side for many lanes: the eight items of all lanes lie as eight runs of `lanes` items, `pitch` bytes
// from one to the next, and a level of the stack is eight such runs; `lanes` is a multiple of 16. lanes_finish() leaves
// the results in the first run.
unsigned lanes_push(loop::Prim fold, loop::DType type, char* stack, unsigned depth, int64_t block, const char* acc,
                    int64_t lanes, int64_t pitch);
void lanes_close(loop::Prim fold, loop::DType type, char* stack, unsigned depth, int64_t lanes, int64_t pitch);
void lanes_finish(loop::Prim fold, loop::DType type, char* acc, int64_t lanes, int64_t pitch, int64_t n);

}  // namespace ingot::jit
