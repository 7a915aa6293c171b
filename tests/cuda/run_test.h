// The kernels whose text print_kernels.cpp writes and run_test.cpp runs.
#pragma once

#include "loop/philox.h"
#include "random_launch.h"
#include "samples.h"

namespace ingot {

constexpr test::Shape cuda_shapes[] = {test::Shape::pointwise, test::Shape::folds, test::Shape::dot,
                                       test::Shape::row_lanes, test::Shape::long_rows};
constexpr uint32_t cuda_seeds(test::Shape shape) { return shape == test::Shape::long_rows ? 8 : 60; }

inline test::Bound cuda_launch(uint32_t seed, test::Shape shape) { return test::random_launch(seed, shape, 3000); }

// The four words of a Philox block, from four of a counter and two of a key.
inline loop::Kernel philox_block() {
  loop::Builder b(1, 0);
  std::vector<loop::Val> in;
  for (int i = 0; i < 6; ++i) in.push_back(loop::samples::load(b, ir::DType::u32, 1));
  for (const loop::Val word : loop::philox4x32({in[0], in[1], in[2], in[3]}, in[4], in[5]))
    loop::samples::store(b, ir::DType::u32, 1, word);
  return b.finish();
}

// x * x - x, which has a form for compact views.
inline loop::Kernel pointwise(ir::DType type) {
  loop::Builder b(1, 0);
  const loop::Val x = loop::samples::load(b, type, 1);
  loop::samples::store(b, type, 1, x * x - x);
  return b.finish();
}
constexpr ir::DType cuda_pointwise[] = {ir::DType::u8, ir::DType::f16, ir::DType::i32, ir::DType::f32, ir::DType::f64};

// A sum or product of all that there is.
inline loop::Kernel whole_fold(loop::Prim fold, ir::DType type) {
  loop::Builder b(0, 1);
  loop::samples::store(b, type, 0, loop::samples::load(b, type, 1).un(fold));
  return b.finish();
}

// Kernels of each kind of thread mapping, to be run over extents at the edges between their forms.
struct Shaped {
  const char* name;
  loop::Kernel kernel;
  std::vector<std::vector<int64_t>> sizes;
};
std::vector<Shaped> shaped_kernels();

}  // namespace ingot
