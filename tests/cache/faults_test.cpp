// What can go wrong with a directory, a file, a disk. The rule: the right blob or a miss, one warning at most, and the
// entry repaired by the next put wherever it can be.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cstring>

#include "cache/directory.h"
#include "cache/disk.h"
#include "support.h"

using namespace ingot::cache;
using namespace ingot::cache::test;

namespace {

std::string file_of(const DiskCache& cache, const Key& key) { return cache.path() + "/" + entry_name(key.hash); }

// A get that must miss with this reason, after which a put must repair.
void check_miss_and_repair(DiskCache& cache, const Key& key, const Blob& blob, MissReason reason) {
  Miss why;
  CHECK_FALSE(cache.get(key, &why));
  CHECK(why.reason == reason);
  CHECK(exists(file_of(cache, key)) == (reason == MissReason::io));
  cache.put(key, blob);
  CHECK(cache.get(key) == blob);
}

std::string open_error(const std::string& path) {
  try {
    DiskCache::open(path);
  } catch (const ingot::Error& e) {
    return e.message();
  }
  return "opened";
}
bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// In a child: a small tmpfs at `path`, seen by this process alone. False where the system allows no such thing.
bool mount_tmpfs(const std::string& path, const char* options) {
  if (unshare(CLONE_NEWNS) != 0) {
    const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    // Without a mapping the user could own no file in there.
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user + " " + user + " 1";
    std::ofstream("/proc/self/gid_map") << group + " " + group + " 1";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("tmpfs", path.c_str(), "tmpfs", 0, options) == 0;
}

}  // namespace

TEST_CASE("cache faults: truncated to every length, with one warning") {
  TempDir temp;
  Warnings warnings;
  const auto cache = DiskCache::open(temp / "c", {}, warnings.log());
  const Key key = key_of("some key");
  const Blob blob = blob_of(key, 60);
  cache->put(key, blob);
  const Blob whole = read_file(file_of(*cache, key));
  for (size_t size = 0; size < whole.size(); ++size) {
    REQUIRE(truncate(file_of(*cache, key).c_str(), static_cast<off_t>(size)) == 0);
    check_miss_and_repair(*cache, key, blob, MissReason::content);
  }
  CHECK(read_file(file_of(*cache, key)) == whole);
  CHECK(cache->stats().removed == whole.size());
  CHECK(warnings.lines.size() == 1);
}

TEST_CASE("cache faults: every byte flipped, every bit of the header, a byte too many") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("some key");
  const Blob blob = blob_of(key, 40);
  cache->put(key, blob);
  const Blob whole = read_file(file_of(*cache, key));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {0xff, 1, 2, 4, 8, 16, 32, 64, 128}) {
      if (at >= 48 && mask != 0xff && mask != 1 << at % 8) continue;
      Blob bytes = whole;
      bytes[at] ^= static_cast<uint8_t>(mask);
      write_file(file_of(*cache, key), bytes);
      check_miss_and_repair(*cache, key, blob, MissReason::content);
    }
  }
  Blob longer = whole;
  longer.push_back(0);
  write_file(file_of(*cache, key), longer);
  check_miss_and_repair(*cache, key, blob, MissReason::content);
}

TEST_CASE("cache faults: a header that states enormous lengths costs no memory") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("some key");
  const Blob blob = blob_of(key, 40);
  cache->put(key, blob);
  Blob bytes = read_file(file_of(*cache, key));
  const uint64_t huge = uint64_t{1} << 62;
  memcpy(&bytes[40], &huge, 8);
  write_file(file_of(*cache, key), bytes);
  check_miss_and_repair(*cache, key, blob, MissReason::content);
  REQUIRE(truncate(file_of(*cache, key).c_str(), off_t{1} << 40) == 0);  // and a file that is enormous, with holes
  check_miss_and_repair(*cache, key, blob, MissReason::content);
}

