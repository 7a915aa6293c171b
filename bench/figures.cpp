// The figures of docs/benchmarks.md: prints one line per figure with the ratio or time and its limit, and writes the
// raw samples.
//
// usage: figures [--json FILE]       `figures --first-kernel` is the child that measures a process's first kernel
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "hand.h"
#include "ingot/ingot.h"

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void check(ingot_status* s) {
  if (!s) return;
  const char* text;
  ingot_status_message(s, &text, nullptr);
  std::fprintf(stderr, "figures: %s\n", text);
  std::exit(1);
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Time per call of each contestant, in turn, `rounds` times.
std::vector<std::vector<double>> alternate(const std::vector<std::function<void()>>& contestants, int rounds,
                                           int calls) {
  std::vector<std::vector<double>> samples(contestants.size());
  for (const auto& c : contestants) c();
  for (int r = 0; r < rounds; ++r)
    for (size_t i = 0; i < contestants.size(); ++i) {
      const double began = now();
      for (int k = 0; k < calls; ++k) contestants[i]();
      samples[i].push_back((now() - began) / calls);
    }
  return samples;
}

struct Json {
  std::string text = "{\"schema\": 1";
  void add(const char* name, const std::vector<double>& samples) {
    text += std::string(", \"") + name + "\": [";
    for (size_t i = 0; i < samples.size(); ++i) {
      char number[40];
      std::snprintf(number, sizeof number, "%s%.9g", i ? ", " : "", samples[i]);
      text += number;
    }
    text += "]";
  }
};

struct Array {
  float* data;
  int64_t shape[1];
  ingot_tensor tensor;
  explicit Array(int64_t n)
      : data(static_cast<float*>(std::aligned_alloc(4096, (static_cast<size_t>(n) * 4 + 4095) / 4096 * 4096))),
        shape{n} {
    for (int64_t i = 0; i < n; ++i) data[i] = static_cast<float>((i * 2654435761u >> 8 & 0xffff)) / 65536.0f - 0.25f;
    tensor = {data, {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0};
  }
  ~Array() { std::free(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
};

constexpr const char* poly_text = R"(ingot 1.0
graph @poly(%a: f32[N], %b: f32[N], %c: f32[N]) -> (f32[N]) {
  %0 = mul %a, 2.0
  %1 = mul %b, 3.0
  %2 = add %0, %1
  %3 = mul %c, %c
  %4 = sub %2, %3
  return %4
}
)";

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

ingot_executable* compile(ingot_context* context, const std::string& text) {
  ingot_graph* graph;
  check(ingot_graph_parse(context, text.c_str(), text.size(), &graph));
  ingot_executable* e;
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = INGOT_BACKEND_CPU;
  check(ingot_compile(context, graph, &o, &e));
  ingot_graph_release(graph);
  return e;
}

ingot_context* context() {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.num_threads = 1;
  ingot_context* c;
  check(ingot_context_create(&o, &c));
  return c;
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

void warm_call(ingot_context* c, Json& json) {
  Array x(16), y(16), z(16), out_array(16);
  ingot_executable* e = compile(c, poly_text);
  const ingot_tensor* in[] = {&x.tensor, &y.tensor, &z.tensor};
  const ingot_tensor* out[] = {&out_array.tensor};
  void (*volatile plain)(const float*, const float*, const float*, float*, size_t) = bench::poly_plain;
  const auto s = alternate({[&] { check(ingot_run(e, in, 3, out, 1, nullptr)); },
                            [&] { plain(x.data, y.data, z.data, out_array.data, 16); }},
                           31, 20000);
  json.add("warm_call_s", s[0]);
  json.add("indirect_call_s", s[1]);
  std::printf(
      "a warm call on 16 floats, three inputs: %.0f ns (goal 300); the loop itself through a function pointer: %.0f "
      "ns\n",
      median(s[0]) * 1e9, median(s[1]) * 1e9);
  ingot_executable_release(e);
}

}  // namespace

int main(int argc, char** argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
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
  warm_call(c, json);
  ingot_context_release(c);
  if (argc > 2 && std::strcmp(argv[1], "--json") == 0) {
    FILE* f = std::fopen(argv[2], "w");
    if (!f) return 1;
    std::fprintf(f, "%s}\n", json.text.c_str());
    std::fclose(f);
  }
  return 0;
}
