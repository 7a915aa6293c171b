// How the text of a kernel is launched: which of its entries, over how many blocks, by the extents, strides and
// addresses at hand. Plain arithmetic on the host; no choice changes a bit of the result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/strip/launch_args.h"
#include "loop/kernel.h"

namespace ingot::jit::cuda {

// The entries that emit_cuda() gives a kernel, in the order of the text.
std::vector<const char*> entry_names(const loop::Kernel& kernel);

struct DeviceLimits {
  uint32_t multiprocessors = 1;
};

// One launch of a one-dimensional grid.
struct Stage {
  uint32_t entry;  // index into entry_names()
  uint32_t blocks, threads;
};

// Stages run one after the other on a stream. None where there is nothing to compute.
struct LaunchPlan {
  std::array<Stage, 4> stages;
  uint32_t count = 0;
  size_t scratch_bytes = 0;  // device memory that the stages share, 256-byte aligned, contents undefined before
};

// `sizes` has one value per size slot of the kernel, `views` one per view.
LaunchPlan plan_launch(const loop::Kernel& kernel, const int64_t* sizes, const ViewArg* views,
                       const DeviceLimits& limits);

// Items a thread takes in the entry for compact views, in that for packs along the last axis; 0 where the kernel has no
// such entry (emit.h).
size_t linear_width(const loop::Kernel& kernel);
size_t packed_width(const loop::Kernel& kernel);
// Whether the packed entry takes a view's items together: memory that varies along the last axis, without boxes.
bool in_packs(const loop::Kernel& kernel, const loop::View& view);

}  // namespace ingot::jit::cuda
