// CUDA C++ from kernel IR.
#pragma once

#include <string>

#include "loop/kernel.h"

namespace ingot::jit {

// One self-contained translation unit with these entries, extern "C":
//   ingot_kernel         any strides and boxes
//   ingot_kernel_linear  only where linear_width() says so (no cols, boxes or iota, all tensors of one item size):
//   every
//                        view compact over the same rows, 16-byte aligned; 16 bytes a thread and view
// Each takes one parameter by value: struct Args { long long size[S]; struct { char* base; long long value; long long
// stride[A]; } view[V]; Fault* fault; char* scratch; } with S size slots, V views and A axes of the kernel (strides in
// bytes), `fault` only where the kernel checks indices: three 64-bit words, zero before the launch, then as jit::Fault.
// args.h writes it, launch_plan.h says which entry to launch and over how many blocks. Pointwise: any grid, 256
// threads; row reductions: a block of 256 threads a row, grid-stride over rows; matrix products: a thread an output.
std::string emit_cuda(const loop::Kernel& kernel);

}  // namespace ingot::jit
