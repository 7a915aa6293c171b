// Counts of what runs did, without contention: whoever runs holds a tally that it alone writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace ingot::runtime {

struct RunCounts {
  uint64_t runs = 0;
  uint64_t launches = 0;
  uint64_t forks = 0;                          // times that work was handed to several threads
  uint64_t bytes_read = 0, bytes_written = 0;  // by kernels, as if each view were touched once a launch
  int64_t work = 0;                            // of a run, in units of jit::Launch::work()
  uint64_t scratch_bytes = 0;                  // not a count: what is kept for runs at this moment
};

// One cache line. Written by its holder, read by anyone; holders hand it over with release and acquire.
class alignas(64) Tally {
 public:
  void add(const RunCounts& c) noexcept {
    bump(runs_, c.runs);
    bump(launches_, c.launches);
    bump(forks_, c.forks);
    bump(bytes_read_, c.bytes_read);
    bump(bytes_written_, c.bytes_written);
  }
  void keeps_scratch(uint64_t bytes) noexcept { scratch_bytes_.store(bytes, std::memory_order_relaxed); }

 private:
  friend class Tallies;
  // No read-modify-write: there is one writer.
  static void bump(std::atomic<uint64_t>& counter, uint64_t by) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::atomic<uint64_t> runs_{0}, launches_{0}, forks_{0}, bytes_read_{0}, bytes_written_{0}, scratch_bytes_{0};
  std::atomic<bool> held_{true};
  Tally* next_ = nullptr;
};

// All tallies of a context. Lock-free and free-threaded; tallies are reused, never freed before the owner is.
class Tallies {
 public:
  Tallies() = default;
  ~Tallies();
  Tallies(const Tallies&) = delete;
  Tallies& operator=(const Tallies&) = delete;

  Tally& claim();  // throws std::bad_alloc
  static void release(Tally& tally) noexcept {
    tally.keeps_scratch(0);
    tally.held_.store(false, std::memory_order_release);
  }
  // Not atomic as a whole: runs that go on meanwhile may be counted in part.
  RunCounts sum() const noexcept;

 private:
  std::atomic<Tally*> first_{nullptr};
};

}  // namespace ingot::runtime
