// The rules that builder and verifier share, so that each exists once: which types a primitive takes, and where a NaN
// has to be made canonical.
#pragma once

#include "loop/kernel.h"

namespace ingot::loop {

// boolean, the integers and the floats: the types a node may have.
bool is_value_type(DType t) noexcept;

// f16, bf16 and fp8: values that are bits to be moved. Arithmetic on them is arithmetic on f32 between two conversions.
bool is_narrow(DType t) noexcept;

// All ones in the low bits that a value of this type occupies.
uint64_t bits_mask(DType t) noexcept;

// Whether `bits` is a value of this type, zero-extended: boolean is 0 or 1.
bool fits(DType t, uint64_t bits) noexcept;

// nullptr if a node of this primitive and type may have arguments of types a, b, c (DType::invalid where there is no
// argument); else what is wrong with it. Leaves are not looked at, nor what imm names.
const char* type_fault(Prim op, DType type, DType a, DType b, DType c) noexcept;

// The primitive that joins two results of a fold but fold_dot: of booleans and_ for min, or_ for max.
Prim join_of(Prim fold, DType type) noexcept;

// Whether the lanes may run along the last row axis: it has rows and folds other than fold.dot, of numbers, and neither
// scans nor stores along the cols.
bool may_have_row_lanes(const Kernel& kernel) noexcept;

// Whether a load view may be the same in all lanes of a row: it lacks the last axis of a kernel without cols, whose
// rows are walked along that one if memory lies so. Where it does, bodies are spared a strip of copies (jit/frame.h).
bool may_stand_still(const Kernel& kernel, const View& view) noexcept;

// Whether the node can produce a NaN whose bits the hardware chose.
bool makes_nan(const Kernel& kernel, const Node& node) noexcept;

// Per node: whether the bits of a NaN it yields can be seen (stored, bitcast, or as copysign's sign, directly or moved
// there). Nodes not marked in `live` see nothing. A node that makes_nan() and is seen needs a `canon` right behind it.
std::vector<bool> nan_bits_seen(const Kernel& kernel, const std::vector<bool>& live);

// Per node: whether a store depends on it.
std::vector<bool> live_nodes(const Kernel& kernel);

}  // namespace ingot::loop
