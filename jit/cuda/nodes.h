// Nodes and types as CUDA C++ expressions.
#pragma once

#include <string>

#include "loop/kernel.h"

namespace ingot::jit::cuda {

// "float", "long long", "bool" ...: the type of a value; f16, bf16 and fp8 are their bits.
const char* value_name(ir::DType t);
// The type of an item in memory; bool is a byte.
const char* storage_name(ir::DType t);
// A literal with exactly these bits.
std::string literal(ir::DType t, uint64_t bits);
// A primitive of named arguments; not for leaves, folds and scans. `arg_type` is the type of the first argument.
std::string expression(loop::Prim op, ir::DType type, ir::DType arg_type, const std::string& a, const std::string& b,
                       const std::string& c);

// Helper functions that expressions use, in front of every kernel.
const char* prelude();
// What kernels of rows need.
const char* row_prelude();
// Those that folds other than products need.
const char* fold_prelude();
// Those that scans need.
const char* scan_prelude();
// What checks need.
const char* check_prelude();
// Those that f16, bf16 and fp8 need.
const char* narrow_prelude();

}  // namespace ingot::jit::cuda
