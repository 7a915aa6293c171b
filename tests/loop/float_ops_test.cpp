#include "loop/float_ops.h"

#include <doctest/doctest.h>

#include "samples.h"

using namespace ingot::loop;

// By hand, from what the samples say they compute.
TEST_CASE("operations are those of the formula") {
  using ingot::ir::DType;
  using List = std::vector<FloatOps>;
  CHECK(float_ops(samples::axpy()) == List{{DType::f32, 1, 5}});  // three products, a sum and a difference
  CHECK(float_ops(samples::dot()) == List{{DType::f64, 1, 1}});   // a multiply-add an item
  // A multiply-add for each of m * n * k, a sum with the bias and a maximum for each of m * n.
  CHECK(float_ops(samples::matmul()) == List{{DType::f32, 0b011, 2}, {DType::f32, 0b111, 1}});
  // Each column: an addition an item, and one division.
  CHECK(float_ops(samples::column_sum()) == List{{DType::f32, 0b01, 1}, {DType::f32, 0b11, 1}});
  CHECK(float_ops(samples::scans()) == List{{DType::f32, 0b11, 5}});
  CHECK(float_ops(samples::spread()).empty());  // integers
}

TEST_CASE("a slow arm does not count") {
  Builder b(1, 0);
  const Val x = samples::load(b, DType::f32, 1);
  const Val slow = x / 3.0 * 5.0 + 1.0;
  samples::store(b, DType::f32, 1, rare(lt(x, 0.0), x * 2.0, slow));
  CHECK(float_ops(b.finish()) == std::vector<FloatOps>{{DType::f32, 1, 1}});
}
