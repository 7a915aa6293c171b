// The floating-point environment: the library computes under its own whatever the host's is, gives the host's back to
// the bit, and calls the host back under the host's.
#include <xmmintrin.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "host.h"

using namespace ingot::hosts;

// DLPack 1.0, as its standard lays it out.
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  ingot_tensor dl_tensor;
};

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

enum {
  log_call,
  get_call,
  put_call,
  parallel_call,
  task_end,
  destroy_call,
  constant_destroy,
  allocate_call,
  deallocate_call,
  done_call,
  done_destroy,
  alarm_call,
  kinds_of_call
};

struct Seen {
  Env host{};
  int calls[kinds_of_call] = {};
  int wrong[kinds_of_call] = {};
  void note(int which) {
    ++calls[which];
    if (now() != host) ++wrong[which];
  }
};
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
void* INGOT_CALL on_allocate(void* user, size_t bytes, size_t alignment) {
  static_cast<Seen*>(user)->note(allocate_call);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void INGOT_CALL on_deallocate(void* user, void* memory, size_t, size_t) {
  static_cast<Seen*>(user)->note(deallocate_call);
  std::free(memory);
}
void INGOT_CALL on_done(void* user, ingot_code) { static_cast<Seen*>(user)->note(done_call); }
void INGOT_CALL on_done_destroy(void* user) { static_cast<Seen*>(user)->note(done_destroy); }
void INGOT_CALL on_alarm(void* user, ingot_alarm_kind, uint64_t, uint64_t) {
  static_cast<Seen*>(user)->note(alarm_call);
}

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
  o.allocate = on_allocate, o.deallocate = on_deallocate, o.alarm = on_alarm, o.alarm_queue = 1;
  o.log_user = o.cache_user = o.parallel_user = o.allocator_user = o.alarm_user = &seen;
  o.log_destroy = o.cache_destroy = o.parallel_destroy = o.allocator_destroy = o.alarm_destroy = on_destroy;
  o.no_threads = 1;  // so that every callback comes on this thread
  ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
  c.backend = backend;
  c.no_fusion = 1;  // several kernels, so that the queue of the compiler is crossed
  ingot_context* context = nullptr;
  ingot_graph *graph = nullptr, *built = nullptr;
  ingot_executable* executable = nullptr;
  ingot_event* event = nullptr;
  DLManagedTensorVersioned* made[4] = {};
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
  did(ingot_run_allocating(executable, ins, 2, made, 4, nullptr));
  for (int i = 0; i < 4 && made[i]; ++i) {
    const size_t bytes = sizeof(uint32_t) * (i < 3 ? items : rows);
    life.failures += std::memcmp(made[i]->dl_tensor.data, outs[i]->data, bytes) != 0;
    made[i]->deleter(made[i]);
  }
  did(ingot_executable_prepare(executable, nullptr, 0, nullptr, &event));
  did(ingot_event_on_done(event, on_done, &seen, on_done_destroy));
  ingot_event_release(event);
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
      for (int which = 0; which < kinds_of_call; ++which) {
        INFO("callback ", which);
        const bool caching = which == get_call || which == put_call || which == alarm_call;
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

namespace {

// Callbacks of a library thread that leave the worst of environments behind them.
struct Hostile {
  std::atomic<int> puts{0}, done{0}, changed{0};
  const std::thread::id caller = std::this_thread::get_id();
  void leave() {
    // Threads of the library's own begin with the usual environment, and keep what callbacks made of it for callbacks.
    static thread_local bool before = false;
    constexpr Env worst{0x4000, 0x0840};
    if (std::this_thread::get_id() == caller) return;
    // Sticky flags aside: a thread begins with those of the one that made it.
    Env here = now();
    here.mxcsr &= ~0x3fu;
    if (here != (before ? worst : usual)) ++changed;
    before = true;
    set(worst);
  }
};

}  // namespace

TEST_CASE("what callbacks do to the environment of the library's own threads disturbs no compile there") {
  if (!can_compile()) return;
  Hostile hostile_host;
  ingot_context_options o = alone();
  o.trust_host_cache = 1;
  o.num_threads = 2;
  o.cache_user = &hostile_host;
  o.cache_get = [](void* user, const char*, size_t, void (*)(void*, const void*, size_t), void*) {
    static_cast<Hostile*>(user)->leave();
    return 0;
  };
  o.cache_put = [](void* user, const char*, size_t, const void*, size_t) {
    auto& h = *static_cast<Hostile*>(user);
    ++h.puts;
    h.leave();
    return 1;
  };
  ingot_context* context = nullptr;
  OK(ingot_context_create(&o, &context));
  // Several kernels, none of which fuses with another, so that helpers compile too.
  std::string source = "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n";
  for (int i = 1; i < 8; ++i)
    source += "  %" + std::to_string(i) + (i % 2 ? " = tanh %" : " = sigmoid %") + std::to_string(i - 1) + "\n";
  source += "  return %7\n}\n";
  std::vector<float> in(1000), want(1000), got(1000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) * 0.01f - 5;
  int64_t n = 1000;
  ingot_tensor x{in.data(), {1, 0}, 1, {2, 32, 1}, &n, nullptr, 0}, y = x;
  const ingot_tensor *ins[] = {&x}, *outs[] = {&y};
  for (int round = 0; round < 3; ++round) {
    ingot_graph* graph = nullptr;
    OK(ingot_graph_parse(context, source.data(), source.size(), &graph));
    for (const ingot_backend backend : {INGOT_BACKEND_INTERPRETER, INGOT_BACKEND_CPU}) {
      ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
      c.backend = backend;
      c.no_fusion = 1;
      ingot_executable* executable = nullptr;
      OK(ingot_compile(context, graph, &c, &executable));
      ingot_event* event = nullptr;
      OK(ingot_executable_prepare(executable, nullptr, 0, nullptr, &event));
      OK(ingot_event_on_done(
          event,
          [](void* user, ingot_code code) {
            auto& h = *static_cast<Hostile*>(user);
            if (code == INGOT_OK) ++h.done;
            h.leave();
          },
          &hostile_host, nullptr));
      OK(ingot_event_wait(event, -1));
      ingot_event_release(event);
      y.data = backend == INGOT_BACKEND_CPU ? got.data() : want.data();
      OK(ingot_run(executable, ins, 1, outs, 1, nullptr));
      ingot_executable_release(executable);
    }
    CHECK(std::memcmp(want.data(), got.data(), sizeof(float) * want.size()) == 0);
    ingot_graph_release(graph);
    OK(ingot_context_trim(context, 0));
  }
  for (int i = 0; i < 10000 && hostile_host.done < 6; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(hostile_host.done == 6);
  CHECK(hostile_host.puts > 8);
  CHECK(hostile_host.changed == 0);
  ingot_context_release(context);
}
