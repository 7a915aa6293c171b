// What the sweeps share: a scenario is repeated with the n-th allocation of the library failing, for every n, and each
// of its calls that fails for memory is made again.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "failing.h"
#include "ingot/ingot.h"

namespace ingot::oom {

// How often each destroy callback has been called.
inline int destroyed;
inline void INGOT_CALL count_destroy(void*) { ++destroyed; }

template <class Call>
auto in_library(Call&& call) {
  const Inside inside;
  return call();
}

// Makes a call; where it fails for memory, makes it again without a failure.
template <class Call>
void step(const char* what, Call&& call) {
  ingot_status* status = in_library(call);
  if (!status) return;
  disarm();
  const char* text = nullptr;
  ingot_status_message(status, &text, nullptr);
  INFO(std::string(what), ": ", std::string(text));
  REQUIRE(failed());
  CHECK(ingot_status_code(status) == INGOT_OUT_OF_MEMORY);
  ingot_status_release(status);
  status = call();
  std::string again;
  if (status) {
    ingot_status_message(status, &text, nullptr);
    again = text;
    ingot_status_release(status);
  }
  INFO("again: ", again);
  REQUIRE(again.empty());
}
#define STEP(call) step(#call, [&] { return call; })

struct Handles {
  ingot_context* context = nullptr;
  ingot_graph* graph = nullptr;
  ingot_executable* executable = nullptr;
  ~Handles() { release(); }
  void release() {
    const uint64_t before = counted();
    {
      const Inside inside;
      ingot_executable_release(std::exchange(executable, nullptr));
      ingot_graph_release(std::exchange(graph, nullptr));
      ingot_context_release(std::exchange(context, nullptr));
    }
    CHECK(counted() == before);  // letting go needs no memory
  }
};

struct Tensor {
  Tensor(std::vector<float> v, std::vector<int64_t> s) : values(std::move(v)), shape(std::move(s)) {
    t = {values.data(), {1, 0}, static_cast<int32_t>(shape.size()), {2, 32, 1}, shape.data(), nullptr, 0};
  }
  std::vector<float> values;
  std::vector<int64_t> shape;
  ingot_tensor t;
};

// Whether as many blocks are live as `before`; threads of the compiler may still be letting go of theirs.
inline bool settled(int64_t before) {
  for (int i = 0; i < 200 && live() > before; ++i) usleep(1000);
  return live() <= before;
}

// Runs `scenario` with the n-th allocation failing until it ends without a failure. Returns how many allocations it
// makes. Between two failures `stride` allocations; with all failing from one on, five times that.
inline uint64_t sweep(const std::function<void()>& scenario, uint64_t stride = 1) {
  for (const uint64_t n : {0, 1}) {  // what is made once a process, by the library and by doctest
    arm(n);
    scenario();
    disarm();
  }
  uint64_t most = 0;
  for (const Mode mode : {Mode::once, Mode::from_then_on}) {
    for (uint64_t n = 1;; n += mode == Mode::once ? stride : 5 * stride) {
      bool reached = false, clean = false;
      // A second time, what was made once a process on the way is there: a leak would grow.
      for (int attempt = 0; attempt < 2 && !clean; ++attempt) {
        const int64_t before = live();
        arm(n, mode);
        scenario();
        reached = failed();
        disarm();
        clean = settled(before);
      }
      INFO("allocation ", n, std::string(mode == Mode::once ? " alone" : " and all after it"));
      REQUIRE(clean);
      most = std::max(most, n);
      if (!reached) break;
    }
  }
  return most;
}

inline ingot_context_options quiet() {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.no_threads = 1;
  o.ignore_environment = 1;
  return o;
}

inline constexpr char softmax_text[] =
    "ingot 1.0\n"
    "graph @g(%x: f32[B, N], %s: f32[N]) -> (y: f32[B, N], total: f32[B]) where N >= 1, N % 2 == 0 {\n"
    "  %a = mul %x, %s\n  %b = reshape %a {shape = [B, N/2, 2]}\n  %c = reshape %b {shape = [B, N]}\n"
    "  %y = softmax %c\n  %t = reduce_sum %a {axes = [1]}\n  return %y, %t\n}\n";

// Runs the graph above: rows of equal products, whose softmax is 1 / n.
inline void run_softmax(ingot_executable* e) {
  Tensor x({1, 2, 4, 8, 2, 4, 8, 16}, {2, 4}), s({8, 4, 2, 1}, {4}), y(std::vector<float>(8), {2, 4}),
      t(std::vector<float>(2), {2});
  const ingot_tensor *ins[] = {&x.t, &s.t}, *outs[] = {&y.t, &t.t};
  int64_t dims[4];
  size_t rank = 0;
  uint64_t scratch = 0;
  STEP(ingot_executable_output_shape(e, ins, 2, 0, dims, 4, &rank));
  CHECK(rank == 2);
  CHECK(dims[0] == 2);
  CHECK(dims[1] == 4);
  STEP(ingot_executable_scratch_size(e, ins, 2, &scratch));
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.serial = 1;
  STEP(ingot_run(e, ins, 2, outs, 2, &o));
  for (const float v : y.values) CHECK(v == 0.25f);
  CHECK(t.values == std::vector<float>{32, 64});
}

// Whether there is machine code for an executable of the CPU backend.
inline bool compiles(ingot_executable* e) {
  ingot_status* status = ingot_executable_prepare(e, nullptr, 0, nullptr, nullptr);
  if (!status) return true;
  const ingot_code code = ingot_status_code(status);
  ingot_status_release(status);
  REQUIRE(code == INGOT_UNAVAILABLE);
  MESSAGE("SKIP: no compiler module");
  return false;
}

// A directory of this process alone, safe for a cache.
struct Directory {
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ingot-oom-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace ingot::oom