TEST_CASE("cache faults: a symbolic link, a pipe and a directory in the place of an entry") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("a");
  const Blob blob = blob_of(key, 100);
  cache->put(key, blob);
  const std::string file = file_of(*cache, key), elsewhere = temp / "elsewhere";
  REQUIRE(rename(file.c_str(), elsewhere.c_str()) == 0);
  REQUIRE(symlink(elsewhere.c_str(), file.c_str()) == 0);
  const Blob before = read_file(elsewhere);
  check_miss_and_repair(*cache, key, blob, MissReason::io);
  struct stat info;
  REQUIRE(lstat(file.c_str(), &info) == 0);
  CHECK(S_ISREG(info.st_mode));
  CHECK(read_file(elsewhere) == before);  // written past the link, not through it

  REQUIRE(unlink(file.c_str()) == 0);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  check_miss_and_repair(*cache, key, blob, MissReason::io);

  REQUIRE(unlink(file.c_str()) == 0);
  REQUIRE(mkdir(file.c_str(), 0700) == 0);
  check_miss_and_repair(*cache, key, blob, MissReason::io);
}

TEST_CASE("cache faults: an entry that others may write to is not read") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("a");
  const Blob blob = blob_of(key, 100);
  cache->put(key, blob);
  REQUIRE(chmod(file_of(*cache, key).c_str(), 0660) == 0);
  check_miss_and_repair(*cache, key, blob, MissReason::io);
}

TEST_CASE("cache faults: an entry or a directory of another user is not used") {
  if (geteuid() != 0) {
    skip("cache-foreign-owner", "only root can give files away");
    return;
  }
  TempDir temp;
  const auto cache = DiskCache::open(temp / "c");
  const Key key = key_of("a");
  const Blob blob = blob_of(key, 100);
  cache->put(key, blob);
  REQUIRE(chown(file_of(*cache, key).c_str(), nobody, nobody) == 0);
  check_miss_and_repair(*cache, key, blob, MissReason::io);
  REQUIRE(chown((temp / "c").c_str(), nobody, nobody) == 0);
  CHECK(mentions(open_error(temp / "c"), "belongs to user 65534, not to 0"));
  Miss why;
  CHECK_FALSE(cache->get(key, &why));
  CHECK(why.reason == MissReason::io);
}

TEST_CASE("cache faults: an unreadable entry misses and stays") {
  TempDir temp;
  make_directory_for_dropped(temp / "c");
  const int status = run_child([&] {
    drop_rights();
    const auto cache = DiskCache::open(temp / "c");
    const Key key = key_of("a");
    cache->put(key, blob_of(key, 100));
    EXPECT(chmod(file_of(*cache, key).c_str(), 0) == 0);
    Miss why;
    EXPECT(!cache->get(key, &why));
    EXPECT(why.reason == MissReason::io);
    EXPECT(exists(file_of(*cache, key)));
    EXPECT(cache->verify().unreadable.size() == 1);
    EXPECT(exists(file_of(*cache, key)));
    EXPECT(cache->writable());
    cache->put(key, blob_of(key, 100));
    EXPECT(cache->get(key) == blob_of(key, 100));
  });
  CHECK(status == 0);
}

TEST_CASE("cache faults: directories that are refused, each with its reason") {
  TempDir temp;
  write_file(temp / "file", Blob(3));
  CHECK(mentions(open_error(temp / "file"), "file' is not a directory"));
  CHECK(mentions(open_error(temp / "file/below"), "cannot be"));
  CHECK(mentions(open_error("relative/path"), "not an absolute path"));
  CHECK(mentions(open_error(""), "not an absolute path"));
  CHECK_FALSE(exists("relative"));
  for (const mode_t mode : {0770, 0702}) {
    mkdir((temp / "open").c_str(), 0700);
    chmod((temp / "open").c_str(), mode);
    CHECK(mentions(open_error(temp / "open"), "open' is writable by group or others"));
  }
  mkdir((temp / "real").c_str(), 0700);
  REQUIRE(symlink((temp / "real").c_str(), (temp / "link").c_str()) == 0);
  CHECK(mentions(open_error(temp / "link"), "link' is a symbolic link"));
  CHECK(mentions(open_error(temp / "link/"), "link' is a symbolic link"));
  CHECK(open_error(temp / "link/below") == "opened");  // parents may be links: the directory itself is what is checked
  chmod((temp / "real").c_str(), 0755);
  CHECK(open_error(temp / "real") == "opened");
}

