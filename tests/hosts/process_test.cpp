// Hosts that leave little room: small stacks, no threads, no executable memory, an exit in the middle of a compile,
// contexts that come and go.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

#include "host.h"

using namespace ingot::hosts;

namespace {

void on_stack(size_t bytes, const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  const auto start = [](void* p) -> void* {
    (*static_cast<const std::function<void()>*>(p))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&body)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

size_t threads_now() {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) n += !entry.path().empty();
  return n;
}

// In a child that was just refused executable memory: the interpreter serves `auto`, with one warning, and an explicit
// CPU backend is UNAVAILABLE. 0, or what was wrong.
int without_executable_memory() {
  ingot_context* context = nullptr;
  ingot_context_options o = alone();
  o.log = count_warnings;
  if (ingot_context_create(&o, &context)) return 1;
  {
    Affine a, b, c;
    if (!a.compile(context, 2) || !a.run()) return 2;
    if (!b.compile(context, 3) || !b.run()) return 3;
    if (warnings != 1) return 4;
    ingot_stats stats = INGOT_STATS_INIT;
    if (ingot_context_stats(context, &stats) || stats.interpreted != 2) return 5;
    if (!c.compile(context, 4, INGOT_BACKEND_CPU)) return 6;
    if (c.run() || c.last != INGOT_UNAVAILABLE) return 7;
  }
  ingot_context_release(context);
  return 0;
}

// Refuses mmap and mprotect with PROT_EXEC, but for files: the compiler module may still be loaded.
bool refuse_executable_memory() {
  constexpr auto arg = [](unsigned i) { return static_cast<uint32_t>(offsetof(seccomp_data, args) + 8 * i); };
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arg(3)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arg(2)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  const sock_fprog program{sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

TEST_CASE("threads with a stack of 64 KiB run a warm graph, and compile one") {
  ingot_context* context = nullptr;
  const ingot_context_options o = alone();
  OK(ingot_context_create(&o, &context));
  for (const ingot_backend backend : {INGOT_BACKEND_AUTO, INGOT_BACKEND_INTERPRETER}) {
    Affine warm;
    REQUIRE(warm.compile(context, 3, backend));
    REQUIRE(warm.run(100000));
    bool ran = false, compiled = false;
    on_stack(size_t{64} << 10, [&] { ran = warm.run(100000) && warm.run(77, 1); });
    CHECK(ran);
    // LLVM has a stack of its own; the rest of a compile fits.
    on_stack(size_t{64} << 10, [&] {
      Affine fresh;
      compiled = fresh.compile(context, 11 + backend, backend) && fresh.run(100000);
    });
    CHECK(compiled);
  }
  ingot_context_release(context);
}

TEST_CASE("a host with no_threads sees none of the library's, running or having run") {
  ingot_context* context = nullptr;
  ingot_context_options o = alone();
  o.no_threads = 1;
  // A thread that was joined is listed until the kernel has taken it down.
  size_t before = threads_now();
  for (size_t last = before + 1; before < last; before = threads_now()) {
    last = before;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  OK(ingot_context_create(&o, &context));
  {
    Affine a;
    REQUIRE(a.compile(context, 9, INGOT_BACKEND_INTERPRETER));
    CHECK(a.run(1000000));
    CHECK(threads_now() == before);
  }
  ingot_context_release(context);
  CHECK(threads_now() == before);
}

// Refuses new threads: clone with CLONE_VM, and clone3, whose flags a filter cannot see, as a kernel without it does.
bool refuse_threads() {
  constexpr uint32_t clone_vm = 0x100;
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, clone_vm, 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
  };
  const sock_fprog program{sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// In a process where no thread can be made any more. 0, or what was wrong.
int without_threads(uint32_t no_threads, bool small_stack) {
  ingot_context* context = nullptr;
  ingot_context_options o = alone();
  o.no_threads = no_threads;
  o.log = count_warnings;
  if (ingot_context_create(&o, &context)) return 1;
  int wrong = 0;
  const auto body = [&] {
    Affine a, b;
    if (!a.compile(context, 2, INGOT_BACKEND_CPU) || !a.run(1000000)) wrong = 2;
    else if (!b.compile(context, 3, INGOT_BACKEND_CPU) || !b.prepare() || !b.run(3)) wrong = 3;
    ingot_stats stats = INGOT_STATS_INIT;
    if (!wrong && (ingot_context_stats(context, &stats) || stats.compiles != 2 || stats.interpreted != 0)) wrong = 4;
    if (!wrong && warnings != 0) wrong = 5;
  };
  if (small_stack) {
    // The thread is there before threads are refused.
    on_stack(size_t{64} << 10, [&] {
      if (!refuse_threads()) wrong = 99;
      else body();
    });
  } else if (!refuse_threads()) {
    wrong = 99;
  } else {
    body();
  }
  ingot_context_release(context);
  return wrong;
}

TEST_CASE("where no thread can be made, graphs compile on the caller's, whether no_threads says so or not") {
  if (!can_compile()) return;
  for (const uint32_t no_threads : {1, 0})
    for (const bool small_stack : {false, true}) {
      CAPTURE(no_threads);
      CAPTURE(small_stack);
      const int status = in_child([&]() -> int { return without_threads(no_threads, small_stack); });
      if (status == 99) MESSAGE("SKIP: no seccomp filters here");
      else CHECK(status == 0);
    }
}

TEST_CASE("exit() in the middle of compiles ends the process as it should") {
  if (!can_compile()) return;
  for (int i = 0; i < 20; ++i) {
    const int status = in_child([i]() -> int {
      ingot_context* context = nullptr;
      const ingot_context_options o = alone();
      if (ingot_context_create(&o, &context)) return 1;
      for (int t = 0; t < 2; ++t)
        std::thread([context, t] {
          for (int n = 2;; ++n) {
            Affine a;
            if (!a.compile(context, 1000 * t + n, INGOT_BACKEND_CPU) || !a.run()) _exit(2);
          }
        }).detach();
      std::this_thread::sleep_for(std::chrono::microseconds(1009 * i));
      std::exit(42);
    });
    INFO("exit ", i);
    REQUIRE(status == 42);
  }
}

TEST_CASE("contexts made, used and dropped by four threads at once") {
  const Directory cache;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        ingot_context* context = nullptr;
        ingot_context_options o = alone();
        o.no_disk_cache = t % 2 == 0;
        if (!o.no_disk_cache) o.cache_dir = cache.path.c_str();
        ingot_status* status = ingot_context_create(&o, &context);
        wrong += status != nullptr;
        ingot_status_release(status);
        Affine a, b;
        const ingot_backend backend = i % 5 == 0 ? INGOT_BACKEND_AUTO : INGOT_BACKEND_INTERPRETER;
        wrong += !a.compile(context, 2 + i % 3, backend);
        wrong += !b.compile(context, 7, backend);
        ingot_context_release(context);  // the executables keep it
        wrong += !a.run(5000);
        wrong += !b.run(5000);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

#ifdef PR_SET_MDWE
constexpr int set_mdwe = PR_SET_MDWE;
#else
constexpr int set_mdwe = 65;  // Linux 6.3
#endif

TEST_CASE("executable memory refused by PR_SET_MDWE: right numbers, at most the interpreter and one warning") {
  if (!can_compile()) return;
  constexpr unsigned long refuse_exec_gain = 1;
  const int status = in_child([&]() -> int {
    if (prctl(set_mdwe, refuse_exec_gain, 0, 0, 0) != 0) return 99;
    ingot_context* context = nullptr;
    ingot_context_options o = alone();
    o.log = count_warnings;
    if (ingot_context_create(&o, &context)) return 1;
    Affine a;  // a sealed memfd still maps executable: machine code or the interpreter, as the system will have it
    if (!a.compile(context, 2) || !a.run() || warnings > 1) return 2;
    return 0;
  });
  if (status == 99) MESSAGE("SKIP: this kernel has no PR_SET_MDWE");
  else CHECK(status == 0);
}

TEST_CASE("executable memory refused by seccomp: the interpreter takes over with one warning") {
  if (!can_compile()) return;
  const int status = in_child([]() -> int { return refuse_executable_memory() ? without_executable_memory() : 99; });
  if (status == 99) MESSAGE("SKIP: no seccomp filters here");
  else CHECK(status == 0);
}
