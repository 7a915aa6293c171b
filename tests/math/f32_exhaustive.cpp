// Every f32 input of the named functions (all of them by default) against double libm, and against MPFR where that puts
// the error above 0.95 ULP. Not part of the default tests: minutes of one core for a function.
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
#include "math/emit_c.h"
#include "math/f32_reference.h"

namespace ingot::test {
namespace {

// Errors in ULP for arrays, vectorised with glibc's libmvec where there is one. Not a number or infinite where the case
// is one for MPFR: infinities, overflow, a wrong sign.
std::string error_source(const F32Function& f) {
  std::string text = R"(
#include <stddef.h>
#include <features.h>
#if defined(__x86_64__) && defined(__GLIBC__)
#define SIMD __attribute__((simd("notinbranch")))
#else
#define SIMD
#endif
SIMD double exp(double); SIMD double log(double); SIMD double tanh(double); SIMD double erf(double);
SIMD double erfc(double); double sqrt(double);
void errors(const float* restrict in, const float* restrict got, double* restrict error, long n) {
#pragma omp simd
  for (long i = 0; i < n; ++i) {
    const double x = in[i], y = got[i];
    const double r = )";
  append(text, f.quick);
  text += R"(;
    unsigned long long rb, yb;
    __builtin_memcpy(&rb, &r, 8);
    __builtin_memcpy(&yb, &y, 8);
    unsigned long long e = rb >> 52 & 2047;
    e = e < 1023 - 126 ? 1023 - 126 : e;
    const unsigned long long sb = (2 * 1023 + 23 - e) << 52;  // 1 / ulp(r)
    double scale;
    __builtin_memcpy(&scale, &sb, 8);
    const double difference = __builtin_fabs(y - r) * scale;
    const double sign = (long long)(rb ^ yb) < 0 ? __builtin_inf() : 0;
    error[i] = r != r && y != y ? 0 : difference + sign;
  }
}
)";
  return text;
}

struct Worst {
  double error = -1;
  float x = 0, got = 0;
  uint64_t above_one = 0;
};

double exact_error(const F32Function& f, float x, float got) {
  mpfr_t exact;
  mpfr_init2(exact, 120);
  f.exact(exact, x);
  const double error = ulp_error(got, exact);
  mpfr_clear(exact);
  return error;
}

Worst check(const F32Function& f, const CompiledKernel& kernel, uint64_t from, uint64_t to, uint64_t stride) {
#if defined(__x86_64__) && defined(__GLIBC__)
  const CompiledC code(error_source(f), "-lmvec -lm");
#else
  const CompiledC code(error_source(f), "-lm");
#endif
  const auto errors = reinterpret_cast<void (*)(const float*, const float*, double*, long)>(code.symbol("errors"));
  constexpr size_t block = 4096;
  std::vector<float> in(block), out(block);
  std::vector<double> error(block);
  Worst worst;
  for (uint64_t first = from; first < to; first += block * stride) {
    for (size_t i = 0; i < block; ++i) in[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i * stride));
    const void* arrays[] = {in.data()};
    kernel.run(arrays, out.data(), block);
    errors(in.data(), out.data(), error.data(), block);
    const double limit = std::min(worst.error, 0.95);
    for (size_t i = 0; i < block; ++i) {
      if (error[i] <= limit) continue;  // false for NaN
      const double e = error[i] < 0.95 ? error[i] : exact_error(f, in[i], out[i]);
      worst.above_one += e > 1;
      if (e > worst.error) worst.error = e, worst.x = in[i], worst.got = out[i];
    }
  }
  return worst;
}

int run(int argc, char** argv) {
  uint64_t stride = 1, from = 0, to = uint64_t{1} << 32;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    uint64_t* number = option == "--stride" ? &stride : option == "--from" ? &from : option == "--to" ? &to : nullptr;
    if (number && i + 1 < argc)
      *number = std::strtoull(argv[++i], nullptr, 0);
    else
      names.emplace_back(option);
  }
  std::printf("%-10s %8s %14s %10s %14s %11s %7s %6s %6s\n", "function", "ULP", "at", "bits", "got", "above 1", "s", "prims",
              "ns L1");
  bool good = true;
  for (const F32Function& f : f32_functions()) {
    if (!names.empty() && std::find(names.begin(), names.end(), f.name) == names.end()) continue;
    const auto k = function_kernel(loop::DType::f32, 1, [&](std::span<const loop::Val> x) { return f.expansion(x[0]); });
    const CompiledKernel kernel(k);

    std::vector<float> in(4096), out(4096);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 0.001f * static_cast<float>(i + 1);
    const void* arrays[] = {in.data()};
    double best = 1;
    for (int i = 0; i < 2000; ++i) {
      const auto start = std::chrono::steady_clock::now();
      kernel.run(arrays, out.data(), in.size());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }

    const auto start = std::chrono::steady_clock::now();
    const Worst w = check(f, kernel, from, to, stride);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-10s %8.4f %14.8g 0x%08x %14.8g %11llu %7.1f %6zu %6.3f\n", std::string(f.name).c_str(), w.error,
                static_cast<double>(w.x), std::bit_cast<uint32_t>(w.x), static_cast<double>(w.got),
                static_cast<unsigned long long>(w.above_one), seconds, primitive_count(k), best / 4096 * 1e9);
    std::fflush(stdout);
    good = good && w.error <= 1;
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
