#include "cache/memory.h"

#include <array>
#include <atomic>
#include <limits>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "base/fork.h"

namespace ingot::cache {

namespace {

// Few, because fork() takes all of them at once; probes are rare, since executables hold what they run.
constexpr size_t shard_count = 8;

// Map keys point into their node or flight, so that no key is stored twice.
struct KeyHash {
  size_t operator()(const Key* key) const noexcept { return key->hash.low; }
};
struct KeyEqual {
  bool operator()(const Key* a, const Key* b) const noexcept { return *a == *b; }
};
template <class V>
using KeyMap = std::unordered_map<const Key*, V, KeyHash, KeyEqual>;

struct Node {
  std::shared_ptr<const Key> key;
  MemoryCore::Value value;
  uint64_t bytes;
  uint64_t tick;  // when it was last used, by the cache's own clock
};

enum : uint32_t { pending, published, rejected, abandoned };

}  // namespace

// Waited for through one atomic word, not a mutex and condition: in a forked child those could be left locked, or with
// waiters that no longer exist, and could not even be destroyed.
struct MemoryCore::Flight {
  std::shared_ptr<const Key> key;
  std::thread::id maker;  // the thread inside get_or_make(), if one is
  std::atomic<uint32_t> state{pending};
  Value value;  // written before the state leaves pending, read after
  std::exception_ptr error;
};

struct MemoryCore::Impl final : ForkHandler {
  struct alignas(64) Shard {
    std::mutex mutex;
    std::list<Node> nodes;  // most recently used first
    KeyMap<std::list<Node>::iterator> index;
    KeyMap<std::shared_ptr<Flight>> flights;
  };

  explicit Impl(MemoryLimits limits) : limit_bytes(limits.bytes), limit_entries(limits.entries) {}

  Shard& shard(const Key& key) { return shards[key.hash.high % shard_count]; }

  // With the shard locked.
  Value touch(Shard& s, const Key& key) {
    const auto found = s.index.find(&key);
    if (found == s.index.end()) return nullptr;
    found->second->tick = ++clock;
    s.nodes.splice(s.nodes.begin(), s.nodes, found->second);
    return found->second->value;
  }

