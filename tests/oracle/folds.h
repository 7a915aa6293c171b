// Reductions and dot products of a run of elements in k order, transcribed from docs/numerics.md.
#pragma once

#include <span>

#include "ir/op.h"

namespace ingot::oracle {

// `code` is that of a reduce op; elements and result as bits.
uint64_t fold(ir::OpCode code, ir::DType type, std::span<const uint64_t> k);

// The sum of products: chains of 256 fused multiply-adds, added left to right; integers wrap.
uint64_t dot(ir::DType type, std::span<const uint64_t> a, std::span<const uint64_t> b);

}  // namespace ingot::oracle
