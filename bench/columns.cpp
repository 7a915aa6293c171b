// Sums over the first dim of a matrix, and mean with variance over it, beside loops written by hand that add row after
// row to the result (compiled at -O3 for AVX2; another order of summation, so that results are compared roughly).
//
// usage: columns [--json FILE]
#include <algorithm>
#include <cmath>

#include "measure.h"

using namespace bench;

namespace {

constexpr char sum_text[] = R"(ingot 1.0
graph @sum(%x: f32[M, N]) -> (f32[N]) {
  %0 = reduce_sum %x {axes = [0]}
  return %0
}
)";
constexpr char variance_text[] = R"(ingot 1.0
graph @variance(%x: f32[M, N]) -> (f32[N]) {
  %0 = reduce_var %x {axes = [0]}
  return %0
}
)";

__attribute__((noinline)) void add_rows(const float* x, float* y, int64_t m, int64_t n) {
  std::fill(y, y + n, 0.0f);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) y[j] += x[i * n + j];
}

__attribute__((noinline)) void variances(const float* x, float* mean, float* y, int64_t m, int64_t n) {
  add_rows(x, mean, m, n);
  for (int64_t j = 0; j < n; ++j) mean[j] /= static_cast<float>(m);
  std::fill(y, y + n, 0.0f);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const float d = x[i * n + j] - mean[j];
      y[j] += d * d;
    }
  for (int64_t j = 0; j < n; ++j) y[j] /= static_cast<float>(m);
}

void compare(const char* what, ingot_executable* e, int64_t m, int64_t n, bool variance, Json& json) {
  Array x(m * n), mine(n), by_hand(n), mean(n);
  for (int64_t i = 0; i < m * n; ++i) x.data[i] = static_cast<float>(i % 1013) / 1013;
  int64_t shape[] = {m, n};
  ingot_tensor t = x.tensor;
  t.ndim = 2;
  t.shape = shape;
  const ingot_tensor *in[] = {&t}, *outs[] = {&mine.tensor};
  const auto hand = [&] {
    if (variance) variances(x.data, mean.data, by_hand.data, m, n);
    else add_rows(x.data, by_hand.data, m, n);
  };
  const int calls = static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 20) / (m * n)));
  const auto s = alternate({[&] { check(ingot_run(e, in, 1, outs, 1, nullptr)); }, hand}, 31, calls);
  for (int64_t j = 0; j < n; ++j)
    if (!(std::abs(mine.data[j] - by_hand.data[j]) <= 1e-3f * std::abs(by_hand.data[j]))) {
      std::fprintf(stderr, "columns: the results differ\n");
      std::exit(1);
    }
  char name[80];
  std::snprintf(name, sizeof name, "%s of %lld x %lld", what, static_cast<long long>(m), static_cast<long long>(n));
  json.add((std::string(name) + " ingot").c_str(), s[0]);
  json.add((std::string(name) + " by hand").c_str(), s[1]);
  const double each = 1e9 / static_cast<double>(m * n);
  std::printf("%-26s ingot %.3f ns an element, by hand %.3f: %.2f times its speed\n", name, median(s[0]) * each,
              median(s[1]) * each, median(s[1]) / median(s[0]));
}

}  // namespace

int main(int argc, char** argv) {
  pin();
  Json json;
  ingot_context* c = context();
  for (const bool variance : {false, true}) {
    ingot_executable* e = compile(c, variance ? variance_text : sum_text);
    const int64_t shapes[][2] = {{256, 256}, {64, 4096}, {16384, 1024}, {262144, 64}, {1 << 20, 16}};
    for (const auto& [m, n] : shapes) compare(variance ? "variance" : "sum", e, m, n, variance, json);
    ingot_executable_release(e);
  }
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
