// CUDA C++ from kernel IR.
#pragma once

#include <string>

#include "loop/kernel.h"

namespace ingot::jit {

// One self-contained translation unit with entry_names() (launch_plan.h), extern "C". `ingot_kernel` takes any extents
// and strides; the others are forms for some of them:
//   ingot_kernel_linear  pointwise: views compact over the same rows, packs of items of 16 bytes or more
//   ingot_kernel_packed  pointwise: packs along the last axis, whose extent is a whole number of them
//   ingot_kernel_warp    rows of at most 1,024 by a warp each
//   ingot_kernel_parts, ingot_kernel_join  few long rows or columns by many blocks, in two stages
//   ingot_kernel_thread  scans in one direction: a thread a row
//   ingot_kernel_tile    matrix products by tiles
// Each takes one parameter by value: struct Args { long long size[S]; struct { char* base; long long value; long long
// stride[A]; } view[V]; Fault* fault; char* scratch; } with S size slots, V views and A axes of the kernel (strides in
// bytes), `fault` only where the kernel checks indices: three 64-bit words, zero before the launch, then as jit::Fault.
// args.h writes it, launch_plan.h says which entry to launch and over how many blocks. All entries take blocks of 256
// threads, and any number of them but where scratch limits it (scans by blocks).
std::string emit_cuda(const loop::Kernel& kernel);

}  // namespace ingot::jit
