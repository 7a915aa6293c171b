// CUDA C++ that copies a tensor between strided places of a device's memory, whatever its rank and type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jit/cuda/launch_plan.h"

namespace ingot::jit::cuda {

// One self-contained translation unit for all copies.
std::string copy_text();
// One for each size of items: 1, 2, 4 and 8 bytes.
std::vector<const char*> copy_entries();

// The one parameter of the entries, struct Args of the text.
struct CopyArgs {
  uint64_t from = 0, to = 0;
  int64_t extent[loop::max_axes] = {}, from_stride[loop::max_axes] = {}, to_stride[loop::max_axes] = {};  // in bytes
  int64_t rank = 0, items = 1;

  // Inwards. Axes that walk both places as one are merged.
  void add_axis(int64_t size, int64_t from_step, int64_t to_step) noexcept;
};

LaunchPlan plan_copy(const CopyArgs& args, size_t item, const DeviceLimits& limits);

}  // namespace ingot::jit::cuda
