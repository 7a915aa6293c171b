// Transposing squares of items in registers.
#pragma once

#include <cstdint>

namespace ingot::jit {

inline constexpr int64_t square = 8;  // items a side

// The columns of a square of items of `size` bytes at `src`, `src_step` bytes from row to row, become the rows of one
// at `dst`. Nothing is aligned; the two do not overlap.
using TurnSquare = void (*)(char* dst, int64_t dst_step, const char* src, int64_t src_step);

// The fastest for this processor. Thread-safe.
TurnSquare turn_square(unsigned size) noexcept;

}  // namespace ingot::jit
