// Scans and random numbers on one thread, beside plain loops: one long cumsum, one over columns, and uniform numbers,
// in and out of cache.
//
// usage: scans [--json FILE]
#include <cstring>

#include "measure.h"

using namespace bench;

namespace {

// One addition after the other, in memory order.
void add_up(const float* x, float* y, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) y[i] = sum += x[i];
}

// Rows added to the row before them.
void add_rows(const float* x, float* y, int64_t rows, int64_t cols) {
  std::memcpy(y, x, static_cast<size_t>(cols) * 4);
  for (int64_t i = cols; i < rows * cols; ++i) y[i] = y[i - cols] + x[i];
}

// Philox4x32-10, the four words of a block together.
void uniform(uint64_t seed, float* y, int64_t n) {
  for (int64_t b = 0; b < n / 4; ++b) {
    uint32_t c0 = static_cast<uint32_t>(b), c1 = static_cast<uint32_t>(static_cast<uint64_t>(b) >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int r = 0; r < 10; ++r) {
      const uint64_t p0 = uint64_t{c0} * 0xD2511F53u, p1 = uint64_t{c2} * 0xCD9E8D57u;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const uint32_t words[] = {c0, c1, c2, c3};
    for (int i = 0; i < 4; ++i) y[4 * b + i] = static_cast<float>(words[i] >> 8) * 0x1p-24f;
  }
}

void show(const char* name, const char* hand, double bytes, int64_t items, const std::vector<std::vector<double>>& s,
          Json& json) {
  const double ours = median(s[0]), theirs = median(s[1]);
  std::printf("%-34s %6.3f ns an item, %5.1f GB/s; %s %6.3f ns; ratio %.2f\n", name,
              ours * 1e9 / static_cast<double>(items), bytes / ours * 1e-9, hand,
              theirs * 1e9 / static_cast<double>(items), ours / theirs);
  json.add(name, s[0]);
  json.add((std::string(name) + ", by hand").c_str(), s[1]);
}

void scan_row(ingot_context* c, int64_t n, const char* name, Json& json) {
  ingot_executable* e = compile(c, "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %y = cumsum %x\n  return %y\n}\n");
  Array x(n), y(n), z(n);
  const ingot_tensor *in[] = {&x.tensor}, *out[] = {&y.tensor};
  const int calls = static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 22) / n));
  const auto s = alternate({[&] { check(ingot_run(e, in, 1, out, 1, nullptr)); }, [&] { add_up(x.data, z.data, n); },
                            [&] { std::memcpy(z.data, x.data, static_cast<size_t>(n) * 4); }},
                           15, calls);
  show(name, "a loop", static_cast<double>(n) * 8, n, s, json);
  show((std::string(name) + " to a copy").c_str(), "memcpy", static_cast<double>(n) * 8, n, {s[0], s[2]}, json);
  ingot_executable_release(e);
}

void scan_columns(ingot_context* c, int64_t rows, int64_t cols, const char* name, Json& json) {
  ingot_executable* e =
      compile(c, "ingot 1.0\ngraph @g(%x: f32[M, N]) -> (f32[M, N]) {\n  %y = cumsum %x {axis = 0}\n  return %y\n}\n");
  Array x(rows * cols), y(rows * cols), z(rows * cols);
  int64_t shape[] = {rows, cols};
  ingot_tensor from = x.tensor, to = y.tensor;
  from.ndim = to.ndim = 2;
  from.shape = to.shape = shape;
  const ingot_tensor *in[] = {&from}, *out[] = {&to};
  const auto s = alternate(
      {[&] { check(ingot_run(e, in, 1, out, 1, nullptr)); }, [&] { add_rows(x.data, z.data, rows, cols); }}, 15, 1);
  show(name, "a loop", static_cast<double>(rows * cols) * 8, rows * cols, s, json);
  ingot_executable_release(e);
}

void numbers(ingot_context* c, int64_t n, const char* op, const char* name, Json& json) {
  const std::string text = std::string("ingot 1.0\ngraph @g(%seed: u64[]) -> (f32[") + std::to_string(n) +
                           "]) {\n  %y = " + op + " %seed {shape = [" + std::to_string(n) + "]}\n  return %y\n}\n";
  ingot_executable* e = compile(c, text);
  Array y(n), z(n);
  uint64_t seed = 42;
  const ingot_tensor scalar{&seed, {1, 0}, 0, {1, 64, 1}, nullptr, nullptr, 0};
  const ingot_tensor *in[] = {&scalar}, *out[] = {&y.tensor};
  const int calls = static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 20) / n));
  const auto s =
      alternate({[&] { check(ingot_run(e, in, 1, out, 1, nullptr)); }, [&] { uniform(seed, z.data, n); }}, 15, calls);
  if (!std::strcmp(op, "random_uniform") && std::memcmp(y.data, z.data, static_cast<size_t>(n) * 4) != 0) {
    std::fprintf(stderr, "scans: the numbers differ\n");
    std::exit(1);
  }
  show(name, "uniform, four words a block", static_cast<double>(n) * 4, n, s, json);
  ingot_executable_release(e);
}

}  // namespace

int main(int argc, char** argv) {
  pin();
  Json json;
  ingot_context* c = context();
  scan_row(c, 4096, "cumsum of 4 Ki f32", json);
  scan_row(c, int64_t{1} << 24, "cumsum of 16 Mi f32", json);
  scan_columns(c, 4096, 4096, "cumsum of 4 Ki x 4 Ki f32, axis 0", json);
  numbers(c, 4096, "random_uniform", "random_uniform, 4 Ki f32", json);
  numbers(c, int64_t{1} << 22, "random_uniform", "random_uniform, 4 Mi f32", json);
  numbers(c, 4096, "random_normal", "random_normal, 4 Ki f32", json);
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
