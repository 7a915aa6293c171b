// The f64 functions as expansions into primitives, written once for every backend. Each takes values of type f64 and
// returns one. Special values (NaN, infinities, signed zeros, overflow, denormal results) are those of C Annex F.
//
// The ULP stated is the bound each is held to (NUMERICS.md); tests/math/f64_sample prints what samples reach, and the
// coefficients come from the scripts of the same name in tools/coefficients.
#pragma once

#include "loop/expr.h"

namespace ingot::loop::math::f64 {

// e^x. 1 ULP.
Val exp(Val x);

// Natural logarithm. 1 ULP. log(-0) = log(0) = -inf, NaN below.
Val log(Val x);

}  // namespace ingot::loop::math::f64
