#include "engine/background.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "runtime/fp_env.h"
#include "runtime/parallel.h"

namespace ingot::engine {

struct Background::State {
  struct Entry {
    const void* owner;
    Job job, after;
  };
  mutable std::mutex lock;
  std::condition_variable changed;
  std::list<Entry> queue;         // nodes are moved out of it without allocating
  const void* running = nullptr;  // the owner of the job that runs
  Working* working = nullptr;     // all that live; they lie on their threads' stacks
  bool stop = false;
  std::unique_ptr<std::thread> thread;
  std::shared_ptr<State> self;  // set to leave it behind for ever

  void work() {
    const runtime::FpEnv env;  // whatever callbacks do to the thread's own
    std::unique_lock hold(lock);
    for (;;) {
      changed.wait(hold, [this] { return stop || !queue.empty(); });
      if (stop) return;
      std::list<Entry> one;
      one.splice(one.end(), queue, queue.begin());
      Entry& entry = one.front();
      running = entry.owner;
      hold.unlock();
      entry.job();
      entry.job = nullptr;
      hold.lock();
      running = nullptr;
      changed.notify_all();
      hold.unlock();
      entry.after();  // may drop the last reference to all of this
      entry.after = nullptr;
      hold.lock();
    }
  }
};

Background::Background() : state_(std::make_shared<State>()) {}

Background::~Background() {
  if (!state_) return;
  std::unique_ptr<std::thread> thread;
  {
    const std::lock_guard hold(state_->lock);
    state_->stop = true;
    thread = std::move(state_->thread);
  }
  state_->changed.notify_all();
  if (!thread) return;
  if (thread->get_id() == std::this_thread::get_id()) thread->detach();
  else thread->join();
}

void Background::submit(const void* owner, Job job, Job after) {
  if (!state_) fail(Code::out_of_memory, "no memory for work in the background of a forked process");
  const std::lock_guard hold(state_->lock);
  state_->queue.push_back({owner, std::move(job), std::move(after)});
  if (!state_->thread) {
    try {
      const runtime::SignalsBlocked blocked;
      state_->thread = std::make_unique<std::thread>([state = state_] { state->work(); });
    } catch (const std::exception&) {
      state_->queue.pop_back();
      fail(Code::out_of_memory, "no thread to be had for work in the background");
    }
  }
  state_->changed.notify_all();
}

void Background::forget(const void* owner) noexcept {
  if (!state_) return;
  std::list<State::Entry> dropped;
  {
    std::unique_lock hold(state_->lock);
    auto& queue = state_->queue;
    for (auto at = queue.begin(); at != queue.end();) {
      const auto entry = at++;
      if (entry->owner == owner) dropped.splice(dropped.end(), queue, entry);
    }
    const auto here = std::this_thread::get_id();
    bool own = state_->thread && state_->thread->get_id() == here;
    for (const Working* w = state_->working; w; w = w->next_) own = own || (w->owner_ == owner && w->thread_ == here);
    if (!own) state_->changed.wait(hold, [&] { return state_->running != owner; });
  }
  for (const State::Entry& e : dropped) e.after();
}

Background::Working::Working(const Background& background, const void* owner)
    : state_(background.state_), owner_(owner) {
  if (!state_) return;
  const std::lock_guard hold(state_->lock);
  next_ = std::exchange(state_->working, this);
}

Background::Working::~Working() {
  if (!state_) return;
  const std::lock_guard hold(state_->lock);
  Working** at = &state_->working;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

void Background::before_fork() noexcept {
  try {
    spare_ = std::make_shared<State>();
  } catch (const std::bad_alloc&) {
    // The child does without: submit() says so.
  }
  if (state_) state_->lock.lock();
}

void Background::after_fork_in_parent() noexcept {
  if (state_) state_->lock.unlock();
  spare_.reset();
}

// The thread is not there, and the condition variable may know of a waiter that never comes back.
void Background::after_fork_in_child() noexcept {
  if (state_) {
    state_->lock.unlock();
    state_->self = state_;
  }
  state_ = std::move(spare_);
}

}  // namespace ingot::engine
