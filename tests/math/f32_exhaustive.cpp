// Every f32 input of the named functions (all of them by default) against double libm, and against MPFR where that puts
// the error above 0.95 ULP; "doubt" is how far the two are apart, at most, in a sample. Not part of the default tests:
// minutes of one core for a function.
//
//   f32_exhaustive [--stride N] [--from BITS] [--to BITS] [function...]

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "math/f32_check.h"

namespace ingot::test {
namespace {

int run(int argc, char** argv) {
  uint64_t stride = 1, from = 0, to = uint64_t{1} << 32;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    uint64_t* number = option == "--stride" ? &stride : option == "--from" ? &from : option == "--to" ? &to : nullptr;
    if (number && i + 1 < argc) *number = std::strtoull(argv[++i], nullptr, 0);
    else names.emplace_back(option);
  }
  std::printf("%-10s %8s %14s %10s %14s %11s %8s %7s %6s %6s %6s\n", "function", "ULP", "at", "bits", "got", "above 1",
              "doubt", "s", "prims", "fast", "ns L1");
  bool good = true;
  std::vector<float> sample;
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += 42949)
    sample.push_back(std::bit_cast<float>(static_cast<uint32_t>(i)));
  for (const F32Function& f : f32_functions()) {
    if (!names.empty() && std::find(names.begin(), names.end(), f.name) == names.end()) continue;
    F32Checker checker(f);
    std::vector<float> in(4096), out(4096);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 0.001f * static_cast<float>(i + 1);
    const void* arrays[] = {in.data()};
    double best = 1;
    for (int i = 0; i < 2000; ++i) {
      const auto start = std::chrono::steady_clock::now();
      checker.kernel().run(arrays, out.data(), in.size());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }

    const auto start = std::chrono::steady_clock::now();
    Worst w;
    for (uint64_t first = from; first < to; first += in.size() * stride) {
      for (size_t i = 0; i < in.size(); ++i) in[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i * stride));
      checker.check(in, w);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double doubt = checker.doubt(sample);
    std::printf("%-10s %8.4f %14.8g 0x%08x %14.8g %11llu %8.1e %7.1f %6zu %6zu %6.3f\n", std::string(f.name).c_str(),
                w.error, static_cast<double>(w.x), std::bit_cast<uint32_t>(w.x), static_cast<double>(w.got),
                static_cast<unsigned long long>(w.above_one), doubt, seconds, checker.primitives(),
                checker.fast_primitives(), best / 4096 * 1e9);
    std::fflush(stdout);
    good = good && w.error <= 1 && doubt < 1 - F32Checker::usual_filter;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace ingot::test

int main(int argc, char** argv) {
  try {
    return ingot::test::run(argc, argv);
  } catch (const ingot::Error& error) {
    std::fprintf(stderr, "f32_exhaustive: %s\n", error.what());
    return 2;
  }
}
