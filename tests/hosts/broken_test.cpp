// What a host sees when LLVM gives up for good: `auto` computes on, with one warning; `cpu` says UNAVAILABLE; nobody
// who waits is forgotten. Each case in a child, with the module's thread and without.
#include <atomic>
#include <thread>

#include "host.h"

using namespace ingot::hosts;

namespace {

ingot_context* broken_context(uint32_t no_threads) {
  ingot_context* context = nullptr;
  ingot_context_options o = alone();
  o.module_dir = INGOT_BROKEN_MODULE_DIR;
  o.no_threads = no_threads;
  o.log = count_warnings;
  return ingot_context_create(&o, &context) ? nullptr : context;
}

int serves_auto(uint32_t no_threads) {
  ingot_context* context = broken_context(no_threads);
  if (!context) return 1;
  {
    Affine a, b, c;
    if (!a.compile(context, 2) || !a.run() || !a.run(50)) return 2;  // the failure itself, and after it
    if (!b.compile(context, 3) || !b.run()) return 3;
    if (warnings != 1) return 4;
    ingot_stats stats = INGOT_STATS_INIT;
    if (ingot_context_stats(context, &stats) || stats.compiles != 0 || stats.interpreted != 2) return 5;
    if (!c.compile(context, 4, INGOT_BACKEND_CPU)) return 6;
    if (c.run() || c.last != INGOT_UNAVAILABLE) return 7;
    // The interpreter may be asked for by never_stall, but where it is not the backend it is no answer for ever.
    if (c.run(1000, 0, 1)) return 8;
    if (c.last != INGOT_UNAVAILABLE && c.last != INGOT_NOT_READY) return 9;
  }
  ingot_context_release(context);
  return 0;
}

int refuses_cpu(uint32_t no_threads) {
  ingot_context* context = broken_context(no_threads);
  if (!context) return 1;
  {
    Affine first, second;
    if (!first.compile(context, 2, INGOT_BACKEND_CPU) || first.run() || first.last != INGOT_UNAVAILABLE) return 2;
    if (!second.compile(context, 3, INGOT_BACKEND_CPU) || second.prepare() || second.last != INGOT_UNAVAILABLE)
      return 3;
    if (first.run() || first.last != INGOT_UNAVAILABLE) return 4;
  }
  ingot_context_release(context);
  return 0;
}

// Threads that wait for the very kernel that fails.
int wakes_waiters(uint32_t no_threads) {
  ingot_context* context = broken_context(no_threads);
  if (!context) return 1;
  std::atomic<int> wrong{0};
  {
    Affine shared;
    if (!shared.compile(context, 2)) return 2;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        Affine own, explicitly;
        wrong += !own.compile(context, 2) || !own.run(100 + t);
        wrong += !explicitly.compile(context, 2, INGOT_BACKEND_CPU) || explicitly.run();
        wrong += explicitly.last != INGOT_UNAVAILABLE;
      });
    for (std::thread& thread : threads) thread.join();
    if (!shared.run()) return 3;
  }
  ingot_context_release(context);
  return wrong ? 4 : 0;
}

}  // namespace

TEST_CASE("an LLVM that gives up: auto is served by the interpreter, with the right numbers and one warning") {
  for (const uint32_t no_threads : {0, 1}) CHECK(in_child([=] { return serves_auto(no_threads); }) == 0);
}

TEST_CASE("an LLVM that gives up: an explicit cpu is UNAVAILABLE, at once and from then on") {
  for (const uint32_t no_threads : {0, 1}) CHECK(in_child([=] { return refuses_cpu(no_threads); }) == 0);
}

TEST_CASE("an LLVM that gives up: whoever waits for the kernel is woken") {
  for (const uint32_t no_threads : {0, 1}) CHECK(in_child([=] { return wakes_waiters(no_threads); }) == 0);
}
