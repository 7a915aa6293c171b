#include "engine/event.h"

#include <unistd.h>

#include <algorithm>

namespace ingot::engine {

Event::Event() : owner_(getpid()) {}

bool Event::orphan() const noexcept { return getpid() != owner_; }

Event::Result Event::orphan_result() const {
  if (over_.load(std::memory_order_acquire)) return *result_;
  return {Code::cancelled, "the work went on in the process that was forked, and not here"};
}

Code Event::poll() const noexcept {
  if (over_.load(std::memory_order_acquire)) return result_->code;
  return orphan() ? Code::cancelled : Code::not_ready;
}

std::optional<Event::Result> Event::wait(std::chrono::nanoseconds timeout) const {
  if (orphan()) return orphan_result();
  std::unique_lock hold(lock_);
  const auto is_over = [this] { return result_.has_value(); };
  // Beyond some years the sum with now() would overflow.
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
  if (timeout.count() < 0) changed_.wait(hold, is_over);
  else changed_.wait_for(hold, std::min(timeout, longest), is_over);
  return result_;
}

void Event::on_done(Done done) {
  if (!orphan()) {
    const std::lock_guard hold(lock_);
    if (!result_) {
      waiting_.push_back(std::move(done));
      return;
    }
  }
  done(orphan() ? orphan_result() : *result_);
}

void Event::finish(Result result) noexcept {
  std::vector<Done> waiting;
  {
    const std::lock_guard hold(lock_);
    result_ = std::move(result);
    over_.store(true, std::memory_order_release);
    waiting.swap(waiting_);
  }
  changed_.notify_all();
  for (const Done& done : waiting) done(*result_);
}

}  // namespace ingot::engine
