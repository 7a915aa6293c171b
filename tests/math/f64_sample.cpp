// The worst error of a function's f64 expansion over many inputs, against MPFR. Not part of the default tests.
//
//   f64_sample [--seed N] COUNT [function...]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "math/emit_c.h"
#include "math/f64_reference.h"

namespace ingot::test {
namespace {

// Nanoseconds an element on one core, from arrays that stay in L1.
double speed(const F64Function& f, const F64Runner& run) {
  std::vector<F64Input> inputs;
  for (size_t i = 0; i < 1024; ++i) {
    const double step = static_cast<double>(i + 1) / 1024;
    inputs.push_back({f.ranges[0].lo + (f.ranges[0].hi - f.ranges[0].lo) * step * 0.9, 1 + step});
  }
  double best = 1;
  for (int i = 0; i < 300; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run(inputs);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best / 1024 * 1e9;
}

// False if the bound was passed.
bool sample(const F64Function& f, size_t count, uint64_t seed) {
  const F64Runner run(f);
  double worst = -1, worst_got = 0;
  F64Input at{};
  size_t above_one = 0, wrong = 0;
  constexpr size_t block = 1 << 16;
  for (size_t done = 0; done < count; done += block) {
    const std::vector<F64Input> inputs = f64_inputs(f, std::min(block, count - done), seed + done);
    const std::vector<double> out = run(inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const double error = ulp_error(f, inputs[i], out[i]);
      above_one += error > 1;
      wrong += std::isinf(error);
      if (error > worst) worst = error, at = inputs[i], worst_got = out[i];
    }
  }
  std::printf(
      "%-10s %7.4f ULP at {%a, %a} (%.6g) got %a, %zu samples, %zu above 1, %zu wrong, %zu primitives, %.2f ns\n",
      std::string(f.name).c_str(), worst, at.x, at.y, at.x, worst_got, count, above_one, wrong,
      primitive_count(run.kernel()), speed(f, run));
  std::fflush(stdout);
  return worst <= f.bound;
}

int main(int argc, char** argv) {
  uint64_t seed = 1;
  size_t count = 0;
  std::vector<std::string_view> names;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--seed" && i + 1 < argc) seed = std::strtoull(argv[++i], nullptr, 0);
    else if (count == 0) count = std::strtoull(argv[i], nullptr, 0);
    else names.emplace_back(argv[i]);
  }
  if (count == 0) {
    std::fputs("usage: f64_sample [--seed N] COUNT [function...]\n", stderr);
    return 2;
  }
  bool good = true;
  for (const F64Function& f : f64_functions())
    if (names.empty() || std::find(names.begin(), names.end(), f.name) != names.end())
      good = sample(f, count, seed) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace ingot::test

int main(int argc, char** argv) {
  try {
    return ingot::test::main(argc, argv);
  } catch (const ingot::Error& error) {
    std::fprintf(stderr, "f64_sample: %s\n", error.what());
    return 2;
  }
}
