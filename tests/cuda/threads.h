// A stand-in for a GPU's threads, for generated text that the host's compiler has compiled: the 256 threads of a block
// are contexts that take turns, from barrier to barrier or exchange to exchange.
#pragma once

#include <functional>

#include "jit/cuda/launch_plan.h"

namespace cuda_text {

struct Index {
  unsigned x;
};
extern Index threadIdx, blockIdx, gridDim;

// Runs `body` by every thread of every block of a stage.
void run_stage(const ingot::jit::cuda::Stage& stage, const std::function<void()>& body);

// All threads of the block that have not ended, and those of the caller's warp.
void block_barrier();
void warp_barrier();

// The word that a lane of the caller's warp holds.
unsigned long long exchange(unsigned long long word, unsigned lane);

}  // namespace cuda_text
