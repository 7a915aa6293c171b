// Random kernels with random places for their views: every type, layouts, boxes, aliasing in place, empty extents.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "guarded.h"
#include "jit/program.h"
#include "jit/strip/launch.h"

namespace ingot::test {

using Random = std::mt19937;

enum class Shape { pointwise, folds, dot, row_lanes, long_rows };

struct Bound {
  jit::Program program;
  std::vector<int64_t> sizes;
  std::vector<jit::ViewArg> args;      // what the driver works on
  std::vector<jit::ViewArg> expected;  // the same with stores to memory of their own, for the oracle
  std::vector<Guarded> memory;         // one a view (empty: in place of another, or no memory)
  std::vector<Guarded> copies;         // of the stores' memory
  std::vector<size_t> in_place;        // per view: the view whose memory it shares, or itself
};

// At most about `elements` points of the iteration space.
Bound random_launch(uint32_t seed, Shape shape, int64_t elements = 6000);

// Runs the oracle on the copies and the driver with `body` on the memory, in random chunk order and on several threads
// if there are many, and says what differs; empty if nothing does.
std::string difference(Bound& bound, const jit::Body& body, uint32_t seed);
std::string difference(Bound& bound, const jit::Body& body, uint32_t seed, jit::Launch& launch);  // with a used launch

}  // namespace ingot::test
