#include "cache/memory.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "support.h"

using namespace ingot::cache;
using namespace ingot::cache::test;

namespace {

using Cache = MemoryCache<int>;
Cache::Made made(int value, uint64_t bytes = 1) { return {std::make_shared<const int>(value), bytes}; }

int get(Cache& cache, const std::string& key, int value, uint64_t bytes = 1) {
  return *cache.get_or_make(key_of(key), [&] { return made(value, bytes); });
}

// Runs `body(thread index)` on n threads at once.
template <class Body>
void on_threads(int n, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&body, i] { body(i); });
  for (auto& t : threads) t.join();
}

// Gives up after ten seconds, so that a fault shows as a failed check and not as a test that never ends.
template <class Condition>
void wait_until(Condition condition) {
  for (int i = 0; i < 10000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("memory cache: a value is made once and found again") {
  Cache cache;
  Outcome outcome{};
  CHECK(cache.find(key_of("a")) == nullptr);
  CHECK(*cache.get_or_make(key_of("a"), [] { return made(1, 10); }, &outcome) == 1);
  CHECK(outcome == Outcome::made);
  CHECK(*cache.get_or_make(key_of("a"), [] { return made(2, 10); }, &outcome) == 1);
  CHECK(outcome == Outcome::hit);
  CHECK(*cache.find(key_of("a")) == 1);
  const MemoryStats s = cache.stats();
  CHECK(s.entries == 1);
  CHECK(s.bytes == 10);
  CHECK(s.hits == 2);
  CHECK(s.misses == 2);
}

TEST_CASE("memory cache: keys of equal hash and different bytes are different keys") {
  Cache cache;
  Key a = key_of("a"), b = key_of("b");
  b.hash = a.hash;
  CHECK(*cache.get_or_make(a, [] { return made(1); }) == 1);
  CHECK(cache.find(b) == nullptr);
  CHECK(*cache.get_or_make(b, [] { return made(2); }) == 2);
  CHECK(*cache.find(a) == 1);
  CHECK(*cache.find(b) == 2);
}

TEST_CASE("memory cache: eight threads asking for one key make it once and share it") {
  Cache cache;
  std::atomic<int> makes{0};
  std::vector<Cache::Value> values(8);
  on_threads(8, [&](int i) {
    values[static_cast<size_t>(i)] = cache.get_or_make(key_of("a"), [&] {
      ++makes;
      wait_until([&] { return cache.stats().joins == 7; });  // until all the others wait
      return made(42);
    });
  });
  CHECK(makes == 1);
  for (const auto& v : values) CHECK(v == values[0]);
  CHECK(cache.stats().misses == 1);
  CHECK(cache.stats().joins == 7);
}

TEST_CASE("memory cache: different keys are made at the same time") {
  Cache cache;
  std::atomic<int> inside{0}, together{0};
  on_threads(8, [&](int i) {
    cache.get_or_make(key_of(std::to_string(i)), [&] {
      ++inside;
      wait_until([&] { return inside == 8; });  // in vain if makes exclude each other
      together += inside == 8;
      return made(i);
    });
  });
  CHECK(cache.stats().entries == 8);
  CHECK(together == 8);
}

TEST_CASE("memory cache: an exception reaches all who wait, and the next one makes again") {
  Cache cache;
  std::atomic<int> makes{0}, caught{0};
  on_threads(8, [&](int) {
    try {
      cache.get_or_make(key_of("a"), [&]() -> Cache::Made {
        ++makes;
        wait_until([&] { return cache.stats().joins == 7; });
        ingot::fail(ingot::Code::unavailable, "no compiler");
      });
    } catch (const ingot::Error& e) {
      if (e.code() == ingot::Code::unavailable && e.message() == "no compiler") ++caught;
    }
  });
  CHECK(makes == 1);
  CHECK(caught == 8);
  CHECK(cache.stats().entries == 0);
  CHECK(get(cache, "a", 7) == 7);
}

TEST_CASE("memory cache: what is no std::exception is an abandonment, and one who waited makes instead") {
  Cache cache;
  std::atomic<int> makes{0}, good{0}, bad{0};
  on_threads(4, [&](int) {
    try {
      const auto value = cache.get_or_make(key_of("a"), [&]() -> Cache::Made {
        if (++makes > 1) return made(5);
        wait_until([&] { return cache.stats().joins == 3; });
        throw 1;
      });
      good += *value == 5;
    } catch (int) {
      ++bad;
    }
  });
  CHECK(bad == 1);
  CHECK(good == 3);
  CHECK(makes == 2);
}

TEST_CASE("memory cache: the least recently used goes first, by entries") {
  Cache cache({1000, 3});
  get(cache, "a", 1);
  get(cache, "b", 2);
  get(cache, "c", 3);
  CHECK(cache.find(key_of("a")));  // now b is the oldest
  get(cache, "d", 4);
  CHECK_FALSE(cache.find(key_of("b")));
  CHECK(cache.find(key_of("a")));
  CHECK(cache.find(key_of("c")));
  CHECK(cache.find(key_of("d")));
  CHECK(cache.stats().evictions == 1);
  CHECK(cache.stats().entries == 3);
}

TEST_CASE("memory cache: the order of use holds over many keys") {
  Cache cache({1u << 20, 64});
  for (int i = 0; i < 200; ++i) get(cache, std::to_string(i), i);
  for (int i = 0; i < 136; ++i) CHECK_FALSE(cache.find(key_of(std::to_string(i))));
  for (int i = 136; i < 200; ++i) CHECK(cache.find(key_of(std::to_string(i))));
  for (int i = 136; i < 200; i += 2) CHECK(cache.find(key_of(std::to_string(i))));  // the odd ones are older now
  for (int i = 200; i < 232; ++i) get(cache, std::to_string(i), i);
  for (int i = 136; i < 200; ++i) CHECK((cache.find(key_of(std::to_string(i))) != nullptr) == (i % 2 == 0));
}

TEST_CASE("memory cache: the byte limit, a value above it alone, trim, clear and new limits") {
  Cache cache({100, 1000});
  get(cache, "a", 1, 40);
  get(cache, "b", 2, 40);
  get(cache, "c", 3, 40);
  CHECK(cache.stats().bytes == 80);
  CHECK_FALSE(cache.find(key_of("a")));
  CHECK(get(cache, "huge", 9, 101) == 9);  // given, not kept, and nothing evicted for it
  CHECK_FALSE(cache.find(key_of("huge")));
  CHECK(cache.stats().bytes == 80);
  cache.trim(40);
  CHECK_FALSE(cache.find(key_of("b")));
  CHECK(cache.find(key_of("c")));
  get(cache, "d", 4, 40);
  cache.set_limits({1000, 1});
  CHECK(cache.stats().entries == 1);
  CHECK(cache.find(key_of("d")));
  cache.clear();
  CHECK(cache.stats().entries == 0);
  CHECK(cache.stats().bytes == 0);
  CHECK_FALSE(cache.find(key_of("d")));
}

TEST_CASE("memory cache: a value lives after eviction for as long as it is held, and no longer") {
  Cache cache({1000, 1});
  auto held = cache.get_or_make(key_of("a"), [] { return made(11); });
  const std::weak_ptr<const int> watch = held;
  get(cache, "b", 2);
  CHECK_FALSE(cache.find(key_of("a")));
  CHECK(*held == 11);
  held.reset();
  CHECK(watch.expired());
}

TEST_CASE("memory cache: a value's destructor and a make may use the cache") {
  struct Nosy {
    MemoryCache<Nosy>* cache;
    ~Nosy() {
      if (cache) cache->find(key_of("other"));
    }
  };
  MemoryCache<Nosy> cache({1000, 2});
  for (int i = 0; i < 10; ++i) {
    const Key key = key_of(std::to_string(i)), inner = key_of("inner" + std::to_string(i));
    const auto make = [&] { return MemoryCache<Nosy>::Made{std::make_shared<Nosy>(&cache), 1}; };
    cache.get_or_make(key, [&] {
      cache.get_or_make(inner, make);
      cache.get_or_make(key, make);  // its own key: made again instead of waited for
      return make();
    });
  }
  CHECK(cache.stats().entries == 2);
  cache.clear();
}

TEST_CASE("memory cache: asking in steps") {
  Cache cache;
  auto first = cache.ask(key_of("a"));
  REQUIRE(first.owner());
  auto second = cache.ask(key_of("a"));
  CHECK_FALSE(second.owner());
  CHECK_FALSE(second.ready());
  CHECK_FALSE(cache.find(key_of("a")));
  std::thread publisher([r = std::move(first)]() mutable { r.publish(std::make_shared<const int>(3), 1); });
  CHECK(*second.wait() == 3);
  publisher.join();
  CHECK(second.ready());
  CHECK(*cache.ask(key_of("a")).hit() == 3);

  auto dropped = std::make_unique<Cache::Request>(cache.ask(key_of("b")));
  auto third = cache.ask(key_of("b"));
  dropped.reset();
  CHECK(third.wait() == nullptr);  // abandoned: ask again
  auto again = cache.ask(key_of("b"));
  REQUIRE(again.owner());
  auto waiting = cache.ask(key_of("b"));
  again.reject(std::make_exception_ptr(std::runtime_error("no")));
  CHECK_THROWS_AS(waiting.wait(), std::runtime_error);
}

TEST_CASE("memory cache: a request outlives the cache") {
  auto cache = std::make_unique<Cache>();
  auto owner = cache->ask(key_of("a"));
  auto waiting = cache->ask(key_of("a"));
  cache.reset();
  owner.publish(std::make_shared<const int>(4), 1);
  CHECK(*waiting.wait() == 4);
}

TEST_CASE("memory cache: eight threads, more keys than room, the right values throughout") {
  Cache cache({1u << 20, 16});
  std::atomic<int> wrong{0};
  on_threads(8, [&](int t) {
    uint32_t x = static_cast<uint32_t>(t) + 1;
    for (int i = 0; i < 3000; ++i) {
      x = x * 1664525 + 1013904223;
      const int k = static_cast<int>(x >> 24) % 64;
      if (get(cache, std::to_string(k), k, 10) != k) ++wrong;
      if (i % 500 == 0) cache.trim(50);
      if (i % 700 == 0) cache.clear();
    }
  });
  CHECK(wrong == 0);
  CHECK(cache.stats().entries <= 16);
  CHECK(cache.stats().bytes == cache.stats().entries * 10);
}

TEST_CASE("memory cache: after fork the child keeps the values and does not wait for what others were making") {
  Cache cache;
  get(cache, "cached", 1);
  std::atomic<bool> inside{false}, let_go{false};
  std::thread maker([&] {
    cache.get_or_make(key_of("slow"), [&] {
      inside = true;
      wait_until([&] { return let_go.load(); });
      return made(2);
    });
  });
  wait_until([&] { return inside.load(); });
  std::thread waiter([&] { cache.get_or_make(key_of("slow"), [] { return made(99); }); });
  wait_until([&] { return cache.stats().joins == 1; });
  const int status = run_child([&] {
    alarm(10);
    EXPECT(get(cache, "cached", 99) == 1);
    EXPECT(get(cache, "slow", 3) == 3);
    EXPECT(get(cache, "slow", 99) == 3);
    EXPECT(get(cache, "new", 4) == 4);
  });
  CHECK(status == 0);
  let_go = true;
  maker.join();
  waiter.join();
  CHECK(*cache.find(key_of("slow")) == 2);
}

TEST_CASE("memory cache: fork while other threads are inside the cache") {
  Cache cache({1000, 16});
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; !stop; ++i) get(cache, std::to_string(i % 40), i % 40);
    });
  }
  int bad = 0;
  for (int i = 0; i < 40; ++i) {
    const int status = run_child([&] {
      alarm(10);
      for (int k = 0; k < 40; ++k) EXPECT(get(cache, std::to_string(k), k) == k);
    });
    bad += status != 0;
  }
  CHECK(bad == 0);
  stop = true;
  for (auto& t : threads) t.join();
}

TEST_CASE("memory cache: a make in progress on the forking thread goes on in the child") {
  Cache cache;
  pid_t pid = 0;
  const auto value = cache.get_or_make(key_of("a"), [&] {
    pid = start_child([] {});
    return made(pid == 0 ? 1 : 2);
  });
  CHECK(wait_child(pid) == 0);
  CHECK(*value == 2);
  fflush(nullptr);
  const auto again = cache.get_or_make(key_of("b"), [&] {
    pid = fork();
    return made(pid == 0 ? 1 : 2);
  });
  if (pid == 0) _exit(*again == 1 && cache.find(key_of("b")) == again ? 0 : 1);
  CHECK(wait_child(pid) == 0);
  CHECK(*again == 2);
}
