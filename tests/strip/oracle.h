// A plain scalar evaluation of a kernel over launch arguments: nested loops over the axes, every node at every point,
// loop::eval for the primitives, folds transcribed from NUMERICS.md. Shares nothing with the driver or the schedule.
#pragma once

#include "jit/strip/launch_args.h"
#include "loop/kernel.h"

namespace ingot::test {

// Computes every stored element first and writes them afterwards, so stores may lie on loads.
void oracle(const loop::Kernel& kernel, const int64_t* sizes, const jit::ViewArg* views);

// Float sum and product in the order of NUMERICS.md, T float or double.
template <class T>
T ordered_fold(const std::vector<T>& x, bool product);

}  // namespace ingot::test
