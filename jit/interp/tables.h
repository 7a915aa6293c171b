// The parts of one instruction set's table. INGOT_ISA is the namespace of the set that the file is compiled for.
#pragma once

#include "jit/interp/ops.h"

namespace ingot::jit::interp::INGOT_ISA {

StripFn float_strip(loop::Prim prim, loop::DType type);
ChainFn float_chain(loop::DType type);
DotFn float_dot(loop::DType type);

StripFn int_strip(loop::Prim prim, loop::DType type);  // boolean included
ChainFn int_chain(loop::DType type);
DotFn int_dot(loop::DType type);

StripFn sign_strip(loop::Prim prim, unsigned size);  // neg, abs and copysign of f16, bf16 and fp8

StripFn convert_strip(loop::DType to, loop::DType from);

StripFn select_strip(unsigned size, bool rare);
StripFn move_strip(unsigned size);
StripFn load_strip(loop::DType storage);

FoldFn fold(loop::Prim prim, loop::DType type);

}  // namespace ingot::jit::interp::INGOT_ISA
