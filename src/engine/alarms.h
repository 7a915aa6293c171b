// Thresholds of a context: the host is called once each time one is crossed upwards.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

namespace ingot::engine {

// Numbers are those of ingot_alarm_kind in the public header.
enum class AlarmKind : int32_t { memory_cache = 1, disk_cache = 2, compile_queue = 3 };

struct AlarmOptions {
  using Call = std::function<void(AlarmKind kind, uint64_t value, uint64_t limit)>;
  Call call;                    // empty: nobody listens
  uint32_t cache_percent = 90;  // of the limits in bytes
  uint32_t queue = 64;          // kernels that wait for the compiler
};

// Free-threaded; the call comes with no lock held.
class Alarms {
 public:
  explicit Alarms(AlarmOptions options) : options_(std::move(options)) {}

  bool wanted() const { return static_cast<bool>(options_.call); }
  void cache(AlarmKind kind, uint64_t bytes, uint64_t limit);
  // Kernels that begin to wait, and that are done with it.
  void queued(uint64_t kernels);
  void unqueued(uint64_t kernels);

 private:
  void report(AlarmKind kind, bool over, uint64_t value, uint64_t limit);

  const AlarmOptions options_;
  std::atomic<uint64_t> waiting_{0};
  std::array<std::atomic<bool>, 4> over_{};  // by kind: above its threshold when last looked at
};

}  // namespace ingot::engine
