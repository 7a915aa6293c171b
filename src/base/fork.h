// Keeping locks usable across fork().
//
// Only the forking thread lives on in the child, so a lock another thread held at that moment stays locked there for
// ever. An object with locks registers itself: it takes them before the fork and lets go of them in parent and child,
// and in the child forgets whatever the vanished threads had begun.
#pragma once

namespace ingot {

class ForkHandler {
 public:
  // Called on the forking thread. May take locks and touch memory; must not make, drop or wait for other registrations.
  virtual void before_fork() noexcept = 0;
  virtual void after_fork_in_parent() noexcept = 0;
  virtual void after_fork_in_child() noexcept = 0;

 protected:
  ~ForkHandler() = default;
};

// Registers a handler for as long as it lives: make it the last member of the handler's class, so that it is made after
// and dropped before what the handler touches. Thread-safe; never held under a lock that before_fork() takes.
class ForkRegistration {
 public:
  explicit ForkRegistration(ForkHandler& handler);  // throws Error(out_of_memory)
  ~ForkRegistration();
  ForkRegistration(const ForkRegistration&) = delete;
  ForkRegistration& operator=(const ForkRegistration&) = delete;

 private:
  friend struct ForkRegistry;
  ForkHandler& handler_;
  ForkRegistration* older_ = nullptr;
  ForkRegistration* newer_ = nullptr;
};

}  // namespace ingot
