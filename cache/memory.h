// The memory cache: Key -> std::shared_ptr<const T>, least recently used out first, one maker per key.
//
// A holder of a value keeps it alive; eviction drops only the cache's own reference. Values are made, waited for and
// destroyed with no lock held, so they may take milliseconds, throw, and call back into the cache. All functions are
// thread-safe. After fork() the child keeps the values and forgets what other threads were making.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "cache/key.h"

namespace ingot::cache {

struct MemoryLimits {
  uint64_t bytes = uint64_t{256} << 20;
  uint64_t entries = 16384;
};

struct MemoryStats {
  uint64_t hits = 0;
  uint64_t misses = 0;     // each began a make, or was a find() that found nothing
  uint64_t joins = 0;      // asked for a key that another was making
  uint64_t evictions = 0;  // by limits and trim(), not by clear()
  uint64_t bytes = 0;      // held now, as stated by the makers
  uint64_t entries = 0;
};

// How a value was come by.
enum class Outcome : uint8_t { hit, joined, made };

// The untyped part, compiled once. Use MemoryCache<T>.
class MemoryCore {
 public:
  using Value = std::shared_ptr<const void>;
  struct Made {
    Value value;
    uint64_t bytes = 0;
  };
  struct Impl;
  struct Flight;

  // One asking for one key. It is a hit, or it owns the make (and owes publish() or reject()), or it waits for another
  // owner. An owner that goes away owing is an abandonment: those who wait must ask again. Keeps the cache's innards
  // alive, so it may outlive the MemoryCore. Not thread-safe itself, but may move between threads.
  class Request {
   public:
    Request(Request&& other) noexcept;
    Request& operator=(Request&&) = delete;
    ~Request();

    const Value& hit() const noexcept { return hit_; }  // null unless it was a hit
    bool owner() const noexcept { return owner_; }
    bool ready() const noexcept;  // whether wait() returns at once
    // Blocks until the owner is done. Returns the value, throws the owner's exception, or returns null if the owner
    // abandoned the key. An owner must not wait for itself.
    Value wait() const;
    // Owner only, once. publish() offers the value to the cache (it stays out if it alone exceeds the byte limit or
    // memory is short) and to those who wait; `value` must not be null.
    void publish(Value value, uint64_t bytes);
    void reject(std::exception_ptr error) noexcept;

   private:
    friend class MemoryCore;
    Request() = default;
    void finish(uint32_t state) noexcept;
    std::shared_ptr<Impl> impl_;
    std::shared_ptr<Flight> flight_;
    Value hit_;
    bool owner_ = false;
  };

  explicit MemoryCore(MemoryLimits limits);

  Value find(const Key& key);
  Request ask(const Key& key);
  Value get_or_make(const Key& key, const std::function<Made()>& make, Outcome* outcome);
  void clear();
  void trim(uint64_t bytes);
  void set_limits(MemoryLimits limits);
  MemoryStats stats() const;
  uint64_t idle_bytes() const;

 private:
  Request ask(const Key& key, bool on_this_thread);
  std::shared_ptr<Impl> impl_;
};

template <class T>
class MemoryCache {
 public:
  using Value = std::shared_ptr<const T>;
  struct Made {
    Value value;         // not null
    uint64_t bytes = 0;  // what the value weighs against MemoryLimits::bytes
  };

  explicit MemoryCache(MemoryLimits limits = {}) : core_(limits) {}

  // The value, made most recently used; or null. Never waits.
  Value find(const Key& key) { return cast(core_.find(key)); }

  // The value under `key`, made by `make() -> Made` if there is none. However many threads ask, make runs once at a
  // time for a key, and the others wait and share its value or its std::exception; a failed make is not cached. A make
  // that asks for its own key makes it again, uncached, instead of waiting for itself; makes that wait for each other's
  // keys across threads are the caller's deadlock. `outcome`, if given, is set when a value is returned.
  template <class Make>
  Value get_or_make(const Key& key, Make&& make, Outcome* outcome = nullptr) {
    return cast(core_.get_or_make(
        key,
        [&make] {
          Made made = make();
          return MemoryCore::Made{std::move(made.value), made.bytes};
        },
        outcome));
  }

  // The same in steps, for batches, background makes and callers that must not wait: see MemoryCore::Request. Whoever
  // asks for several keys publishes all those it owns before it waits for the others.
  class Request {
   public:
    Value hit() const noexcept { return cast(request_.hit()); }
    bool owner() const noexcept { return request_.owner(); }
    bool ready() const noexcept { return request_.ready(); }
    Value wait() const { return cast(request_.wait()); }
    void publish(Value value, uint64_t bytes) { request_.publish(std::move(value), bytes); }
    void reject(std::exception_ptr error) noexcept { request_.reject(std::move(error)); }

   private:
    friend class MemoryCache;
    explicit Request(MemoryCore::Request request) : request_(std::move(request)) {}
    MemoryCore::Request request_;
  };
  Request ask(const Key& key) { return Request(core_.ask(key)); }

  void clear() { core_.clear(); }                                     // drops every value; makes in flight go on
  void trim(uint64_t bytes) { core_.trim(bytes); }                    // evicts until at most `bytes` are held
  void set_limits(MemoryLimits limits) { core_.set_limits(limits); }  // evicts what is over them now
  MemoryStats stats() const { return core_.stats(); }
  // Bytes of values that nobody but the cache holds: what trim(0) would free at this moment. Looks at every entry.
  uint64_t idle_bytes() const { return core_.idle_bytes(); }

 private:
  static Value cast(MemoryCore::Value value) { return std::static_pointer_cast<const T>(std::move(value)); }
  MemoryCore core_;
};

}  // namespace ingot::cache
