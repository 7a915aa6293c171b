// The end of something that goes on in the background, as several threads may wait for it, ask for it or end it early.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace ingot::engine {

class Event {
 public:
  struct Result {
    Code code = Code::ok;
    std::string message;
  };
  using Done = std::function<void(const Result&)>;

  Event();

  // not_ready while it goes on, then the result's code. Needs no memory, as its message would.
  Code poll() const noexcept;
  // The result, after at most `timeout` (negative: however long it takes); nothing while it goes on. In a forked child,
  // where the work has stopped, it does not wait.
  std::optional<Result> wait(std::chrono::nanoseconds timeout) const;
  // Calls `done` once: now, if it is over, else on the thread that finishes it. No lock is held meanwhile.
  void on_done(Done done);
  // Asks for an early end; what has been done stays done. The result is then CANCELLED, unless all was done.
  void cancel() noexcept { cancel_.store(true, std::memory_order_relaxed); }
  const std::atomic<bool>& cancelled() const noexcept { return cancel_; }

  // By whoever does the work, once.
  void finish(Result result) noexcept;

 private:
  // Whether this is a forked child's copy: nobody will finish it, and a thread that is gone may hold its lock.
  bool orphan() const noexcept;
  Result orphan_result() const;

  const int64_t owner_;  // the process in which the work goes on
  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  std::optional<Result> result_;
  std::atomic<bool> over_{false};
  std::vector<Done> waiting_;
  std::atomic<bool> cancel_{false};
};

}  // namespace ingot::engine
