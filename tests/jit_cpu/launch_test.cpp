// Random kernels compiled and run under the strip driver, against the plain oracle.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "loop/expr.h"
#include "oracle.h"
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

// Sums down the columns of a k x 37 matrix of values whose sums round, after `ops` roundings of each.
void check_columns(const std::string& target, int ops) {
  loop::Builder b(1, 1);
  const loop::Val x{b, b.load(b.add_view(load_view(DType::f32, b.add_tensor(), 3)))};
  loop::Val v = x;
  for (int o = 0; o < ops; ++o) v = v * 0.75 + x;
  b.store(b.add_view(store_view(DType::f32, b.add_tensor(), 1)), v.un(Prim::fold_sum).id());
  Program p;
  p.kernel = b.finish();
  p.kernel.row_lanes = true;
  p.schedule = loop::schedule(p.kernel);
  const auto body = load(compile(p.kernel, target));
  test::Random random(5);
  for (const size_t k : {1, 7, 8, 9, 63, 64, 65, 100, 1024, 2049}) {
    const size_t n = 37;
    std::vector<float> matrix(k * n), sums(n);
    for (float& item : matrix) item = std::ldexp(static_cast<float>(random()), -31) - 0.5f;
    ViewArg args[2];
    args[0].base = reinterpret_cast<char*>(matrix.data());
    args[0].stride[0] = sizeof(float), args[0].stride[1] = n * sizeof(float);
    args[1].base = reinterpret_cast<char*>(sums.data());
    args[1].stride[0] = sizeof(float);
    const int64_t sizes[] = {static_cast<int64_t>(n), static_cast<int64_t>(k)};
    Launch launch;
    launch.prepare(p, sizes, args);
    const test::Guarded scratch((launch.scratch_bytes(*body) + 63) / 64 * 64, true, 0);
    Fault fault;
    for (int64_t c = 0; c < launch.chunks(); ++c) launch.run_chunk(*body, c, scratch.data(), fault);
    for (size_t j = 0; j < n; ++j) {
      std::vector<float> column(k);
      for (size_t i = 0; i < k; ++i) {
        const float item = matrix[i * n + j];
        column[i] = item;
        for (int o = 0; o < ops; ++o) column[i] = column[i] * 0.75f + item;
      }
      CAPTURE(target);
      CAPTURE(ops);
      CAPTURE(k);
      CAPTURE(j);
      CHECK(sums[j] == test::ordered_fold(column, false));
    }
  }
}

// The eight steps of a group are written out for few nodes, and go through memory for more.
TEST_CASE("compiled sums down the columns follow the sum order") {
  for (const std::string& target : native_targets())
    for (const int ops : {0, 2, 9}) check_columns(target, ops);
}

}  // namespace ingot::jit
