// Random expressions of f32 and i32 with folds, moves and several stores: kernels nobody thought of.
#pragma once

#include <random>

#include "samples.h"

namespace ingot::loop::samples {

struct RandomOptions {
  uint8_t rows = 2;
  uint8_t cols = 1;  // 0: no folds either
  int ops = 40;
  bool dead_nodes = false;  // the same kernel, among nodes that no store needs
};

// Unfinished: `values` are what the stores write, in their order. The same seed and options make the same kernel.
struct RandomKernel {
  Builder builder;
  std::vector<NodeId> values;
};
RandomKernel random_kernel(uint32_t seed, const RandomOptions& options = {});

}  // namespace ingot::loop::samples