TEST_CASE("cache faults: a directory that becomes writable by others is no longer used") {
  TempDir temp;
  Warnings warnings;
  const auto cache = DiskCache::open(temp / "c", {}, warnings.log());
  const Key key = key_of("a");
  cache->put(key, blob_of(key, 10));
  chmod((temp / "c").c_str(), 0777);
  Miss why;
  CHECK_FALSE(cache->get(key, &why));
  CHECK(why.reason == MissReason::io);
  cache->put(key, blob_of(key, 10));
  CHECK_FALSE(cache->writable());
  CHECK(warnings.lines.size() == 1);
}

TEST_CASE("cache faults: a read-only directory is read, and writing stops with one warning") {
  TempDir temp;
  make_directory_for_dropped(temp / "c");
  const int status = run_child([&] {
    drop_rights();
    const Key a = key_of("a"), b = key_of("b");
    DiskCache::open(temp / "c")->put(a, blob_of(a, 100));
    EXPECT(chmod((temp / "c").c_str(), 0500) == 0);
    Warnings warnings;
    const auto cache = DiskCache::open(temp / "c", {}, warnings.log());
    EXPECT(cache->writable());
    for (int i = 0; i < 3; ++i) cache->put(b, blob_of(b, 100));
    EXPECT(!cache->writable());
    EXPECT(cache->stats().read_only);
    EXPECT(cache->stats().put_failures == 1);
    EXPECT(warnings.lines.size() == 1);
    EXPECT(mentions(warnings.lines[0], temp / "c"));
    EXPECT(cache->get(a) == blob_of(a, 100));
    EXPECT(!cache->get(b));
    EXPECT(!cache->sweep().ran);
    EXPECT(chmod((temp / "c").c_str(), 0700) == 0);
  });
  CHECK(status == 0);
}

TEST_CASE("cache faults: a directory that cannot be made says so") {
  TempDir temp;
  mkdir((temp / "locked").c_str(), 0755);
  const int status = run_child([&] {
    if (geteuid() == 0) {
      drop_rights();
    } else {
      EXPECT(chmod((temp / "locked").c_str(), 0500) == 0);
    }
    EXPECT(mentions(open_error(temp / "locked/a/b"), "cannot be made"));
    chmod((temp / "locked").c_str(), 0700);
  });
  CHECK(status == 0);
}

TEST_CASE("cache faults: full disk and no inodes left") {
  for (const char* options : {"size=64k", "nr_inodes=3,size=1m"}) {
    TempDir temp;
    mkdir((temp / "m").c_str(), 0700);
    const int status = run_child([&] {
      if (!mount_tmpfs(temp / "m", options)) _exit(skipped);
      Warnings warnings;
      const auto cache = DiskCache::open(temp / "m/c", {}, warnings.log());
      std::vector<Key> keys;
      for (int i = 0; i < 20; ++i) {
        keys.push_back(key_of(std::to_string(i)));
        cache->put(keys.back(), blob_of(keys.back(), 9000));
      }
      EXPECT(!cache->writable());
      EXPECT(warnings.lines.size() == 1);
      EXPECT(names_with(temp / "m/c", ".tmp").empty());
      EXPECT(cache->get(keys[0]) == blob_of(keys[0], 9000));
      EXPECT(!cache->get(keys[19]));
      EXPECT(cache->verify().removed.empty());
    });
    if (status == skipped) {
      skip("cache-full-disk", "this system lets the test mount no tmpfs");
    } else {
      CHECK(status == 0);
    }
  }
}

