// Non-temporal stores: when they are allowed (Frame, frame_stream) and what they need afterwards.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace ingot::jit {

// Finds how many lanes to run apart so that every lane-store that follows starts on 64 bytes.
class StreamPeel {
 public:
  void add(const char* store, int64_t item_size) {
    if (item_size == 0) return;
    const int64_t off = static_cast<int64_t>(reinterpret_cast<uintptr_t>(store) & 63);
    const int64_t gap = (64 - off) & 63;
    if (lanes_ == none_yet) lanes_ = gap % item_size == 0 ? gap / item_size : never;
    // Another store must reach alignment at the same lane.
    else if (lanes_ != never && ((off + lanes_ * item_size) & 63) != 0) lanes_ = never;
  }
  // -1 if there is no such number.
  int64_t lanes() const { return lanes_ == none_yet ? never : lanes_; }

 private:
  static constexpr int64_t never = -1, none_yet = -2;
  int64_t lanes_ = none_yet;
};

// Orders streamed stores before whatever tells other threads that they are done.
inline void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace ingot::jit
