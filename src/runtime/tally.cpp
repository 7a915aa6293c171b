#include "runtime/tally.h"

namespace ingot::runtime {

Tallies::~Tallies() {
  for (Tally* t = first_.load(std::memory_order_acquire); t;) {
    const std::unique_ptr<Tally> owned(t);
    t = owned->next_;
  }
}

Tally& Tallies::claim() {
  for (Tally* t = first_.load(std::memory_order_acquire); t; t = t->next_)
    if (!t->held_.load(std::memory_order_relaxed) && !t->held_.exchange(true, std::memory_order_acquire)) return *t;
  auto fresh = std::make_unique<Tally>();
  fresh->next_ = first_.load(std::memory_order_relaxed);
  while (
      !first_.compare_exchange_weak(fresh->next_, fresh.get(), std::memory_order_release, std::memory_order_relaxed)) {
  }
  return *fresh.release();
}

RunCounts Tallies::sum() const noexcept {
  RunCounts total;
  for (const Tally* t = first_.load(std::memory_order_acquire); t; t = t->next_) {
    total.runs += t->runs_.load(std::memory_order_relaxed);
    total.launches += t->launches_.load(std::memory_order_relaxed);
    total.forks += t->forks_.load(std::memory_order_relaxed);
    total.bytes_read += t->bytes_read_.load(std::memory_order_relaxed);
    total.bytes_written += t->bytes_written_.load(std::memory_order_relaxed);
    total.scratch_bytes += t->scratch_bytes_.load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace ingot::runtime
