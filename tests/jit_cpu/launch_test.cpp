// Random kernels compiled and run under the strip driver, against the plain oracle.
#include <doctest/doctest.h>

#include "base/error.h"
#include "random_launch.h"
#include "support.h"

namespace ingot::jit {
namespace {

// What differs for one seed; empty if nothing does.
std::string try_random(test::Shape shape, const std::string& target, uint32_t seed, int64_t elements) {
  test::Bound bound = test::random_launch(seed, shape, elements);
  try {
    const auto body = load(compile(bound.program.kernel, target));
    return test::difference(bound, *body, seed);
  } catch (const NotRecorded&) {
    return {};
  }
}

void check_random(test::Shape shape, uint32_t count, int64_t elements) {
  for (const std::string& target : native_targets())
    for (uint32_t seed = 1; seed <= count; ++seed) {
      const std::string text = try_random(shape, target, seed, elements);
      CAPTURE(target);
      CAPTURE(seed);
      INFO(text);
      CHECK(text.empty());
      if (!text.empty()) return;
    }
}

}  // namespace

TEST_CASE("random pointwise kernels, compiled, give the oracle's bits") {
  check_random(test::Shape::pointwise, 150, 3000);
}
TEST_CASE("random kernels with folds, compiled, give the oracle's bits") {
  check_random(test::Shape::folds, 150, 3000);
}
TEST_CASE("random dot kernels, compiled, give the oracle's bits") { check_random(test::Shape::dot, 100, 3000); }
TEST_CASE("random kernels with lanes along the rows of a fold, compiled, give the oracle's bits") {
  check_random(test::Shape::row_lanes, 150, 3000);
}

}  // namespace ingot::jit
