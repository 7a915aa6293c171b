// Many processes over one directory, and writers that die.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "cache/directory.h"
#include "cache/disk.h"
#include "support.h"

using namespace ingot::cache;
using namespace ingot::cache::test;

TEST_CASE("cache processes: a writer killed at any point leaves whole entries or none") {
  constexpr int rounds = 200, key_count = 8;
  constexpr size_t blob_size = 300000;
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  std::vector<Key> keys;
  std::vector<Blob> blobs;
  for (int i = 0; i < key_count; ++i) {
    keys.push_back(key_of(std::to_string(i)));
    blobs.push_back(blob_of(keys.back(), blob_size));
  }
  std::mt19937 random(1);
  int killed = 0, wrong = 0, damaged = 0;
  size_t left_behind = 0;
  for (int round = 0; round < rounds; ++round) {
    const pid_t pid = start_child([&] {
      const auto writer = DiskCache::open(temp / "c");
      for (size_t i = static_cast<size_t>(round);; ++i) writer->put(keys[i % key_count], blobs[i % key_count]);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(pid, SIGKILL);
    killed += wait_child(pid) == -1;
    left_behind += names_with(temp / "c", ".tmp").size();
    for (int i = 0; i < key_count; i += 1 + round % 3) {
      Miss why;
      const auto k = static_cast<size_t>(i);
      if (const auto blob = cache->get(keys[k], &why)) {
        wrong += *blob != blobs[k];
      } else {
        damaged += why.reason != MissReason::absent;
      }
    }
    if (round % 20 == 0) CHECK(cache->sweep().ran);
  }
  CHECK(killed == rounds);
  CHECK(wrong == 0);
  CHECK(damaged == 0);
  MESSAGE("writers killed in the middle of a file: " << left_behind);
  CHECK(cache->sweep().ran);
  CHECK(names_with(temp / "c", ".tmp").empty());
  const VerifyReport report = cache->verify();
  CHECK(report.removed.empty());
  CHECK(report.unreadable.empty());
}

TEST_CASE("cache processes: sixty-four race on one key and on a hundred") {
  for (const int key_count : {1, 100}) {
    TempDir temp;
    int gate[2];
    REQUIRE(pipe(gate) == 0);
    std::vector<pid_t> children;
    for (int p = 0; p < 64; ++p) {
      children.push_back(start_child([&] {
        close(gate[1]);
        char none;
        EXPECT(read(gate[0], &none, 1) == 0);  // until the parent has started them all
        const auto cache = DiskCache::open(temp / "deep/down/c");
        for (int i = 0; i < 50; ++i) {
          const Key key = key_of(std::to_string((i * 2 + p) % key_count));
          Miss why;
          const auto blob = cache->get(key, &why);
          EXPECT(blob ? *blob == blob_of(key, 2000) : why.reason == MissReason::absent);
          if (!blob || i % 4 == 0) cache->put(key, blob_of(key, 2000));
          if (i % 32 == 0) cache->sweep();
        }
        const DiskStats s = cache->stats();
        EXPECT(s.put_failures == 0);
        EXPECT(s.removed == 0);
      }));
    }
    close(gate[0]);
    close(gate[1]);
    int failed = 0;
    for (const pid_t pid : children) failed += wait_child(pid) != 0;
    CHECK(failed == 0);
    const auto cache = DiskCache::open(temp / "deep/down/c");
    CHECK(cache->verify().good == static_cast<uint64_t>(key_count));
    CHECK(names_with(cache->path(), ".tmp").empty());
  }
}

TEST_CASE("cache processes: readers, writers, clear, sweep and removal of the directory at once") {
  TempDir temp;
  std::vector<pid_t> children;
  for (int p = 0; p < 6; ++p) {
    children.push_back(start_child([&] {
      const auto cache = DiskCache::open(temp / "c", {1u << 30, 10, 1u << 20});
      for (int i = 0; i < 150; ++i) {
        const Key key = key_of(std::to_string((i * 3 + p) % 30));
        const auto blob = cache->get(key);
        EXPECT(!blob || *blob == blob_of(key, 1000));
        cache->put(key, blob_of(key, 1000));
        if (p == 0 && i % 10 == 0) cache->clear();
        if (p == 1 && i % 10 == 0) EXPECT(cache->verify().removed.empty());
        if (p == 2 && i % 30 == 0) {
          std::error_code ignored;
          std::filesystem::remove_all(temp / "c", ignored);
        }
      }
      EXPECT(cache->writable());
      EXPECT(cache->stats().removed == 0);
    }));
  }
  int failed = 0;
  for (const pid_t pid : children) failed += wait_child(pid) != 0;
  CHECK(failed == 0);
}

TEST_CASE("cache processes: fork while a thread writes") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const Key key = key_of(std::to_string(i % 10));
      cache->put(key, blob_of(key, 100000));
    }
  });
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    failed += run_child([&] {
                alarm(10);
                const Key key = key_of("child");
                cache->put(key, blob_of(key, 100));
                EXPECT(cache->get(key) == blob_of(key, 100));
                cache->sweep();
              }) != 0;
  }
  stop = true;
  writer.join();
  CHECK(failed == 0);
  CHECK(cache->sweep().ran);
  CHECK(names_with(cache->path(), ".tmp").empty());
  CHECK(cache->verify().removed.empty());
}

TEST_CASE("cache processes: the limits hold while four processes of two threads each keep putting") {
  constexpr uint64_t most_entries = 64, most_bytes = 64 * 1024;
  struct Case {
    DiskLimits limits;
    size_t blob;
  };
  for (const Case& c : {Case{{1u << 30, most_entries, 1u << 20}, 100}, Case{{most_bytes, 100000, 1u << 20}, 3000}}) {
    TempDir temp;
    std::vector<pid_t> children;
    for (int p = 0; p < 4; ++p) {
      children.push_back(start_child([&] {
        const auto cache = DiskCache::open(temp / "c", c.limits);
        std::vector<std::thread> threads;
        for (int t = 0; t < 2; ++t)
          threads.emplace_back([&, t] {
            for (int i = 0; i < 150; ++i) {
              const Key key = key_of(std::to_string(p) + "/" + std::to_string(t) + "/" + std::to_string(i));
              cache->put(key, blob_of(key, c.blob));
            }
          });
        for (std::thread& thread : threads) thread.join();
        EXPECT(cache->stats().put_failures == 0);
      }));
    }
    const auto cache = DiskCache::open(temp / "c", c.limits);
    uint64_t seen_entries = 0, seen_bytes = 0;
    for (int round = 0; round < 40; ++round) {
      uint64_t entries = 0, bytes = 0;
      for (const DiskEntry& e : cache->list()) ++entries, bytes += e.bytes;
      seen_entries = std::max(seen_entries, entries);
      seen_bytes = std::max(seen_bytes, bytes);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    int failed = 0;
    for (const pid_t pid : children) failed += wait_child(pid) != 0;
    CHECK(failed == 0);
    // 1,200 entries were put. Between two sweeps each process adds a sixteenth, and what comes during one.
    CHECK(seen_entries <= 2 * c.limits.entries);
    CHECK(seen_bytes <= 2 * c.limits.bytes);
    CHECK(cache->sweep().ran);
    const auto left = cache->list();
    uint64_t bytes = 0;
    for (const DiskEntry& e : left) bytes += e.bytes;
    CHECK(left.size() <= c.limits.entries);
    CHECK(bytes <= c.limits.bytes);
    CHECK(left.size() >= 15);  // no more than needed went
  }
}
