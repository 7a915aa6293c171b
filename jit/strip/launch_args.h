// Where the views of a kernel lie for one launch.
#pragma once

#include <cstdint>

#include "loop/kernel.h"

namespace ingot::jit {

// For load and store views: the address of the element whose axis indices are all 0 (possibly outside the tensor when
// boxes or negative strides say so; it is never touched there) and a stride in bytes for each axis of the kernel, 0 for
// axes the view lacks. For iota: `value` and the increments per axis. For inside: unused.
struct ViewArg {
  char* base = nullptr;
  int64_t value = 0;
  int64_t stride[loop::max_axes] = {};
};

}  // namespace ingot::jit
