// Many threads at once: one executable run at sizes that never repeat, from 32 threads, while contexts come and go,
// caches evict and callbacks come back into the library. Results are those of a plain loop.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
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

constexpr int threads = 32;

// How often each thread calls: there are 10,000 sizes.
int calls_per_thread() {
  const char* given = getenv("INGOT_TEST_CALLS");
  return given ? atoi(given) : 10000;
}

bool good(ingot_status* status) {
  const bool ok = status == nullptr;
  ingot_status_release(status);
  return ok;
}

constexpr char text[] =
    "ingot 1.0\ngraph @many(%x: f32[A, B, C, D], %s: f32[]) -> (f32[A, B, C, D], f32[A, B, C]) {\n"
    "  %0 = mul %x, %s\n  %1 = add %0, 1.0\n  %2 = reduce_sum %1 {axes = [3]}\n  return %1, %2\n}\n";

ingot_executable* compiled(ingot_context* context, const std::string& source, ingot_backend backend,
                           uint32_t no_fusion = 0) {
  ingot_graph* graph = nullptr;
  ingot_executable* executable = nullptr;
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = backend;
  o.no_fusion = no_fusion;
  OK(ingot_graph_parse(context, source.data(), source.size(), &graph));
  OK(ingot_compile(context, graph, &o, &executable));
  ingot_graph_release(graph);
  return executable;
}

// The tensors of one thread, at one size after the other. Small integers, so that every sum is exact.
struct Workplace {
  int64_t shape[4] = {};
  float factor;
  std::vector<float> x = std::vector<float>(10000), y = x, sums = std::vector<float>(1000);
  ingot_tensor tx{x.data(), {1, 0}, 4, {2, 32, 1}, shape, nullptr, 0};
  ingot_tensor ts{&factor, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
  ingot_tensor ty{y.data(), {1, 0}, 4, {2, 32, 1}, shape, nullptr, 0};
  ingot_tensor tsums{sums.data(), {1, 0}, 3, {2, 32, 1}, shape, nullptr, 0};
  const ingot_tensor *ins[2] = {&tx, &ts}, *outs[2] = {&ty, &tsums};

  explicit Workplace(int thread) : factor(static_cast<float>(thread % 7 + 2)) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7 + static_cast<size_t>(thread)) % 31) - 15;
  }
  // The size of this number, of 10,000; extents of 1 are among them.
  void resize(int number) {
    for (int64_t& extent : shape) {
      extent = 1 + number % 10;
      number /= 10;
    }
    y.assign(rows() * static_cast<size_t>(shape[3]), -1);
    sums.assign(rows(), -1);
    ty.data = y.data();
    tsums.data = sums.data();
  }
  size_t rows() const { return static_cast<size_t>(shape[0] * shape[1] * shape[2]); }
  bool right(const float* got, const float* got_sums) const {
    const auto row = static_cast<size_t>(shape[3]);
    for (size_t r = 0; r < rows(); ++r) {
      float sum = 0;
      for (size_t i = r * row; i < (r + 1) * row; ++i) {
        const float want = x[i] * factor + 1;
        if (got[i] != want) return false;
        sum += want;
      }
      if (got_sums[r] != sum) return false;
    }
    return true;
  }
};

// One call, in the way that its number says.
bool call_once(ingot_executable* executable, ingot_call* call, Workplace& w, int number) {
  w.resize(number);
  if (number % 8 == 3) {
    DLManagedTensorVersioned* made[2] = {};
    if (!good(ingot_run_allocating(executable, w.ins, 2, made, 2, nullptr))) return false;
    const bool right =
        w.right(static_cast<const float*>(made[0]->dl_tensor.data), static_cast<const float*>(made[1]->dl_tensor.data));
    for (auto* tensor : made) tensor->deleter(tensor);
    return right;
  }
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.serial = number % 2;
  o.never_stall = number % 16 == 5;
  if (number % 4 == 1) {
    if (!good(ingot_call_bind(call, w.ins, 2, w.outs, 2)) || !good(ingot_call_run(call, &o))) return false;
  } else if (!good(ingot_run(executable, w.ins, 2, w.outs, 2, &o))) {
    return false;
  }
  return w.right(w.y.data(), w.sums.data());
}

