#include "base/own_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_ASAN_FIBERS 1
#elif __has_feature(thread_sanitizer)
#define INGOT_TSAN_FIBERS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define INGOT_ASAN_FIBERS 1
#elif defined(__SANITIZE_THREAD__)
#define INGOT_TSAN_FIBERS 1
#endif
#if defined(INGOT_ASAN_FIBERS)
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#elif defined(INGOT_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace ingot {

namespace {

// The sanitizers follow a thread by its stack and have to be told of a change.
class Fiber {
 public:
#if defined(INGOT_ASAN_FIBERS)
  void entering(void* stack, size_t bytes) { __sanitizer_start_switch_fiber(&fake_, stack, bytes); }
  void entered() { __sanitizer_finish_switch_fiber(nullptr, &caller_stack_, &caller_bytes_); }
  void leaving() { __sanitizer_start_switch_fiber(nullptr, caller_stack_, caller_bytes_); }
  void left() { __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr); }
  // What only an abandoned frame points to is lost on purpose.
  void abandoned(const void* stack, size_t bytes) { __lsan_register_root_region(stack, bytes); }

 private:
  void* fake_ = nullptr;
  const void* caller_stack_ = nullptr;
  size_t caller_bytes_ = 0;
#elif defined(INGOT_TSAN_FIBERS)
  // Never calls of their own: TSan would note the call for one fiber and the return for the other.
  [[gnu::always_inline]] void entering(void*, size_t) {
    caller_ = __tsan_get_current_fiber();
    own_ = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(own_, 0);
  }
  void entered() {}
  [[gnu::always_inline]] void leaving() { __tsan_switch_to_fiber(caller_, 0); }
  void left() { __tsan_destroy_fiber(own_); }
  void abandoned(const void*, size_t) {}

 private:
  void *caller_ = nullptr, *own_ = nullptr;
#else
  void entering(void*, size_t) {}
  void entered() {}
  void leaving() {}
  void left() {}
  void abandoned(const void*, size_t) {}
#endif
};

struct Call {
  ucontext_t caller, own;
  void (*f)(void*);
  void* argument;
  Fiber fiber;
  bool abandoned = false;
};
thread_local Call* active = nullptr;

// makecontext passes ints only, so the call is found through the thread.
void trampoline() {
  active->fiber.entered();
  active->f(active->argument);
  active->fiber.leaving();
  setcontext(&active->caller);
  abort();  // setcontext fails only for a context that was never saved
}

}  // namespace

bool on_own_stack() noexcept { return active != nullptr; }

void leave_own_stack() noexcept {
  active->abandoned = true;
  active->fiber.leaving();
  setcontext(&active->caller);
  abort();
}

bool call_on_own_stack(size_t bytes, void (*f)(void*), void* argument) {
  const auto guard = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const map =
      mmap(nullptr, bytes + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) return false;
  char* const stack = static_cast<char*>(map) + guard;
  if (mprotect(stack, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(map, bytes + guard);
    return false;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Call call;
  call.f = f;
  call.argument = argument;
  getcontext(&call.own);
  call.own.uc_stack.ss_sp = stack;
  call.own.uc_stack.ss_size = bytes;
  call.own.uc_link = nullptr;
  makecontext(&call.own, trampoline, 0);
  active = &call;
  call.fiber.entering(stack, bytes);
  swapcontext(&call.caller, &call.own);
  call.fiber.left();
  active = nullptr;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (call.abandoned) call.fiber.abandoned(stack, bytes);
  else munmap(map, bytes + guard);
  return true;
}

}  // namespace ingot
