// Single elements as bits, zero-extended to 64.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/dtype.h"

namespace ingot::ir {

// A float dtype's bits for v, rounded once to nearest even. fp8 saturates (docs/numerics.md); NaN is the positive quiet
// one with zero payload. Independent of the caller's rounding mode.
uint64_t float_bits(DType type, double v);

// The value of a float dtype's bits; exact.
double float_value(DType type, uint64_t bits);

// An integer's or bool's bits; nothing if v is not one of its values.
std::optional<uint64_t> integer_bits(DType type, bool negative, uint64_t magnitude);

// Sign-extended for the signed types; of u64 the bits as they are.
int64_t integer_value(DType type, uint64_t bits);

// The bits of the positive quiet NaN with zero payload.
uint64_t canonical_nan(DType type);

}  // namespace ingot::ir
