// Kernels of the kinds that the planner makes, built by hand: what the tests of loop, and the seed corpus, work on.
#pragma once

#include <string>
#include <vector>

#include "loop/builder.h"
#include "loop/expr.h"

namespace ingot::loop::samples {

Kernel axpy();        // 2a + 3b - c*c over one row axis
Kernel softmax();     // over the last of two axes, f16 in memory
Kernel layer_norm();  // over the last of two axes, with scale and bias
Kernel concat_pad();  // concat(x, y) + pad(z): boxes, fill, inside, iota
Kernel matmul();      // m n k with a bias
Kernel dot();         // of two vectors: no row axis
Kernel column_sum();  // mean of the columns of a bf16 matrix
Kernel spread();      // a row's maximum stored all along the row, and once
Kernel integers();    // every kind of literal and most integer primitives
Kernel scalars();     // no axis at all
Kernel scans();       // a sum and a maximum of what it gives
Kernel gather();      // rows of an f16 table by i64 indices, half a row in

// The same beside a product downwards. Not in all(): there is no CUDA text of it.
Kernel two_way_scans();

struct Sample {
  std::string name;
  Kernel kernel;
};
std::vector<Sample> all();

// A stand-in for exp with the shape of one: dear enough to be held.
Val fake_exp(Val x);

// Helpers of the builders above: a load or store view of a tensor of its own.
Val load(Builder& b, DType storage, AxisSet axes, std::vector<Box> boxes = {}, uint64_t fill = 0);
void store(Builder& b, DType storage, AxisSet axes, Val value);

}  // namespace ingot::loop::samples
