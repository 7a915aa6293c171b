// fork() at any moment: while other threads compile, run, log and make contexts, the child runs a graph that was ready
// and compiles a new one.
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "host.h"

using namespace ingot::hosts;

namespace {

// The child's exit status, or -1 where it hangs: then it is killed.
int outcome(pid_t child) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    if (std::chrono::steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

void fork_while(const char* what, ingot_backend backend, int times, const std::function<void(int)>& busy) {
  ingot_context* context = nullptr;
  ingot_context_options o = alone();
  o.num_threads = 2;
  OK(ingot_context_create(&o, &context));
  {
    Affine ready;
    REQUIRE(ready.compile(context, 5, backend));
    REQUIRE(ready.run(100000));
    std::atomic<bool> stop{false};
    std::atomic<int> rounds{0};
    std::thread other([&] {
      for (int i = 0; !stop; ++i, ++rounds) busy(i);
    });
    while (rounds == 0) std::this_thread::yield();
    for (int i = 0; i < times; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(137 * (i % 23)));
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        // No exit handlers: the other thread's objects are in the middle of something.
        if (!ready.run(100000)) _exit(1);
        Affine fresh;
        if (!fresh.compile(context, 1000 + i, backend) || !fresh.run()) _exit(2);
        _exit(0);
      }
      INFO(std::string(what), ", fork ", i);
      const int status = outcome(child);
      CHECK(status == 0);
      if (status != 0) break;
    }
    stop = true;
    other.join();
    CHECK(ready.run(100000));
  }
  ingot_context_release(context);
}

}  // namespace

TEST_CASE("fork while another thread compiles: the child runs a cached graph and compiles a new one") {
  if (!can_compile()) return;
  ingot_context* context = nullptr;
  const ingot_context_options o = alone();
  OK(ingot_context_create(&o, &context));
  fork_while("other context", INGOT_BACKEND_CPU, 30, [&](int i) {
    Affine a;
    if (!a.compile(context, 2 + i, INGOT_BACKEND_CPU) || !a.run()) std::abort();
  });
  ingot_context_release(context);
}

TEST_CASE("fork while another thread opens contexts, which look for and load the compiler") {
  if (!can_compile()) return;
  const Directory cache;
  fork_while("new contexts", INGOT_BACKEND_CPU, 30, [&](int i) {
    ingot_context* context = nullptr;
    ingot_context_options o = alone();
    o.no_disk_cache = 0;
    o.cache_dir = cache.path.c_str();
    ingot_status_release(ingot_context_create(&o, &context));
    Affine a;
    if (!a.compile(context, 2 + i % 3) || !a.run()) std::abort();
    ingot_context_release(context);
  });
}

TEST_CASE("fork while another thread interprets, logs to stderr and runs on the pool") {
  // INGOT_LOG at debug writes a line for every pass; they go nowhere.
  setenv("INGOT_LOG", "debug", 1);
  const int kept = dup(2);
  REQUIRE(std::freopen("/dev/null", "w", stderr));
  ingot_context* context = nullptr;
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  OK(ingot_context_create(&o, &context));
  fork_while("interpreter", INGOT_BACKEND_INTERPRETER, 60, [&](int i) {
    Affine a;
    if (!a.compile(context, 2 + i, INGOT_BACKEND_INTERPRETER) || !a.run(100000)) std::abort();
  });
  ingot_context_release(context);
  dup2(kept, 2);
  close(kept);
  unsetenv("INGOT_LOG");
}

TEST_CASE("what a run that must not stall has asked for is asked for anew by a forked child") {
  if (!can_compile()) return;
  ingot_context* context = nullptr;
  const ingot_context_options o = alone();
  OK(ingot_context_create(&o, &context));
  const auto comes = [](Affine& a) {
    for (int i = 0; i < 10000; ++i) {
      if (a.run(1000, 0, 1)) return true;
      if (a.last != INGOT_NOT_READY) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  };
  for (int i = 0; i < 5; ++i) {
    Affine a;
    REQUIRE(a.compile(context, 5000 + i, INGOT_BACKEND_CPU));
    a.run(1000, 0, 1);  // sets the background to work
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(comes(a) ? 0 : 1);
    CHECK(outcome(child) == 0);
    CHECK(comes(a));
  }
  ingot_context_release(context);
}
