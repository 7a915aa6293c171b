#include "jit/strip/launch.h"

#include <doctest/doctest.h>

#include "jit/interp/interp.h"
#include "random_launch.h"

using namespace ingot;

namespace {

void check_random(test::Shape shape, uint32_t first, uint32_t count, int64_t elements) {
  for (uint32_t seed = first; seed < first + count; ++seed) {
    test::Bound bound = test::random_launch(seed, shape, elements);
    const auto body = jit::interpreter(bound.program);
    const std::string text = test::difference(bound, *body, seed);
    INFO("seed ", seed);
    INFO(text);
    CHECK(text.empty());
    if (!text.empty()) return;
  }
}

}  // namespace

TEST_CASE("random pointwise kernels give the oracle's bits and touch nothing else") {
  check_random(test::Shape::pointwise, 1, 3000, 3000);
}
TEST_CASE("random kernels with folds give the oracle's bits and touch nothing else") {
  check_random(test::Shape::folds, 1, 1500, 3000);
}
TEST_CASE("random dot kernels give the oracle's bits and touch nothing else") {
  check_random(test::Shape::dot, 1, 1000, 3000);
}
TEST_CASE("larger random kernels give the oracle's bits") {
  check_random(test::Shape::pointwise, 100001, 40, 200000);
  check_random(test::Shape::folds, 100001, 40, 100000);
  check_random(test::Shape::dot, 100001, 40, 100000);
}
