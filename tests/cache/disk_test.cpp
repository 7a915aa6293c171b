#include "cache/disk.h"

#include <doctest/doctest.h>
#include <sys/file.h>

#include <thread>

#include "cache/directory.h"
#include "support.h"

using namespace ingot::cache;
using namespace ingot::cache::test;

namespace {

void set_age(const std::string& path, time_t seconds_ago) {
  const timespec times[2] = {{time(nullptr) - seconds_ago, 0}, {time(nullptr) - seconds_ago, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}
time_t age(const std::string& path) {
  struct stat info;
  REQUIRE(stat(path.c_str(), &info) == 0);
  return time(nullptr) - info.st_mtime;
}
std::string file_of(const DiskCache& cache, const Key& key) { return cache.path() + "/" + entry_name(key.hash); }

}  // namespace

TEST_CASE("disk cache: put, get, replace") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("a");
  Miss why;
  CHECK_FALSE(cache->get(key, &why));
  CHECK(why.reason == MissReason::absent);
  cache->put(key, blob_of(key, 1000));
  CHECK(cache->get(key) == blob_of(key, 1000));
  cache->put(key, Blob{});
  CHECK(cache->get(key) == Blob{});
  CHECK(names_with(cache->path(), "").size() == 1);
  const DiskStats s = cache->stats();
  CHECK(s.hits == 2);
  CHECK(s.misses[static_cast<size_t>(MissReason::absent)] == 1);
  CHECK(s.puts == 2);
  CHECK(s.bytes_written == 48 + 1 + 1000 + 48 + 1);
  CHECK(s.bytes_read == s.bytes_written);
}

TEST_CASE("disk cache: another object, as another process would, finds the entry") {
  TempDir temp;
  const Key key = key_of("a");
  DiskCache::open(temp / "c")->put(key, blob_of(key, 5000));
  CHECK(DiskCache::open(temp / "c")->get(key) == blob_of(key, 5000));
}

TEST_CASE("disk cache: directory and files are the owner's alone, whatever the umask") {
  TempDir temp;
  const mode_t before = umask(0);
  const auto cache = DiskCache::open(temp / "x/y/z/");
  const Key key = key_of("a");
  cache->put(key, blob_of(key, 10));
  umask(before);
  struct stat info;
  for (const char* part : {"x", "x/y", "x/y/z"}) {
    REQUIRE(stat((temp / part).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
  }
  REQUIRE(stat(file_of(*cache, key).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("disk cache: a key of the same hash is a collision that says where the keys differ") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  Key a = key_of("kernel for v3 targets"), b = key_of("kernel for v4 targets");
  b.hash = a.hash;
  cache->put(a, blob_of(a, 100));
  Miss why;
  CHECK_FALSE(cache->get(b, &why));
  CHECK(why.reason == MissReason::collision);
  CHECK(why.difference.first == 12);
  CHECK(why.difference.last == 13);
  CHECK(cache->get(a));  // not removed
  cache->put(b, blob_of(b, 100));
  CHECK(cache->get(b) == blob_of(b, 100));
  CHECK_FALSE(cache->get(a));
}

TEST_CASE("disk cache: a hit renews the time of use, a recent one is left alone") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("a");
  cache->put(key, blob_of(key, 10));
  set_age(file_of(*cache, key), 3600);
  CHECK(cache->get(key));
  CHECK(age(file_of(*cache, key)) < 60);
  set_age(file_of(*cache, key), 20);
  CHECK(cache->get(key));
  CHECK(age(file_of(*cache, key)) >= 20);
  set_age(file_of(*cache, key), 3600);
  cache->verify();  // looking is not using
  CHECK(age(file_of(*cache, key)) >= 3600);
}

TEST_CASE("disk cache: the sweep removes the least recently used, by entries and by bytes") {
  TempDir temp;
  const auto wide = DiskCache::open(temp / "c");
  std::vector<Key> keys;
  for (int i = 0; i < 20; ++i) {
    keys.push_back(key_of(std::to_string(i)));
    wide->put(keys.back(), blob_of(keys.back(), 1000));
    set_age(file_of(*wide, keys.back()), 10000 - i);
  }
  CHECK(wide->get(keys[0]));  // the oldest becomes the newest

  SweepReport report = DiskCache::open(temp / "c", {1u << 30, 10, 1u << 20})->sweep();
  CHECK(report.ran);
  CHECK(report.evicted == 10);
  CHECK(report.entries == 10);
  CHECK(wide->get(keys[0]));
  for (size_t i = 1; i <= 10; ++i) CHECK_FALSE(wide->get(keys[i]));
  for (size_t i = 11; i < 20; ++i) CHECK(wide->get(keys[i]));

  report = DiskCache::open(temp / "c", {3500, 1000, 1u << 20})->sweep();
  CHECK(report.entries == 3);
  CHECK(report.bytes <= 3500);
}

TEST_CASE("disk cache: limits hold while entries keep coming, from several objects") {
  TempDir temp;
  const auto a = DiskCache::open(temp / "c", {1u << 30, 40, 1u << 20});
  const auto b = DiskCache::open(temp / "c", {1u << 30, 40, 1u << 20});
  for (int i = 0; i < 300; ++i) {
    const Key key = key_of(std::to_string(i));
    (i % 2 ? a : b)->put(key, blob_of(key, 50));
    // Over the limit: a sixteenth of it and one for each object, and the lock file.
    CHECK(names_with(temp / "c", "").size() <= 40 + 2 * (2 + 1) + 1);
  }
  CHECK(a->stats().evictions + b->stats().evictions >= 250);
}

TEST_CASE("disk cache: one sweep at a time") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  CHECK(cache->sweep().ran);
  const int fd = open((temp / "c/.lock").c_str(), O_RDWR);
  REQUIRE(fd >= 0);
  REQUIRE(flock(fd, LOCK_SH) == 0);  // keeps out whoever wants it alone
  CHECK_FALSE(cache->sweep().ran);
  close(fd);
  CHECK(cache->sweep().ran);
}

TEST_CASE("disk cache: while another keeps the sweep from running, no more is put than a sixteenth") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c", {1u << 30, 64, 1u << 20});
  CHECK(cache->sweep().ran);
  const int fd = open((temp / "c/.lock").c_str(), O_RDWR);
  REQUIRE(fd >= 0);
  REQUIRE(flock(fd, LOCK_EX) == 0);
  for (int i = 0; i < 100; ++i) cache->put(key_of(std::to_string(i)), Blob(10));
  CHECK(cache->list().size() == 64 / 16 + 1);
  CHECK(cache->writable());
  close(fd);
  for (int i = 0; i < 100; ++i) cache->put(key_of(std::to_string(i)), Blob(10));
  CHECK(cache->list().size() > 50);
  std::filesystem::remove_all(temp / "c");  // nothing left to sweep: that keeps no one from putting
  cache->put(key_of("a"), Blob(10));
  CHECK(cache->get(key_of("a")));
}

TEST_CASE("disk cache: the clock was set back") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c", {1u << 30, 2, 1u << 20});
  const Key hit = key_of("hit"), future = key_of("future"), past = key_of("past");
  for (const Key& key : {hit, future, past}) DiskCache::open(temp / "c")->put(key, blob_of(key, 10));
  set_age(file_of(*cache, hit), -100000);
  set_age(file_of(*cache, future), -100000);
  set_age(file_of(*cache, past), 100);
  CHECK(cache->get(hit) == blob_of(hit, 10));
  CHECK(age(file_of(*cache, hit)) >= 0);
  CHECK(cache->sweep().evicted == 1);
  CHECK_FALSE(cache->get(past));
  CHECK(age(file_of(*cache, future)) >= 0);  // and ages like the others from now on
}

TEST_CASE("disk cache: temporaries of dead processes are swept, those of live ones are not") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const pid_t dead = start_child([] {});
  CHECK(wait_child(dead) == 0);
  write_file(temp / "c/" + temp_name(dead, 0), Blob(10));
  write_file(temp / "c/" + temp_name(getpid(), 7), Blob(10));
  write_file(temp / "c/" + temp_name(dead, 1), Blob(10));  // of another pid namespace: its writer holds the lock
  const int fd = open((temp / "c/" + temp_name(dead, 1)).c_str(), O_RDONLY);
  REQUIRE(flock(fd, LOCK_EX) == 0);
  write_file(temp / "c/notes.txt", Blob(10));
  CHECK(cache->sweep().temps_removed == 1);
  CHECK_FALSE(exists(temp / "c/" + temp_name(dead, 0)));
  CHECK(exists(temp / "c/" + temp_name(getpid(), 7)));
  CHECK(exists(temp / "c/" + temp_name(dead, 1)));
  close(fd);
  set_age(temp / "c/" + temp_name(getpid(), 7), 7200);  // a pid used again
  CHECK(cache->sweep().temps_removed == 2);
  CHECK(exists(temp / "c/notes.txt"));
}

