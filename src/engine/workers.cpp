#include "engine/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/fp_env.h"
#include "runtime/parallel.h"

namespace ingot::engine {

void run_on_workers(size_t tasks, bool threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex error_lock;
  const auto take = [&]() noexcept {
    // What a callback does to the environment of a helper is undone before the next kernel.
    const runtime::FpEnv env;
    for (size_t i = next.fetch_add(1); i < tasks; i = next.fetch_add(1)) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard hold(error_lock);
        if (!error) error = std::current_exception();
        next.store(tasks);
      }
    }
  };
  std::vector<std::jthread> helpers;
  if (threads && tasks > 1) {
    const size_t most = std::min<size_t>(runtime::available_cpus(), tasks);
    const runtime::SignalsBlocked blocked;
    try {
      for (size_t i = 1; i < most; ++i) helpers.emplace_back(take);
    } catch (const std::exception&) {
      // No more threads to be had: those that run do all of it.
    }
  }
  take();
  helpers.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace ingot::engine
