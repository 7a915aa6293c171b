// LLVM giving up inside the module costs one thread and the module, never the process.
#include <doctest/doctest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "jit/backend.h"
#include "loop/expr.h"
#include "support.h"

extern char** environ;

namespace ingot::jit {
namespace {

// Each test that disables a module is a process of its own: `failure_test -ns -tc=...`.
int run_apart(const std::string& name) {
  const std::string filter = "-tc=" + name;
  const char* argv[] = {"/proc/self/exe", "-ns", filter.c_str(), nullptr};
  pid_t child;
  REQUIRE(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(argv), environ) == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::shared_ptr<const Module> failing() {
  return Module::open(INGOT_FAILING_MODULE, module_build_id(INGOT_FAILING_MODULE));
}

Error compile_of(const Module& module, char how, uint32_t flags = 0) {
  const uint8_t kernel[] = {static_cast<uint8_t>(how)};
  try {
    module.compile(kernel, "x86-64-v2", 0, flags);
    return {Code::ok, ""};
  } catch (const Error& e) {
    return e;
  }
}

void check_disables(char how, const std::string& reason, uint32_t flags = 0) {
  const auto module = failing();
  CHECK(compile_of(*module, '.', flags).code() == Code::ok);
  CHECK(compile_of(*module, 'e', flags).code() == Code::unimplemented);
  CHECK(compile_of(*module, '.', flags).code() == Code::ok);
  // One that is under way when another fails still ends.
  Code other = Code::internal;
  std::thread slow([&] { other = compile_of(*module, 's').code(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Error e = compile_of(*module, how, flags);
  CHECK(e.code() == Code::unavailable);
  CHECK(e.message().find(reason) != std::string::npos);
  slow.join();
  CHECK(other == Code::ok);
  const Error after = compile_of(*module, '.', flags);
  CHECK(after.code() == Code::unavailable);
  CHECK(after.message().find("disabled") != std::string::npos);
}

}  // namespace

TEST_CASE("apart: fatal error" * doctest::skip()) { check_disables('f', "out of registers"); }
TEST_CASE("apart: bad alloc handler" * doctest::skip()) { check_disables('b', "Allocation failed"); }
TEST_CASE("apart: bad alloc thrown" * doctest::skip()) { check_disables('n', "out of memory"); }

TEST_CASE("apart: on the caller's thread" * doctest::skip()) {
  // One failure a process: the kernel's first byte, then what the message must say.
  const char* how = std::getenv("INGOT_TEST_FAILURE");
  REQUIRE(how);
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  check_disables(*how, how + 1, module_no_thread);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) CHECK(sigismember(&before, signal) == sigismember(&after, signal));
  // The thread is as good as before.
  CHECK_THROWS_AS(fail(Code::internal, "own"), Error);
}

TEST_CASE("apart: exit in a compile" * doctest::skip()) {
  const Module* module = &test_module();
  loop::Builder b(1, 0);
  loop::Val x{b, b.load(b.add_view(load_view(DType::f32, b.add_tensor(), 1)))};
  for (int i = 0; i < 40; ++i) x = x / (x * x + 1.5);
  b.store(b.add_view(store_view(DType::f32, b.add_tensor(), 1)), x.id());
  const std::vector<uint8_t> kernel = loop::encode(b.finish());
  for (int i = 0; i < 3; ++i)
    std::thread([=] {
      for (;;) module->compile(kernel, "x86-64-v3");
    }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  std::exit(7);
}

TEST_CASE("a fatal error of LLVM fails the request, disables the module, and leaves the process") {
  CHECK(run_apart("apart: fatal error") == 0);
}
TEST_CASE("so does its bad-alloc handler, and bad_alloc thrown through it") {
  CHECK(run_apart("apart: bad alloc handler") == 0);
  CHECK(run_apart("apart: bad alloc thrown") == 0);
}
TEST_CASE("where no thread may be made the same failures come back on the caller's thread") {
  for (const char* failure : {"fout of registers", "bAllocation failed", "nout of memory"}) {
    CAPTURE(failure);
    setenv("INGOT_TEST_FAILURE", failure, 1);
    CHECK(run_apart("apart: on the caller's thread") == 0);
    unsetenv("INGOT_TEST_FAILURE");
  }
}
TEST_CASE("the host may exit in the middle of compiles") {
  for (int i = 0; i < 5; ++i) CHECK(run_apart("apart: exit in a compile") == 7);
}

TEST_CASE("compiler threads take no signals") {
  const auto module = failing();
  static volatile sig_atomic_t on_thread;
  static pthread_t waiter;
  waiter = pthread_self();
  on_thread = 0;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { on_thread = pthread_equal(pthread_self(), waiter) ? 1 : 2; };
  sigaction(SIGUSR1, &action, &before);
  std::thread sender([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(getpid(), SIGUSR1);
  });
  CHECK(compile_of(*module, 's').code() == Code::ok);
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  CHECK(on_thread == 1);
}

TEST_CASE("a compile without a thread runs on the caller's, which takes no signal meanwhile") {
  const auto module = failing();
  static volatile sig_atomic_t seen;
  seen = 0;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { seen = 1; };
  sigaction(SIGUSR1, &action, &before);
  const pthread_t self = pthread_self();
  std::atomic<int> during{-1};
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pthread_kill(self, SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    during = seen;
  });
  CHECK(compile_of(*module, 's', module_no_thread).code() == Code::ok);
  sender.join();
  CHECK(during == 0);
  CHECK(seen == 1);  // delivered as soon as the compile was over
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("flags that the module does not know are refused") {
  CHECK(compile_of(*failing(), '.', 0x80).code() == Code::unimplemented);
}

}  // namespace ingot::jit
