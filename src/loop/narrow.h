// f16, bf16 and fp8 around arithmetic, which is f32's: widened in front of it, rounded behind it. A cast rounds once
// from whatever type it starts from.
#pragma once

#include "loop/expr.h"

namespace ingot::loop {

enum class Rounding : bool {
  every_op,   // NUMERICS.md: each op's result is rounded to its dtype
  at_stores,  // relaxed_precision: within a kernel f16 and bf16 stay as f32 computed them; fp8 is rounded always
};

// The f32 value of an f16, bf16 or fp8 value. What was rounded right before is not unpacked again where its f32 value
// is at hand (Rounding::at_stores: nor is it rounded). NaN bits that are seen behind it still need a canon.
Val widen(Val v, Rounding rounding = Rounding::every_op);

// A value of any type rounded once to f16, bf16 or fp8: to nearest even, a NaN becomes the canonical one, fp8
// saturates.
Val narrow(Val v, DType to);

}  // namespace ingot::loop
