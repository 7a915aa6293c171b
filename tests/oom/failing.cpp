#include "failing.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t count, fail_at;
thread_local bool armed, inside, sticky, has_failed;
std::atomic<int64_t> live_blocks{0};

// This thread's own stack. A context without threads compiles on another one, where LLVM's allocations are.
thread_local uintptr_t stack_low, stack_high;

void find_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) std::abort();
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  stack_low = reinterpret_cast<uintptr_t>(low);
  stack_high = stack_low + size;
}

bool refuse() {
  if (!armed || !inside) return false;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here < stack_low || here >= stack_high) return false;
  ++count;
  if (fail_at == 0 || (sticky ? count < fail_at : count != fail_at)) return false;
  has_failed = true;
  return true;
}

void* give(size_t size, size_t alignment) noexcept {
  if (refuse()) return nullptr;
  void* p = nullptr;
  if (posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, size ? size : 1) != 0) return nullptr;
  live_blocks.fetch_add(1, std::memory_order_relaxed);
  return p;
}

void take(void* p) noexcept {
  if (!p) return;
  live_blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

void* give_or_throw(size_t size, size_t alignment) {
  if (void* p = give(size, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

namespace ingot::oom {

void arm(uint64_t n, Mode mode) {
  find_stack();
  count = 0;
  fail_at = n;
  sticky = mode == Mode::from_then_on;
  has_failed = false;
  armed = true;
}
void disarm() { armed = false; }
uint64_t counted() { return count; }
bool failed() { return has_failed; }
int64_t live() { return live_blocks.load(std::memory_order_relaxed); }

Inside::Inside() { inside = true; }
Inside::~Inside() { inside = false; }

}  // namespace ingot::oom

constexpr size_t usual = alignof(std::max_align_t);

void* operator new(size_t size) { return give_or_throw(size, usual); }
void* operator new[](size_t size) { return give_or_throw(size, usual); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return give(size, usual); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return give(size, usual); }
void* operator new(size_t size, std::align_val_t a) { return give_or_throw(size, static_cast<size_t>(a)); }
void* operator new[](size_t size, std::align_val_t a) { return give_or_throw(size, static_cast<size_t>(a)); }
void operator delete(void* p) noexcept { take(p); }
void operator delete[](void* p) noexcept { take(p); }
void operator delete(void* p, size_t) noexcept { take(p); }
void operator delete[](void* p, size_t) noexcept { take(p); }
void operator delete(void* p, std::align_val_t) noexcept { take(p); }
void operator delete[](void* p, std::align_val_t) noexcept { take(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { take(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { take(p); }

extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  if (refuse()) return nullptr;
  void* p = nullptr;
  return posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, size) == 0 ? p : nullptr;
}
