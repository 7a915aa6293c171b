// What a call costs: a warm run of a tiny graph beside an indirect call of a C function and a hand-written loop, and
// how independent calls of two threads go together.
//
// usage: latency [--json FILE]
#include <atomic>
#include <thread>

#include "hand.h"
#include "measure.h"

using namespace bench;

namespace {

constexpr int64_t size = 16;

void calls(ingot_executable* e, Json& json) {
  Array x(size), y(size), z(size), result(size);
  const ingot_tensor* in[] = {&x.tensor, &y.tensor, &z.tensor};
  const ingot_tensor* out[] = {&result.tensor};
  ingot_call* bound;
  check(ingot_call_create(e, &bound));
  check(ingot_call_bind(bound, in, 3, out, 1));
  void (*volatile nothing)(const float*, const float*, const float*, float*, size_t) = poly_nothing;
  void (*volatile plain)(const float*, const float*, const float*, float*, size_t) = poly_plain;
  const auto s =
      alternate({[&] { nothing(x.data, y.data, z.data, result.data, size); },
                 [&] { plain(x.data, y.data, z.data, result.data, size); },
                 [&] { check(ingot_run(e, in, 3, out, 1, nullptr)); }, [&] { check(ingot_call_run(bound, nullptr)); }},
                41, 20000);
  const char* const names[] = {"indirect_call_s", "hand_loop_s", "run_s", "bound_call_s"};
  for (size_t i = 0; i < 4; ++i) json.add(names[i], s[i]);
  const auto ns = [&](size_t i) { return median(s[i]) * 1e9; };
  const auto least = [&](size_t i) { return *std::min_element(s[i].begin(), s[i].end()) * 1e9; };
  std::printf("16 floats, three inputs, median (least) of 41 rounds in turn:\n");
  std::printf("  an indirect call of an empty C function   %6.1f ns (%.1f)\n", ns(0), least(0));
  std::printf("  a hand-written loop through a pointer      %6.1f ns (%.1f)\n", ns(1), least(1));
  std::printf("  ingot_run                                  %6.1f ns (%.1f), goal 100\n", ns(2), least(2));
  std::printf("  ingot_call_run                             %6.1f ns (%.1f), goal 40\n", ns(3), least(3));
  ingot_call_release(bound);
}

// Calls per second of `threads` threads together, each on tensors of its own.
double rate(ingot_executable* e, unsigned threads) {
  constexpr int rounds = 400000;
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&] {
      Array x(size), y(size), z(size), result(size);
      const ingot_tensor* in[] = {&x.tensor, &y.tensor, &z.tensor};
      const ingot_tensor* out[] = {&result.tensor};
      check(ingot_run(e, in, 3, out, 1, nullptr));
      ++ready;
      while (!go) {
      }
      for (int i = 0; i < rounds; ++i) check(ingot_run(e, in, 3, out, 1, nullptr));
    });
  while (ready != threads) {
  }
  const double began = now();
  go = true;
  for (std::thread& t : all) t.join();
  return rounds * threads / (now() - began);
}

void scaling(ingot_executable* e, Json& json) {
  std::vector<double> one, two;
  for (int i = 0; i < 9; ++i) {
    one.push_back(rate(e, 1));
    two.push_back(rate(e, 2));
  }
  json.add("calls_per_s_1_thread", one);
  json.add("calls_per_s_2_threads", two);
  std::printf("independent calls of one executable, two threads against one: %.2f times (goal 1.9)\n",
              median(two) / median(one));
}

}  // namespace

int main(int argc, char** argv) {
  Json json;
  ingot_context* c = context();
  ingot_executable* e = compile(c, poly_text);
  scaling(e, json);
  pin();
  calls(e, json);
  ingot_executable_release(e);
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
