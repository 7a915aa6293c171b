#include "engine/alarms.h"

namespace ingot::engine {

void Alarms::report(AlarmKind kind, bool over, uint64_t value, uint64_t limit) {
  const bool before = over_[static_cast<size_t>(kind)].exchange(over, std::memory_order_relaxed);
  if (over && !before && wanted()) options_.call(kind, value, limit);
}

void Alarms::cache(AlarmKind kind, uint64_t bytes, uint64_t limit) {
  // Divided first: limits may be as large as 64 bits allow.
  report(kind, bytes > limit / 100 * options_.cache_percent, bytes, limit);
}

void Alarms::queued(uint64_t kernels) {
  const uint64_t now = waiting_.fetch_add(kernels, std::memory_order_relaxed) + kernels;
  report(AlarmKind::compile_queue, now > options_.queue, now, options_.queue);
}

void Alarms::unqueued(uint64_t kernels) {
  const uint64_t now = waiting_.fetch_sub(kernels, std::memory_order_relaxed) - kernels;
  if (now <= options_.queue) report(AlarmKind::compile_queue, false, now, options_.queue);
}

}  // namespace ingot::engine
