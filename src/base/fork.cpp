#include "base/fork.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "base/error.h"

namespace ingot {

// A list through the registrations themselves: nothing is allocated, and with constant initialisers and trivial
// destructors it is there before the first and after the last static object of the process.
struct ForkRegistry {
  static constinit std::mutex mutex;
  static constinit ForkRegistration* oldest;
  static constinit ForkRegistration* newest;
  static constinit std::atomic<bool> installed;

  static void add(ForkRegistration& r) {
    const std::lock_guard lock(mutex);
    r.older_ = newest;
    (newest ? newest->newer_ : oldest) = &r;
    newest = &r;
  }
  static void remove(ForkRegistration& r) {
    const std::lock_guard lock(mutex);
    (r.older_ ? r.older_->newer_ : oldest) = r.newer_;
    (r.newer_ ? r.newer_->older_ : newest) = r.older_;
  }

  // The registry stays locked from before() to after(), so both walk the same list.
  static void before() {
    mutex.lock();
    for (auto* r = newest; r; r = r->older_) r->handler_.before_fork();
  }
  static void in_parent() {
    for (auto* r = oldest; r; r = r->newer_) r->handler_.after_fork_in_parent();
    mutex.unlock();
  }
  static void in_child() {
    for (auto* r = oldest; r; r = r->newer_) r->handler_.after_fork_in_child();
    mutex.unlock();
  }

  // Outside the mutex: glibc may hold its own lock over handlers while it runs before(), which would be a lock cycle.
  static void install() {
    if (installed.exchange(true)) return;
    if (pthread_atfork(before, in_parent, in_child) == 0) return;
    installed = false;
    fail(Code::out_of_memory, "no memory to register fork handlers");
  }
};

constinit std::mutex ForkRegistry::mutex;
constinit ForkRegistration* ForkRegistry::oldest = nullptr;
constinit ForkRegistration* ForkRegistry::newest = nullptr;
constinit std::atomic<bool> ForkRegistry::installed = false;

ForkRegistration::ForkRegistration(ForkHandler& handler) : handler_(handler) {
  ForkRegistry::install();
  ForkRegistry::add(*this);
}

ForkRegistration::~ForkRegistration() { ForkRegistry::remove(*this); }

}  // namespace ingot
