// Random numbers as primitives over the index of an element: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC11), keyed by the seed, its counter the block of the index and the stream.
#pragma once

#include <array>

#include "loop/expr.h"

namespace ingot::loop {

// The block of words at a counter, given by its four words, under a key of two; all u32.
std::array<Val, 4> philox4x32(std::array<Val, 4> counter, Val key0, Val key1);

// What an element's value depends on, beside its dtype.
struct RandomPlace {
  Val seed;    // i64 or u64
  Val stream;  // i64
  Val index;   // i64, row-major in the op's result
};

// Of docs/numerics.md, "Random", for a dtype of the op's: words for random_bits, [0, 1) for random_uniform,
// standard normal for random_normal.
Val random_bits(const RandomPlace& at, DType type);
Val random_uniform(const RandomPlace& at, DType type);
Val random_normal(const RandomPlace& at, DType type);

}  // namespace ingot::loop
