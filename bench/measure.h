// What the benchmark programs share: timing in turns, samples as JSON, arrays, and graphs compiled through the C ABI.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ingot/ingot.h"

namespace bench {

// One thread on one processor from here on.
inline void pin() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void check(ingot_status* s) {
  if (!s) return;
  const char* text;
  ingot_status_message(s, &text, nullptr);
  std::fprintf(stderr, "benchmark: %s\n", text);
  std::exit(1);
}

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Time per call of each contestant, in turn, `rounds` times.
inline std::vector<std::vector<double>> alternate(const std::vector<std::function<void()>>& contestants, int rounds,
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
  // Writes {"schema": 1, NAME: [seconds, ...], ...}; `path` may be null.
  void write(const char* path) const {
    if (!path) return;
    FILE* f = std::fopen(path, "w");
    if (!f) {
      std::perror(path);
      std::exit(1);
    }
    std::fprintf(f, "%s}\n", text.c_str());
    std::fclose(f);
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

inline constexpr const char* poly_text = R"(ingot 1.0
graph @poly(%a: f32[N], %b: f32[N], %c: f32[N]) -> (f32[N]) {
  %0 = mul %a, 2.0
  %1 = mul %b, 3.0
  %2 = add %0, %1
  %3 = mul %c, %c
  %4 = sub %2, %3
  return %4
}
)";

inline ingot_executable* compile(ingot_context* context, const std::string& text) {
  ingot_graph* graph;
  check(ingot_graph_parse(context, text.c_str(), text.size(), &graph));
  ingot_executable* e;
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = INGOT_BACKEND_CPU;
  check(ingot_compile(context, graph, &o, &e));
  ingot_graph_release(graph);
  return e;
}

inline ingot_context* context() {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.num_threads = 1;
  ingot_context* c;
  check(ingot_context_create(&o, &c));
  return c;
}

// FILE of `--json FILE`, or null.
inline const char* json_path(int argc, char** argv) {
  return argc > 2 && std::string(argv[1]) == "--json" ? argv[2] : nullptr;
}

}  // namespace bench
