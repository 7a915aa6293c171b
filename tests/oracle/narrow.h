// f16, bf16 and the fp8 formats by their definition, in arithmetic wide enough for every source of a cast to be exact.
#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace ingot::oracle {

inline bool is_narrow(ir::DType t) { return ir::is_float(t) && t != ir::DType::f32 && t != ir::DType::f64; }

// 113 bits: every f64 and every 64-bit integer.
__extension__ using Exact = __float128;

// The value of a narrow float's bits.
double narrow_value(ir::DType t, uint64_t bits);

// The nearest value's bits, of two equally near the one with an even last bit; of a NaN the canonical one.
uint64_t narrow_bits(ir::DType t, Exact v);

uint64_t narrow_nan(ir::DType t);

}  // namespace ingot::oracle
