// The floating-point environment: the library computes under its own whatever the host's is, gives the host's back to
// the bit, and calls the host back under the host's.
#include <xmmintrin.h>

#include <bit>

#include "host.h"

using namespace ingot::hosts;

namespace {

// Plain numbers, so that they can be compared while floating-point traps are on.
struct Env {
  uint32_t mxcsr;
  uint16_t x87;
  bool operator==(const Env&) const = default;
};

Env now() {
  Env e{_mm_getcsr(), 0};
  asm volatile("fnstcw %0" : "=m"(e.x87));
  return e;
}
void set(Env e) {
  asm volatile("fnclex\n\tfldcw %0" ::"m"(e.x87));
  _mm_setcsr(e.mxcsr);
}

constexpr Env usual{0x1f80, 0x037f};
constexpr Env hostile[] = {
    {0x1f80 | 0x4000, 0x0b7f},  // FE_UPWARD
    {0x1f80 | 0x2000, 0x077f},  // FE_DOWNWARD
    {0x1f80 | 0x6000, 0x0f7f},  // FE_TOWARDZERO
    {0x1f80 | 0x8040, 0x037f},  // FTZ and DAZ
    {0x0000, 0x0340},           // all traps on
    {0x8040 | 0x4000, 0x0840},  // everything at once, x87 in single precision
    {0x1f80 | 0x003f, 0x037f},  // sticky flags alone
};

struct Seen {
  Env host{};
  int calls[7] = {};
  int wrong[7] = {};
  void note(int which) {
    ++calls[which];
    if (now() != host) ++wrong[which];
  }
};
enum { log_call, get_call, put_call, parallel_call, task_end, destroy_call, constant_destroy };

void INGOT_CALL on_log(void* user, ingot_log_level, const char*, size_t) { static_cast<Seen*>(user)->note(log_call); }
int32_t INGOT_CALL on_get(void* user, const char*, size_t, void (*)(void*, const void*, size_t), void*) {
  static_cast<Seen*>(user)->note(get_call);
  return 0;
}
int32_t INGOT_CALL on_put(void* user, const char*, size_t, const void*, size_t) {
  static_cast<Seen*>(user)->note(put_call);
  return 1;
}
void INGOT_CALL on_parallel(void* user, uint32_t tasks, void (*task)(void*, uint32_t), void* context) {
  auto& seen = *static_cast<Seen*>(user);
  seen.note(parallel_call);
  for (uint32_t i = 0; i < tasks; ++i) {
    task(context, i);
    seen.note(task_end);
  }
}
void INGOT_CALL on_destroy(void* user) { static_cast<Seen*>(user)->note(destroy_call); }
void INGOT_CALL on_constant_destroy(void* user) { static_cast<Seen*>(user)->note(constant_destroy); }

// Denormals, quotients that are inexact, overflow and division by zero, literals that have to be rounded.
constexpr char text[] =
    "ingot 1.0\ngraph @g(%x: f32[M, N], %y: f32[M, N]) -> (f32[M, N], f32[M, N], f32[M, N], f32[M]) {\n"
    "  %0 = div %x, %y\n  %1 = mul %x, 0.1\n  %2 = exp %x\n  %3 = reduce_sum %1 {axes = [1]}\n  return %0, %1, %2, "
    "%3\n}\n";
constexpr int64_t rows = 400, items = rows * 500;

// A life of a context under `env`: which calls failed, and whether the environment was ever left changed.
struct Life {
  int failures = 0, changed = 0;
  std::vector<uint32_t> bits = std::vector<uint32_t>(3 * items + rows);
};

void live(Env env, ingot_backend backend, Seen& seen, Life& life) {
  std::vector<uint32_t> x(items), y(items);
  for (uint32_t i = 0; i < items; ++i) {
    x[i] = i % 5 == 0 ? i + 1 : 0x3f800000u + i * 977;  // denormals among the normal
    y[i] = i % 7 == 0 ? 0 : 0x40400000u + i;
  }
  int64_t shape[] = {rows, items / rows}, three[] = {3};
  uint32_t constant_data[] = {1, 2, 3};
  ingot_tensor t[6];
  for (auto& tensor : t) tensor = {nullptr, {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
  t[0].data = x.data(), t[1].data = y.data();
  for (size_t i = 0; i < 4; ++i) t[2 + i].data = life.bits.data() + items * i;
  t[5].ndim = 1;
  const ingot_tensor *ins[] = {&t[0], &t[1]}, *outs[] = {&t[2], &t[3], &t[4], &t[5]};
  ingot_tensor constant{constant_data, {1, 0}, 1, {2, 32, 1}, three, nullptr, 0};
  ingot_context_options o = alone();
  o.log = on_log, o.log_level = INGOT_LOG_DEBUG, o.trust_host_cache = 1, o.cache_get = on_get, o.cache_put = on_put;
  o.parallel_for = on_parallel, o.parallel_width = 4;
  o.log_user = o.cache_user = o.parallel_user = &seen;
  o.log_destroy = o.cache_destroy = o.parallel_destroy = on_destroy;
  ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
  c.backend = backend;
  ingot_context* context = nullptr;
  ingot_graph *graph = nullptr, *built = nullptr;
  ingot_executable* executable = nullptr;
  ingot_value v = 0;
  seen.host = env;

  // From here to the end nothing of the test's own may compute with floats.
  set(env);
  const auto did = [&](ingot_status* status) {
    if (now() != env) ++life.changed;
    if (status) ++life.failures;
    ingot_status_release(status);
  };
  did(ingot_context_create(&o, &context));
  did(ingot_graph_parse(context, text, INGOT_NUL, &graph));
  did(ingot_graph_create(context, nullptr, 0, &built));
  did(ingot_graph_constant(built, &constant, 0, on_constant_destroy, &seen, &v));
  did(ingot_compile(context, graph, &c, &executable));
  did(ingot_run(executable, ins, 2, outs, 4, nullptr));
  constant.ndim = -1;  // refused: destroyed at once
  ingot_status* refused = ingot_graph_constant(built, &constant, 0, on_constant_destroy, &seen, &v);
  life.failures += refused == nullptr;
  ingot_status_release(refused);
  ingot_executable_release(executable);
  ingot_graph_release(graph);
  ingot_graph_release(built);
  ingot_context_release(context);
  life.changed += now() != env;
  set(usual);
}

}  // namespace

TEST_CASE("callbacks see the host's environment, and the bits are the same under any") {
  const bool compiler = can_compile();
  for (const ingot_backend backend : {INGOT_BACKEND_INTERPRETER, INGOT_BACKEND_CPU}) {
    if (backend == INGOT_BACKEND_CPU && !compiler) continue;
    Seen seen;
    Life want;
    live(usual, backend, seen, want);
    REQUIRE(want.failures == 0);
    CHECK(want.bits[items] == std::bit_cast<uint32_t>(std::bit_cast<float>(1u) * 0.1f));
    for (const Env env : hostile) {
      Seen s;
      Life got;
      live(env, backend, s, got);
      INFO("backend ", backend, ", MXCSR ", env.mxcsr, ", x87 control word ", env.x87);
      CHECK(got.failures == 0);
      CHECK(got.changed == 0);
      CHECK(got.bits == want.bits);
      for (int which = 0; which < 7; ++which) {
        INFO("callback ", which);
        const bool caching = which == get_call || which == put_call;
        if (!caching || backend == INGOT_BACKEND_CPU) CHECK(s.calls[which] > 0);
        CHECK(s.wrong[which] == 0);
      }
    }
  }
}

TEST_CASE("what a callback does to the environment stays done, and disturbs nothing") {
  ingot_context_options o = alone();
  o.parallel_for = [](void*, uint32_t tasks, void (*task)(void*, uint32_t), void* context) {
    set({0x1f80 | 0x4000, 0x0b7f});  // the host decides, while it is called, to round up
    for (uint32_t i = 0; i < tasks; ++i) task(context, i);
  };
  o.parallel_width = 4;
  ingot_context* context = nullptr;
  OK(ingot_context_create(&o, &context));
  bool right;
  Env after;
  {
    Affine a;
    REQUIRE(a.compile(context, 3, INGOT_BACKEND_INTERPRETER));
    right = a.run(200000);
    after = now();
    set(usual);
  }
  CHECK(right);
  CHECK(after == Env{0x1f80 | 0x4000, 0x0b7f});
  ingot_context_release(context);
}
