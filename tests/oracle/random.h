// Random numbers that are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::oracle {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) { next(); }
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state_;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return x ^ x >> 29;
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() >> 8) % n; }
  int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T, size_t n>
  T pick(const T (&list)[n]) {
    return list[below(static_cast<int64_t>(n))];
  }

 private:
  uint64_t state_;
};

}  // namespace ingot::oracle
