// Running tasks on several threads: by the host's parallel_for or by Ingot's own small pool.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/fork.h"

namespace ingot::runtime {

// Calls fn(context, i) once for each i < tasks, on any threads, and returns when all are done. No task waits for
// another, so running them one after the other is always right. Tasks throw nothing. Thread-safe.
class Parallel {
 public:
  using Task = void (*)(void* context, uint32_t index);
  virtual ~Parallel() = default;
  virtual uint32_t width() const noexcept = 0;  // how many tasks it makes sense to hand in
  // Whether its threads look out for work at this moment, so that handing it out costs next to nothing. Of a host's
  // nothing is known: it would not lend them for nothing.
  virtual bool awake() const noexcept { return true; }
  virtual void run(uint32_t tasks, Task fn, void* context) = 0;
};

// Blocks all signals of the calling thread while it lives, so that threads made meanwhile inherit that: the host's
// signals are none of their business.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t saved_;
};

// CPUs this process may use: affinity and cgroup quota, at least 1.
uint32_t available_cpus();

// Threads start with the first run() of more than one task, look out for the next one for a while and then sleep. One
// job at a time: a run() that finds the pool busy (a nested one, too), or that is in a forked child, executes its tasks
// itself.
class Pool final : public Parallel, ForkHandler {
 public:
  explicit Pool(uint32_t threads);  // the caller of run() counts as one
  ~Pool() override;
  uint32_t width() const noexcept override { return width_; }
  bool awake() const noexcept override { return awake_.load(std::memory_order_relaxed) > 0; }
  void run(uint32_t tasks, Task fn, void* context) override;

 private:
  // Asking the system for the process's id would cost half of what a run does.
  void before_fork() noexcept override {}
  void after_fork_in_parent() noexcept override {}
  void after_fork_in_child() noexcept override { orphaned_ = true; }

  void start();
  void work();
  // Runs tasks of the current job until none is left unclaimed.
  void help();

  const uint32_t width_;
  bool orphaned_ = false;  // in a forked child, where the threads are not
  std::vector<std::thread> threads_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> awake_{0};  // threads that do not sleep
  Task fn_ = nullptr;
  void* context_ = nullptr;
  // What threads look at all the time has a cache line of its own.
  alignas(64) std::atomic<uint32_t> wake_{0};
  // epoch << 32 | tasks << 16 | next: a claim is one compare-exchange, and a late waker cannot claim from a job it has
  // not seen.
  alignas(64) std::atomic<uint64_t> job_{0};
  alignas(64) std::atomic<uint32_t> done_{0};
  const ForkRegistration registration_{*this};
};

}  // namespace ingot::runtime
