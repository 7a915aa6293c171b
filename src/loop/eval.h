// The meaning of each primitive as plain scalar code: the reference that the interpreter and every emitter are tested
// against, one value at a time. Slow on purpose.
#pragma once

#include <cstdint>

#include "loop/kernel.h"

namespace ingot::loop {

// Values travel as their bits, zero-extended to 64 (boolean: 0 or 1). `arg_type` is the type of the first argument
// (of the second for select and rare). Folds, loads, sizes and fetches are not scalar operations: Error internal.
// Expects round-to-nearest with denormals on.
uint64_t eval(Prim prim, DType type, DType arg_type, uint64_t a, uint64_t b = 0, uint64_t c = 0);

}  // namespace ingot::loop
