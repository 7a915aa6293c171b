// The figures of docs/benchmarks.md on speed and compile time: prints one line per figure with the ratio or time and
// its limit, and writes the raw samples.
//
// usage: figures [--json FILE]       `figures --first-kernel` is the child that measures a process's first kernel
#include <cstring>

#include "hand.h"
#include "measure.h"

using namespace bench;

namespace {

// About 30 pointwise ops; the constants make each kernel another one.
std::string chain_text(int variant) {
  std::string text = "ingot 1.0\ngraph @chain(%a: f32[N], %b: f32[N]) -> (f32[N]) {\n  %v0 = add %a, %b\n";
  for (int i = 0; i < 29; ++i) {
    char line[120];
    static constexpr const char* ops[] = {"mul", "add", "sub", "max", "min"};
    std::snprintf(line, sizeof line, "  %%v%d = %s %%v%d, %s\n", i + 1, ops[i % 5], i,
                  i % 3 == 0 ? "%b" : (std::to_string(variant + i) + ".5").c_str());
    text += line;
  }
  return text + "  return %v29\n}\n";
}

void memory_bound(ingot_context* c, Json& json) {
  constexpr int64_t n = int64_t{1} << 22;
  Array x(n), y(n), z(n), ours(n), hand(n);
  ingot_executable* e = compile(c, poly_text);
  const ingot_tensor* in[] = {&x.tensor, &y.tensor, &z.tensor};
  const ingot_tensor* out[] = {&ours.tensor};
  check(ingot_run(e, in, 3, out, 1, nullptr));
  bench::poly_avx2(x.data, y.data, z.data, hand.data, n, true);
  if (std::memcmp(ours.data, hand.data, n * 4) != 0) {
    std::fprintf(stderr, "figures: poly differs from the hand-written loop\n");
    std::exit(1);
  }
  const auto s = alternate({[&] { check(ingot_run(e, in, 3, out, 1, nullptr)); },
                            [&] { bench::poly_avx2(x.data, y.data, z.data, hand.data, n, true); },
                            [&] { bench::poly_avx2(x.data, y.data, z.data, hand.data, n, false); }},
                           31, 3);
  json.add("poly_ingot_s", s[0]);
  json.add("poly_hand_stream_s", s[1]);
  json.add("poly_hand_store_s", s[2]);
  const double ingot = median(s[0]), best = std::min(median(s[1]), median(s[2]));
  std::printf(
      "poly, 4M f32, one thread: ingot %.3f ms, hand-written %.3f ms (non-temporal), %.3f ms (ordinary stores)\n",
      ingot * 1e3, median(s[1]) * 1e3, median(s[2]) * 1e3);
  std::printf("  speed against the better hand-written loop: %.2f (goal 0.90)\n", best / ingot);
  ingot_executable_release(e);
}

void later_kernels(ingot_context* c, Json& json) {
  // The first loads the module and is not counted.
  ingot_executable_release([&] {
    ingot_executable* e = compile(c, chain_text(1000));
    check(ingot_executable_prepare(e, nullptr, 0, nullptr, nullptr));
    return e;
  }());
  std::vector<double> samples;
  for (int i = 0; i < 21; ++i) {
    ingot_executable* e = compile(c, chain_text(i * 100));
    const double began = now();
    check(ingot_executable_prepare(e, nullptr, 0, nullptr, nullptr));
    samples.push_back(now() - began);
    ingot_executable_release(e);
  }
  json.add("later_kernel_s", samples);
  std::printf("a later kernel of 30 ops, compiled, linked and callable: %.2f ms (goal 5)\n", median(samples) * 1e3);
}

void first_kernel(const char* self, Json& json) {
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) {
    FILE* child = popen((std::string(self) + " --first-kernel").c_str(), "r");
    double ms = 0;
    if (!child || std::fscanf(child, "%lf", &ms) != 1) {
      std::fprintf(stderr, "figures: the child process failed\n");
      std::exit(1);
    }
    pclose(child);
    samples.push_back(ms * 1e-3);
  }
  json.add("first_kernel_s", samples);
  std::printf("the first kernel of a process, module loading included: %.2f ms (goal 20)\n", median(samples) * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  pin();
  if (argc > 1 && std::strcmp(argv[1], "--first-kernel") == 0) {
    ingot_context* c = context();
    ingot_executable* e = compile(c, chain_text(0));
    const double began = now();
    check(ingot_executable_prepare(e, nullptr, 0, nullptr, nullptr));
    std::printf("%.6f\n", (now() - began) * 1e3);
    return 0;
  }
  Json json;
  ingot_context* c = context();
  memory_bound(c, json);
  first_kernel(argv[0], json);
  later_kernels(c, json);
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
