// Callbacks that come back into the library: for the very kernels that they are called about, on whichever thread they
// come, and to release what they are called for. What fails here hangs.
#include <atomic>
#include <chrono>
#include <thread>

#include "host.h"

using namespace host;

namespace {

// Five kernels, since no_fusion makes one for every op; %0 alone is `small`.
constexpr char small[] = "ingot 1.0\ngraph @small(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n  return %0\n}\n";
constexpr char large[] =
    "ingot 1.0\ngraph @large(%x: f32[N]) -> (f32[N]) {\n"
    "  %0 = exp %x\n  %1 = tanh %0\n  %2 = sigmoid %1\n  %3 = erf %2\n  %4 = sqrt %3\n  return %4\n}\n";

Executable one_kernel_an_op(const Context& c, const char* text) {
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.no_fusion = 1;
  const Graph g = parse(c, text);
  ingot_executable* e = nullptr;
  ok(ingot_compile(c.get(), g.get(), &o, &e));
  return Executable(e);
}

// A cache that holds nothing, and does something the `at`-th time that it is asked or told.
struct Cache {
  ingot_executable* executable = nullptr;  // what it runs, or releases
  bool on_get = false, release = false;
  int at = 0;
  std::atomic<int> calls{0};
  std::atomic<ingot_code> ran{-1};

  void called() {
    if (calls++ != at) return;
    if (release) {
      // Other threads get to the end of what there is to do, and one to where it waits for this.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ingot_executable_release(executable);
      return;
    }
    Floats x({3}, {0, 1, 2}), y({3}, {0, 0, 0});
    const ingot_tensor *ins[] = {&x.tensor}, *outs[] = {&y.tensor};
    ran = outcome(ingot_run(executable, ins, 1, outs, 1, nullptr)).code;
  }
  Context context() {
    ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
    o.trust_host_cache = 1;
    o.cache_user = this;
    o.cache_get = [](void* user, const char*, size_t, void (*)(void*, const void*, size_t), void*) -> int32_t {
      auto& cache = *static_cast<Cache*>(user);
      if (cache.on_get) cache.called();
      return 0;
    };
    o.cache_put = [](void* user, const char*, size_t, const void*, size_t) -> int32_t {
      auto& cache = *static_cast<Cache*>(user);
      if (!cache.on_get) cache.called();
      return 1;
    };
    return host::context(o);
  }
};

}  // namespace

TEST_CASE("a cache callback may run an executable of several kernels, its own among them") {
  for (const bool on_get : {false, true}) {
    for (const char* const first : {small, large}) {
      for (int at = 0; at < 3; ++at) {
        CAPTURE(on_get);
        CAPTURE(at);
        Cache cache;
        cache.on_get = on_get;
        cache.at = at;
        const Context c = cache.context();
        const Executable outer = one_kernel_an_op(c, first), inner = one_kernel_an_op(c, large);
        cache.executable = inner.get();
        Floats x({3}, {0, 1, 2}), y({3}, {0, 0, 0});
        ok(run(outer, {&x.tensor}, {&y.tensor}));
        CHECK((cache.calls <= at || cache.ran == INGOT_OK));
        ok(run(inner, {&x.tensor}, {&y.tensor}));
        CHECK(stats(c).compiles <= 5);  // each once, whoever asked
      }
    }
  }
}

TEST_CASE("a callback may release the last handle of what is prepared, on any thread that works on it") {
  for (int at = 0; at < 5; ++at) {
    CAPTURE(at);
    Cache cache;
    cache.release = true;
    cache.at = at;
    Context c = cache.context();
    Executable e = one_kernel_an_op(c, large);
    cache.executable = e.get();
    ingot_event* event = nullptr;
    ok(ingot_executable_prepare(e.get(), nullptr, 0, nullptr, &event));
    const Event owned(event);
    // It is the callback's from here on.
    ingot_executable* const handle = e.release();
    ok(ingot_event_wait(event, -1));
    if (cache.calls <= at) ingot_executable_release(handle);  // no compiler, nothing to tell a cache
  }
}