// Runs body(t) on `count` threads, begun together.
template <class Body>
void together(int count, const Body& body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t)
    all.emplace_back([&, t] {
      ++ready;
      while (ready < count) std::this_thread::yield();
      body(t);
    });
  for (std::thread& thread : all) thread.join();
}

}  // namespace

TEST_CASE("32 threads call one executable, each call at another size, while contexts come and go and caches evict") {
  const Directory cache;
  ingot_context_options o = alone();
  o.no_disk_cache = 0;
  o.cache_dir = cache.path.c_str();
  o.memory_cache_entries = 2;
  o.num_threads = 2;
  ingot_context* context = nullptr;
  OK(ingot_context_create(&o, &context));
  ingot_executable* const executable = compiled(context, text, INGOT_BACKEND_AUTO);
  const bool compiler = can_compile();
  const int calls = calls_per_thread();
  std::atomic<int> wrong{0}, others_wrong{0}, running{threads}, lives{0};
  together(threads + 2, [&](int t) {
    if (t < threads) {
      Workplace w(t);
      ingot_call* call = nullptr;
      wrong += !good(ingot_call_create(executable, &call));
      // 7919 has no factor in common with 10,000: no size comes twice.
      for (int i = 0; i < calls; ++i) wrong += !call_once(executable, call, w, (i * 7919 + t * 313) % 10000);
      ingot_call_release(call);
      --running;
      return;
    }
    for (int i = 0; running > 0 || i < 3; ++i) {
      ingot_context* own = nullptr;
      if (t == threads) {
        // A context of its own over the same directory, from its beginning to its end.
        others_wrong += !good(ingot_context_create(&o, &own));
        ingot_executable* const e = compiled(own, text, INGOT_BACKEND_AUTO);
        Workplace w(i);
        others_wrong += !call_once(e, nullptr, w, 9 * i % 10000 / 4 * 4);
        if (i % 2) ingot_executable_release(e);
        ingot_context_release(own);
        if (i % 2 == 0) ingot_executable_release(e);
        ++lives;
      } else {
        // Other kernels push those out of the memory cache that the threads run.
        Affine a;
        others_wrong += !a.compile(context, 2 + i % 8) || !a.run(100 + i);
        if (i % 5 == 0) others_wrong += !good(ingot_context_trim(context, 0));
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(others_wrong == 0);
  ingot_stats stats = INGOT_STATS_INIT;
  OK(ingot_context_stats(context, &stats));
  CHECK(stats.runs >= static_cast<uint64_t>(threads) * static_cast<uint64_t>(calls));
  if (compiler) CHECK(stats.evictions > 0);
  MESSAGE(stats.runs, " runs, ", lives.load(), " other contexts, ", stats.evictions, " evictions");
  ingot_executable_release(executable);
  ingot_context_release(context);
}

namespace {

// Callbacks of every kind, each of which calls the library for something of its own. `depth` keeps them from calling
// themselves for ever.
struct Caller {
  ingot_context* outside = nullptr;           // another context
  ingot_executable* helper = nullptr;         // of that one, interpreted
  std::atomic<ingot_context*> self{nullptr};  // the context whose callbacks these are
  std::atomic<int> failures{0}, calls[6] = {};
  static thread_local int depth;

  enum Kind { log, get, put, parallel, memory, alarm };
  static void called(void* user, Kind kind) {
    auto& c = *static_cast<Caller*>(user);
    ++c.calls[kind];
    if (depth > 0) return;
    ++depth;
    Workplace w(kind);
    c.failures += !call_once(c.helper, nullptr, w, 1234);
    if (ingot_context* const self = c.self) {
      ingot_stats s = INGOT_STATS_INIT;
      c.failures += !good(ingot_context_stats(self, &s));
      ingot_graph* g = nullptr;
      c.failures += !good(ingot_graph_parse(self, text, INGOT_NUL, &g));
      ingot_graph_release(g);
      if (kind != log) c.failures += !good(ingot_context_trim(self, 0));
    }
    --depth;
  }
  ingot_context_options options() {
    ingot_context_options o = alone();
    o.log_level = INGOT_LOG_DEBUG;
    o.trust_host_cache = 1;
    o.parallel_width = 4;
    o.alarm_queue = 1;
    o.log_user = o.cache_user = o.parallel_user = o.allocator_user = o.alarm_user = this;
    o.log = [](void* user, ingot_log_level, const char*, size_t) { called(user, log); };
    o.cache_get = [](void* user, const char*, size_t, void (*)(void*, const void*, size_t), void*) {
      called(user, get);
      return 0;
    };
    o.cache_put = [](void* user, const char*, size_t, const void*, size_t) {
      called(user, put);
      return 1;
    };
    o.parallel_for = [](void* user, uint32_t tasks, void (*task)(void*, uint32_t), void* state) {
      called(user, parallel);
      for (uint32_t i = 0; i < tasks; ++i) task(state, i);
    };
    o.allocate = [](void* user, size_t bytes, size_t alignment) {
      called(user, memory);
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    o.deallocate = [](void* user, void* p, size_t, size_t) {
      called(user, memory);
      std::free(p);
    };
    o.alarm = [](void* user, ingot_alarm_kind, uint64_t, uint64_t) { called(user, alarm); };
    return o;
  }
};
thread_local int Caller::depth = 0;

}  // namespace

TEST_CASE("callbacks of every kind call back into the library, on many threads") {
  const bool compiler = can_compile();
  Caller caller;
  const ingot_context_options quiet = alone();
  OK(ingot_context_create(&quiet, &caller.outside));
  caller.helper = compiled(caller.outside, text, INGOT_BACKEND_INTERPRETER);
  ingot_context_options o = caller.options();
  ingot_context* context = nullptr;
  OK(ingot_context_create(&o, &context));
  caller.self = context;
  // A run of this is split, and needs scratch between its kernels.
  const std::string less_its_sum =
      "ingot 1.0\ngraph @g(%x: f32[M, N]) -> (f32[M, N]) {\n"
      "  %0 = reduce_sum %x {axes = [0]}\n  %1 = sub %x, %0\n  return %1\n}\n";
  ingot_executable* const executable = compiled(context, less_its_sum, INGOT_BACKEND_AUTO, 1);
  std::atomic<int> wrong{0};
  together(8, [&](int t) {
    int64_t shape[] = {300, 400 + t};
    const auto items = static_cast<size_t>(shape[0] * shape[1]);
    std::vector<float> x(items), y(items);
    for (size_t i = 0; i < items; ++i) x[i] = static_cast<float>(i % 5);
    ingot_tensor a{x.data(), {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0}, b = a;
    b.data = y.data();
    const ingot_tensor *ins[] = {&a}, *outs[] = {&b};
    for (int round = 0; round < 3; ++round) {
      wrong += !good(ingot_run(executable, ins, 1, outs, 1, nullptr));
      Affine own;
      wrong += !own.compile(context, 2 + (t + round) % 8) || !own.run(1000);
    }
    std::vector<float> column(static_cast<size_t>(shape[1]));
    for (size_t i = 0; i < items; ++i) column[i % column.size()] += x[i];
    for (size_t i = 0; i < items; ++i) wrong += y[i] != x[i] - column[i % column.size()];
  });
  CHECK(wrong == 0);
  CHECK(caller.failures == 0);
  for (int kind = 0; kind < 6; ++kind) {
    INFO("callback ", kind);
    const bool compiling = kind == Caller::get || kind == Caller::put || kind == Caller::alarm;
    if (compiler || !compiling) CHECK(caller.calls[kind] > 0);
  }
  caller.self = nullptr;
  ingot_executable_release(executable);
  ingot_context_release(context);
  ingot_executable_release(caller.helper);
  ingot_context_release(caller.outside);
}

namespace {

// The last handles of a context, given up by whichever callback comes.
struct Last {
  std::atomic<ingot_context*> context{nullptr};
  std::atomic<ingot_executable*> executable{nullptr};
  std::atomic<bool> armed{false};
  std::atomic<int> destroyed{0};
  void let_go() {
    if (!armed.exchange(false)) return;
    ingot_executable_release(executable.exchange(nullptr));
    ingot_context_release(context.exchange(nullptr));
  }
  static void count(void* user) { ++static_cast<Last*>(user)->destroyed; }
  ingot_context_options options() {
    ingot_context_options o = alone();
    o.trust_host_cache = 1;
    o.cache_get = [](void*, const char*, size_t, void (*)(void*, const void*, size_t), void*) { return 0; };
    o.cache_put = [](void*, const char*, size_t, const void*, size_t) { return 1; };
    o.cache_user = this;
    o.cache_destroy = count;
    return o;
  }
  bool gone() const {
    for (int i = 0; i < 20000 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return destroyed == 1;
  }
};

}  // namespace

TEST_CASE("the callback that reports the end of a preparation may release the last of everything") {
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    Last last;
    const ingot_context_options o = last.options();
    ingot_context* context = nullptr;
    OK(ingot_context_create(&o, &context));
    last.executable = compiled(context, affine_text(100 + i), INGOT_BACKEND_AUTO);
    last.context = context;
    last.armed = true;
    ingot_event* event = nullptr;
    OK(ingot_executable_prepare(last.executable, nullptr, 0, nullptr, &event));
    OK(ingot_event_on_done(event, [](void* user, ingot_code) { static_cast<Last*>(user)->let_go(); }, &last, nullptr));
    // The event too, before or after.
    if (i % 2) OK(ingot_event_wait(event, -1));
    ingot_event_release(event);
    CHECK(last.gone());
  }
}

TEST_CASE("a constant's destroy, and the last of many releases at once, may end a context") {
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    Last outer, inner;
    const ingot_context_options o = outer.options(), p = inner.options();
    ingot_context *a = nullptr, *b = nullptr;
    OK(ingot_context_create(&o, &a));
    OK(ingot_context_create(&p, &b));
    // The graph of b holds a constant whose end is that of a.
    outer.context = a;
    outer.executable = compiled(a, affine_text(3), INGOT_BACKEND_INTERPRETER);
    outer.armed = true;
    float data[] = {5};
    const ingot_tensor constant{data, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
    ingot_graph* graph = nullptr;
    ingot_value v = 0;
    OK(ingot_graph_create(b, nullptr, 0, &graph));
    OK(ingot_graph_constant(graph, &constant, 0, [](void* user) { static_cast<Last*>(user)->let_go(); }, &outer, &v));
    OK(ingot_graph_output(graph, nullptr, 0, v));
    OK(ingot_graph_finish(graph));
    ingot_executable* e = nullptr;
    OK(ingot_compile(b, graph, nullptr, &e));
    for (int t = 0; t < 8; ++t) {
      ingot_context_retain(b);
      ingot_graph_retain(graph);
      ingot_executable_retain(e);
    }
    ingot_context_release(b);
    ingot_graph_release(graph);
    ingot_executable_release(e);
    CHECK(outer.destroyed + inner.destroyed == 0);
    together(8, [&](int t) {
      if (t % 2) ingot_context_release(b);
      ingot_executable_release(e);
      ingot_graph_release(graph);
      if (t % 2 == 0) ingot_context_release(b);
    });
    CHECK(outer.gone());
    CHECK(inner.gone());
  }
}
