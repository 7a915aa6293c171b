// Copies between strided places of device memory, as a kernel.
#pragma once

#include "loop/kernel.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

// Copies items of so many bytes (1, 2, 4 or 8) over as many rows as the rank, one where that is 0: view 0 is read, view
// 1 stored.
loop::Kernel copy_kernel(uint32_t rank, size_t item);

// The sizes and views of a launch of it; the places have equal extents.
struct CopyLaunch {
  CopyLaunch(const Place& from, const Place& to);
  int64_t sizes[loop::max_axes];
  jit::ViewArg views[2];
};

}  // namespace ingot::runtime