TEST_CASE("cache faults: a read-only file system") {
  TempDir temp;
  mkdir((temp / "m").c_str(), 0700);
  const int status = run_child([&] {
    if (!mount_tmpfs(temp / "m", "size=1m")) _exit(skipped);
    Warnings warnings;
    const Key a = key_of("a"), b = key_of("b"), damaged = key_of("damaged");
    const auto cache = DiskCache::open(temp / "m/c", {}, warnings.log());
    for (const Key& key : {a, damaged}) cache->put(key, blob_of(key, 100));
    EXPECT(truncate(file_of(*cache, damaged).c_str(), 50) == 0);
    EXPECT(mount("tmpfs", (temp / "m").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    EXPECT(cache->get(a) == blob_of(a, 100));
    EXPECT(!cache->get(damaged));
    EXPECT(!cache->get(damaged));
    for (int i = 0; i < 3; ++i) cache->put(b, blob_of(b, 100));
    EXPECT(!cache->writable());
    EXPECT(warnings.lines.size() == 2);  // of the damage and of the writing
    EXPECT(DiskCache::open(temp / "m/c")->get(a) == blob_of(a, 100));
    EXPECT(mentions(open_error(temp / "m/d"), "cannot be made"));
  });
  if (status == skipped) {
    skip("cache-read-only-file-system", "this system lets the test mount no tmpfs");
  } else {
    CHECK(status == 0);
  }
}

TEST_CASE("cache faults: a file size limit of the process makes a put fail, not the process") {
  TempDir temp;
  const int status = run_child([&] {
    const rlimit limit = {4096, 4096};
    EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const auto cache = DiskCache::open(temp / "c");
    const Key large = key_of("large"), small = key_of("small");
    cache->put(large, blob_of(large, 5000));
    cache->put(small, blob_of(small, 3000));
    EXPECT(!cache->get(large));
    EXPECT(cache->get(small) == blob_of(small, 3000));
    EXPECT(cache->writable());
  });
  CHECK(status == 0);
}

TEST_CASE("cache faults: without descriptors a get is an I/O miss, and later all is well") {
  TempDir temp;
  const int status = run_child([&] {
    const auto cache = DiskCache::open(temp / "c");
    const Key key = key_of("a");
    cache->put(key, blob_of(key, 100));
    rlimit limit;
    EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit none = {0, limit.rlim_max};
    EXPECT(setrlimit(RLIMIT_NOFILE, &none) == 0);
    Miss why;
    EXPECT(!cache->get(key, &why));
    EXPECT(why.reason == MissReason::io);
    cache->put(key, blob_of(key, 100));
    EXPECT(cache->writable());
    EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    EXPECT(cache->get(key) == blob_of(key, 100));
  });
  CHECK(status == 0);
}

TEST_CASE("cache faults: the directory removed, or moved away, while running") {
  TempDir temp;
  const auto cache = DiskCache::open(temp / "x/c");
  const Key key = key_of("a");
  const Blob blob = blob_of(key, 100);
  cache->put(key, blob);
  std::filesystem::remove_all(temp / "x");
  Miss why;
  CHECK_FALSE(cache->get(key, &why));
  CHECK(why.reason == MissReason::absent);
  CHECK(cache->list().empty());
  CHECK_FALSE(cache->sweep().ran);
  CHECK_FALSE(exists(temp / "x"));  // reading makes nothing
  cache->put(key, blob);
  CHECK(cache->get(key) == blob);
  REQUIRE(rename((temp / "x/c").c_str(), (temp / "x/d").c_str()) == 0);
  CHECK_FALSE(cache->get(key));
  cache->put(key, blob);
  CHECK(cache->get(key) == blob);
}

TEST_CASE("cache faults: the host closed descriptors it does not know") {
  TempDir temp;
  const int status = run_child([&] {
    const auto cache = DiskCache::open(temp / "c");
    const Key key = key_of("a");
    cache->put(key, blob_of(key, 100));
    for (int fd = 3; fd < 100; ++fd) close(fd);
    EXPECT(cache->get(key) == blob_of(key, 100));
    EXPECT(open("/", O_RDONLY | O_DIRECTORY) == 3);  // nothing is held open in between
  });
  CHECK(status == 0);
}