  // Takes the flight off the board, if it is still there, and puts the node in its place, if there is one.
  void land(const Flight& flight, std::list<Node>& fresh) {
    Shard& s = shard(*flight.key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.flights.find(flight.key.get());
    if (found != s.flights.end() && found->second.get() == &flight) s.flights.erase(found);
    if (fresh.empty()) return;
    // A value that is there already (made in a forked child beside an abandoned flight, say) stays.
    if (!s.index.try_emplace(fresh.front().key.get(), fresh.begin()).second) return;
    fresh.front().tick = ++clock;
    bytes += fresh.front().bytes;
    ++entries;
    s.nodes.splice(s.nodes.begin(), fresh);
  }

  // Evicts the oldest over all shards until both totals fit. Threads shrinking at once may each drop one too many.
  void shrink(uint64_t to_bytes, uint64_t to_entries) noexcept {
    while (bytes > to_bytes || entries > to_entries) {
      Shard* oldest = nullptr;
      uint64_t tick = std::numeric_limits<uint64_t>::max();
      for (Shard& s : shards) {
        const std::lock_guard lock(s.mutex);
        if (!s.nodes.empty() && s.nodes.back().tick < tick) {
          oldest = &s;
          tick = s.nodes.back().tick;
        }
      }
      if (!oldest) return;
      std::list<Node> dropped;  // destroyed after the lock: a value's destructor may do anything
      const std::lock_guard lock(oldest->mutex);
      if (oldest->nodes.empty() || oldest->nodes.back().tick != tick) continue;  // used or gone in between: look again
      const auto last = std::prev(oldest->nodes.end());
      oldest->index.erase(last->key.get());
      bytes -= last->bytes;
      --entries;
      ++evictions;
      dropped.splice(dropped.begin(), oldest->nodes, last);
    }
  }

  void before_fork() noexcept override {
    for (Shard& s : shards) s.mutex.lock();
  }
  void after_fork_in_parent() noexcept override {
    for (Shard& s : shards) s.mutex.unlock();
  }
  void after_fork_in_child() noexcept override {
    for (Shard& s : shards) {
      for (auto& [key, flight] : s.flights) flight->state = abandoned;
      s.flights.clear();
      s.mutex.unlock();
    }
  }

  std::array<Shard, shard_count> shards;
  std::atomic<uint64_t> limit_bytes, limit_entries;
  std::atomic<uint64_t> clock{0}, bytes{0}, entries{0}, hits{0}, misses{0}, joins{0}, evictions{0};
  ForkRegistration registration{*this};
};

MemoryCore::MemoryCore(MemoryLimits limits) : impl_(std::make_shared<Impl>(limits)) {}

MemoryCore::Request MemoryCore::ask(const Key& key) { return ask(key, false); }

MemoryCore::Request MemoryCore::ask(const Key& key, bool on_this_thread) {
  Request request;
  request.impl_ = impl_;
  std::shared_ptr<Flight> fresh;  // made between two looks, so that nothing large is copied under the lock
  for (;;) {
    Impl::Shard& s = impl_->shard(key);
    {
      const std::lock_guard lock(s.mutex);
      request.hit_ = impl_->touch(s, key);
      if (request.hit_) {
        ++impl_->hits;
        return request;
      }
      if (const auto found = s.flights.find(&key); found != s.flights.end()) {
        request.flight_ = found->second;
        ++impl_->joins;
        return request;
      }
      if (fresh) {
        s.flights.emplace(fresh->key.get(), fresh);
        request.flight_ = std::move(fresh);
        request.owner_ = true;
        ++impl_->misses;
        return request;
      }
    }
    fresh = std::make_shared<Flight>();
    fresh->key = std::make_shared<const Key>(key);
    if (on_this_thread) fresh->maker = std::this_thread::get_id();
  }
}

MemoryCore::Request::Request(Request&& other) noexcept
    : impl_(std::move(other.impl_)),
      flight_(std::move(other.flight_)),
      hit_(std::move(other.hit_)),
      owner_(std::exchange(other.owner_, false)) {}

MemoryCore::Request::~Request() {
  if (owner_) finish(abandoned);
}

bool MemoryCore::Request::ready() const noexcept {
  return hit_ || flight_->state.load(std::memory_order_acquire) != pending;
}

MemoryCore::Value MemoryCore::Request::wait() const {
  if (hit_) return hit_;
  uint32_t state;
  while ((state = flight_->state.load(std::memory_order_acquire)) == pending) flight_->state.wait(pending);
  if (state == rejected) std::rethrow_exception(flight_->error);
  return state == published ? flight_->value : nullptr;
}

void MemoryCore::Request::publish(Value value, uint64_t bytes) {
  if (!owner_ || !value) bug("a memory cache request published ", owner_ ? "null" : "without owning its key");
  std::list<Node> fresh;
  try {
    if (bytes <= impl_->limit_bytes) fresh.push_front({flight_->key, value, bytes, 0});
  } catch (const std::bad_alloc&) {
    // The value just stays out of the cache.
  }
  try {
    impl_->land(*flight_, fresh);
  } catch (const std::bad_alloc&) {
    // The same: the flight was taken off first.
  }
  owner_ = false;
  flight_->value = std::move(value);
  flight_->state.store(published, std::memory_order_release);
  flight_->state.notify_all();
  impl_->shrink(impl_->limit_bytes, impl_->limit_entries);
}

void MemoryCore::Request::reject(std::exception_ptr error) noexcept {
  if (!owner_) return;
  flight_->error = std::move(error);
  finish(rejected);
}

void MemoryCore::Request::finish(uint32_t state) noexcept {
  owner_ = false;
  std::list<Node> none;
  impl_->land(*flight_, none);
  flight_->state.store(state, std::memory_order_release);
  flight_->state.notify_all();
}

MemoryCore::Value MemoryCore::find(const Key& key) {
  Impl::Shard& s = impl_->shard(key);
  const std::lock_guard lock(s.mutex);
  Value value = impl_->touch(s, key);
  ++(value ? impl_->hits : impl_->misses);
  return value;
}

MemoryCore::Value MemoryCore::get_or_make(const Key& key, const std::function<Made()>& make, Outcome* outcome) {
  const auto done = [outcome](Outcome how, Value value) {
    if (outcome) *outcome = how;
    return value;
  };
  for (;;) {
    Request request = ask(key, true);
    if (request.hit()) return done(Outcome::hit, request.hit());
    if (request.owner()) {
      try {
        Made made = make();
        request.publish(made.value, made.bytes);
        return done(Outcome::made, std::move(made.value));
      } catch (const std::exception&) {
        // Anything else (a thread being cancelled, say) is no answer for the others: they see an abandonment.
        request.reject(std::current_exception());
        throw;
      }
    }
    if (request.flight_->maker == std::this_thread::get_id()) return done(Outcome::made, make().value);
    if (Value value = request.wait()) return done(Outcome::joined, std::move(value));
  }
}

void MemoryCore::clear() {
  for (Impl::Shard& s : impl_->shards) {
    std::list<Node> dropped;
    KeyMap<std::list<Node>::iterator> index;
    const std::lock_guard lock(s.mutex);
    for (const Node& node : s.nodes) impl_->bytes -= node.bytes;
    impl_->entries -= s.nodes.size();
    dropped.swap(s.nodes);
    index.swap(s.index);
  }
}

void MemoryCore::trim(uint64_t bytes) { impl_->shrink(bytes, std::numeric_limits<uint64_t>::max()); }

void MemoryCore::set_limits(MemoryLimits limits) {
  impl_->limit_bytes = limits.bytes;
  impl_->limit_entries = limits.entries;
  impl_->shrink(limits.bytes, limits.entries);
}

MemoryStats MemoryCore::stats() const {
  return {impl_->hits, impl_->misses, impl_->joins, impl_->evictions, impl_->bytes, impl_->entries};
}

uint64_t MemoryCore::idle_bytes() const {
  uint64_t bytes = 0;
  for (Impl::Shard& s : impl_->shards) {
    const std::lock_guard lock(s.mutex);
    for (const Node& node : s.nodes)
      if (node.value.use_count() == 1) bytes += node.bytes;
  }
  return bytes;
}

}  // namespace ingot::cache