TEST_CASE("disk cache: list, verify, clear") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key a = key_of("aaa"), b = key_of("bb"), c = key_of("c");
  for (const Key& key : {a, b, c}) cache->put(key, blob_of(key, 100));
  auto entries = cache->list(true);
  REQUIRE(entries.size() == 3);
  for (const auto& e : entries) {
    CHECK(e.fault.empty());
    CHECK(e.name == entry_name(Key::of(e.key).hash));
    CHECK(e.blob_bytes == 100);
    CHECK(e.key_bytes == e.key.size());
    CHECK(e.bytes == 48 + e.key_bytes + e.blob_bytes);
    CHECK(time(nullptr) - e.used < 100);
  }
  CHECK(cache->verify().good == 3);

  Blob damaged = read_file(file_of(*cache, b));
  damaged[60] ^= 1;
  write_file(file_of(*cache, b), damaged);
  write_file(temp / "c/" + std::string(32, '0') + ".ing", read_file(file_of(*cache, a)));  // whole, misplaced
  write_file(temp / "c/" + std::string(32, '1') + ".ing", {});
  mkdir((temp / "c/" + std::string(32, '2') + ".ing").c_str(), 0700);
  write_file(temp / "c/notes.txt", Blob(10));
  entries = cache->list(true);
  REQUIRE(entries.size() == 6);
  for (const auto& e : entries) {
    if (e.name.starts_with("1111")) CHECK(e.fault == "shorter than a header");
    if (e.name.starts_with("2222")) CHECK(e.fault == "is not a regular file");
  }
  const VerifyReport report = cache->verify();
  CHECK(report.good == 2);
  CHECK(report.removed.size() == 3);
  CHECK(report.unreadable.size() == 1);
  CHECK(cache->get(a));
  CHECK_FALSE(cache->get(b));
  CHECK(cache->clear() == 2);
  CHECK(cache->list().size() == 1);  // the directory
  CHECK(exists(temp / "c/notes.txt"));
}

TEST_CASE("disk cache: entries over the size limit are neither written nor read") {
  TempDir temp;
  const Key key = key_of("a");
  const auto small = DiskCache::open(temp / "c", {1u << 30, 100, 1000});
  small->put(key, blob_of(key, 1000));
  CHECK(names_with(temp / "c", "").empty());
  CHECK(small->writable());
  DiskCache::open(temp / "c")->put(key, blob_of(key, 1000));
  Miss why;
  CHECK_FALSE(small->get(key, &why));
  CHECK(why.reason == MissReason::content);
}

TEST_CASE("disk cache: eight threads, one object, reading, writing, sweeping") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c", {1u << 30, 12, 1u << 20});
  std::atomic<int> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const Key key = key_of(std::to_string((i * 7 + t) % 20));
        const auto blob = cache->get(key);
        if (blob) {
          ++hits;
          wrong += *blob != blob_of(key, 3000);
        } else {
          cache->put(key, blob_of(key, 3000));
        }
        if (i % 20 == 0) cache->list();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(hits > 0);
  CHECK(cache->stats().put_failures == 0);
  CHECK(names_with(temp / "c", ".tmp").empty());
}
