// One thread of a context for what nobody waits for. It starts with the first job and sleeps when there is none.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/fork.h"

namespace ingot::engine {

// Free-threaded. In a forked child nothing of it goes on: jobs submitted there start a thread of the child's own.
class Background final : private ForkHandler {
  struct State;

 public:
  using Job = std::function<void()>;  // must not throw

  Background();
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Runs `job`, then, when the owner may be gone already, `after`. Throws out_of_memory, also for want of a thread.
  void submit(const void* owner, Job job, Job after);
  // Jobs of `owner` that wait are dropped, their `after` is called here; one that runs is waited for, unless this is
  // called from it or from a thread that works for it.
  void forget(const void* owner) noexcept;

  // While it lives, the thread that made it works on `owner`, for the job that runs or beside it: forget(owner) does
  // not wait for it there. Neither moved nor kept beyond the scope it is made in.
  class Working {
   public:
    Working(const Background& background, const void* owner);
    ~Working();
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

   private:
    friend class Background;
    const std::shared_ptr<State> state_;  // as it was: a fork gives the child another
    const void* const owner_;
    const std::thread::id thread_ = std::this_thread::get_id();
    Working* next_ = nullptr;
  };

 private:
  void before_fork() noexcept override;
  void after_fork_in_parent() noexcept override;
  void after_fork_in_child() noexcept override;

  // The thread holds the state too: dropped on that very thread, a Background is outlived by it for a moment.
  std::shared_ptr<State> state_;
  std::shared_ptr<State> spare_;  // for the child of a fork that is under way
  ForkRegistration registration_{*this};
};

}  // namespace ingot::engine
