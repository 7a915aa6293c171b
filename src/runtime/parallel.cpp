#include "runtime/parallel.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>

namespace ingot::runtime {

namespace {

// So long a thread looks for what it waits for before it sleeps: longer than waking it takes, and than a host's own
// work between two calls often is.
constexpr auto most_spinning = std::chrono::microseconds(200);

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Until ready() holds or the time is over; whether it holds.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + most_spinning;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// CPUs' worth of quota in cgroup v2's cpu.max ("max 100000" or "150000 100000"); 0 if there is none.
uint32_t cgroup_quota() {
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen("/sys/fs/cgroup/cpu.max", "re"));
  char text[64] = {};
  if (!file || !std::fgets(text, sizeof text, file.get())) return 0;
  const char* const end = text + sizeof text;
  int64_t quota = 0, period = 0;
  const auto [after, error] = std::from_chars(text, end, quota);
  if (error != std::errc{} || *after != ' ') return 0;
  if (std::from_chars(after + 1, end, period).ec != std::errc{} || period <= 0 || quota <= 0) return 0;
  return static_cast<uint32_t>(std::min<int64_t>(1024, (quota + period - 1) / period));
}

}  // namespace

uint32_t available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  uint32_t n = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = std::max(1, CPU_COUNT(&set));
  if (const uint32_t quota = cgroup_quota()) n = std::min(n, quota);
  return n;
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

Pool::Pool(uint32_t threads) : width_(std::clamp<uint32_t>(threads, 1, 1024)) {}

Pool::~Pool() {
  stop_.store(true, std::memory_order_release);
  wake_.fetch_add(1, std::memory_order_release);
  wake_.notify_all();
  for (std::thread& t : threads_) {
    if (orphaned_) t.detach();
    else t.join();
  }
}

void Pool::start() {
  const SignalsBlocked blocked;
  try {
    while (threads_.size() + 1 < width_) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // Fewer threads than asked for, possibly none: the caller's own is enough.
  }
}

void Pool::run(uint32_t tasks, Task fn, void* context) {
  const bool alone =
      tasks < 2 || tasks > 0xffff || width_ < 2 || orphaned_ || busy_.exchange(true, std::memory_order_acquire);
  if (alone) {
    for (uint32_t i = 0; i < tasks; ++i) fn(context, i);
    return;
  }
  struct Idle {
    std::atomic<bool>& busy;
    ~Idle() { busy.store(false, std::memory_order_release); }
  } const idle{busy_};
  if (threads_.empty()) start();
  fn_ = fn;
  context_ = context;
  done_.store(0, std::memory_order_relaxed);
  const uint64_t epoch = (job_.load(std::memory_order_relaxed) >> 32) + 1;
  job_.store(epoch << 32 | uint64_t{tasks} << 16, std::memory_order_release);
  wake_.fetch_add(1, std::memory_order_release);
  // No more than there are tasks for: each wake costs the caller microseconds.
  if (tasks > threads_.size()) wake_.notify_all();
  else
    for (uint32_t i = 1; i < tasks; ++i) wake_.notify_one();
  help();
  const auto over = [&] { return done_.load(std::memory_order_acquire) == tasks; };
  if (over() || spin_until(over)) return;
  for (uint32_t seen; (seen = done_.load(std::memory_order_acquire)) != tasks;)
    done_.wait(seen, std::memory_order_acquire);
}

void Pool::help() {
  uint64_t job = job_.load(std::memory_order_acquire);
  for (;;) {
    const auto tasks = static_cast<uint32_t>(job >> 16 & 0xffff), next = static_cast<uint32_t>(job & 0xffff);
    if (next >= tasks) return;
    if (!job_.compare_exchange_weak(job, job + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    fn_(context_, next);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == tasks) done_.notify_all();
    job = job_.load(std::memory_order_acquire);
  }
}

void Pool::work() {
  uint32_t seen = 0;
  awake_.fetch_add(1, std::memory_order_relaxed);
  while (!stop_.load(std::memory_order_acquire)) {
    help();
    if (!spin_until([&] { return wake_.load(std::memory_order_acquire) != seen; })) {
      awake_.fetch_sub(1, std::memory_order_relaxed);
      wake_.wait(seen, std::memory_order_acquire);
      awake_.fetch_add(1, std::memory_order_relaxed);
    }
    seen = wake_.load(std::memory_order_acquire);
  }
}

}  // namespace ingot::runtime
