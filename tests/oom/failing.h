// Allocations that fail on demand, on this thread only: operator new throws, aligned_alloc returns null. The compiler
// module's threads and its stacks on other threads, with all of LLVM on them, are left alone.
#pragma once

#include <cstdint>

namespace ingot::oom {

enum class Mode { once, from_then_on };

// Counts this thread's allocations inside the library from here on; the n-th (from 1) fails, or it and all after it. 0:
// none.
void arm(uint64_t n, Mode mode = Mode::once);
void disarm();
uint64_t counted();  // since arm()
bool failed();       // whether one has failed since arm()
int64_t live();      // blocks that operator new has given out in this process and that are not deleted

// Around calls of the library: allocations count and fail only while one lives.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace ingot::oom
