// Whole kernels under faults of the disk cache. The rule, for each: the right numbers, at most one compile, at most one
// warning, and an entry that serves the next context.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstring>

#include "cache/directory.h"
#include "engine.h"
#include "jit/image/artifact.h"
#include "jit/image/isa.h"

using namespace ingot;
using namespace ingot::engine;
using namespace ingot::engine::test;
using cache::test::exists;
using cache::test::names_with;
using cache::test::read_file;
using cache::test::write_file;

namespace {

struct Fixture {
  TempDir temp;
  std::string directory = temp / "c";
  cache::Key key;
  std::string file;
  cache::Blob whole;  // the file, as it should be

  Fixture() {
    const auto c = context({.directory = directory});
    const auto e = scaled(c);
    REQUIRE(right(*e));
    REQUIRE(c->counters().compiles == 1);
    key = c->kernels().key(e->kernel_bytes(0), std::string(jit::host_target()));
    file = directory + "/" + cache::entry_name(key.hash);
    whole = read_file(file);
    REQUIRE(whole.size() > 500);
  }

  // A run of a new context over the directory as it is now.
  uint64_t run(size_t most_warnings = 1) const {
    Warnings warnings;
    const auto c = context({.directory = directory, .warnings = &warnings});
    CHECK(right(*scaled(c)));
    CHECK(c->counters().compiles <= 1);
    CHECK(c->counters().interpreted == 0);
    CHECK(warnings.lines.size() <= most_warnings);
    return c->counters().compiles;
  }
  void check_recompiled_and_repaired() const {
    CHECK(run() == 1);
    CHECK(run(0) == 0);
    CHECK(read_file(file) == whole);
  }
  cache::Blob entry(const cache::Blob& artifact) const { return cache::encode_entry({key.bytes, artifact}); }
  cache::Blob artifact() const {
    return {whole.begin() + static_cast<ptrdiff_t>(cache::entry_header_size + key.bytes.size()), whole.end()};
  }
};

}  // namespace

TEST_CASE("kernel faults: an entry truncated at every 64th byte") {
  if (!compiler()) return;
  const Fixture f;
  for (size_t size = 0; size < f.whole.size(); size += 64) {
    CAPTURE(size);
    REQUIRE(truncate(f.file.c_str(), static_cast<off_t>(size)) == 0);
    f.check_recompiled_and_repaired();
  }
}

// Every byte is found by the store; that what it finds becomes a compile is shown on every 97th.
TEST_CASE("kernel faults: every byte of an entry flipped") {
  if (!compiler()) return;
  const Fixture f;
  const auto store = cache::DiskCache::open(f.directory);
  for (size_t at = 0; at < f.whole.size(); ++at) {
    cache::Blob bytes = f.whole;
    bytes[at] ^= 0xff;
    write_file(f.file, bytes);
    if (at % 97 == 0) {
      CAPTURE(at);
      f.check_recompiled_and_repaired();
    } else {
      cache::Miss why;
      CHECK_FALSE(store->get(f.key, &why));
      CHECK(why.reason == cache::MissReason::content);
    }
  }
}

TEST_CASE("kernel faults: an entry of another build, compiler, level or format under the key's name") {
  if (!compiler()) return;
  const Fixture f;
  SUBCASE("another build or LLVM: its key holds another build-id") {
    cache::Key other = f.key;
    other.bytes[44] ^= 1;  // within the build-id
    write_file(f.file, cache::encode_entry({other.bytes, f.artifact()}));
  }
  SUBCASE("another ISA level's key") {
    const auto c = context({.directory = f.directory});
    const auto e = scaled(c);
    const cache::Key other = c->kernels().key(e->kernel_bytes(0), "aarch64");
    write_file(f.file, cache::encode_entry({other.bytes, c->kernels().artifact(e->kernel_bytes(0), "aarch64")}));
  }
  SUBCASE("code of an ISA level that this machine does not run, under the right key") {
    const auto c = context({});
    const auto e = scaled(c);
    const bool arm = jit::host_target() == "aarch64";
    write_file(f.file, f.entry(c->kernels().artifact(e->kernel_bytes(0), arm ? "x86-64-v2" : "aarch64")));
  }
  SUBCASE("another version of the entry's format") {
    cache::Blob bytes = f.whole;
    bytes[8] += 1;
    write_file(f.file, bytes);
  }
  SUBCASE("another artifact format, or another frame, both with right checksums") {
    for (const size_t at : {8, 12}) {
      cache::Blob bytes = f.artifact();
      bytes[at] += 1;
      jit::seal_artifact(bytes);
      write_file(f.file, f.entry(bytes));
      if (at == 8) f.check_recompiled_and_repaired();
    }
  }
  SUBCASE("an artifact without entries") {
    jit::Artifact a = jit::decode_artifact(f.artifact());
    a.entries.clear();
    write_file(f.file, f.entry(jit::encode_artifact(a)));
  }
  SUBCASE("no artifact at all") { write_file(f.file, f.entry(cache::Blob(64, 1))); }
  SUBCASE("nothing") { write_file(f.file, {}); }
  f.check_recompiled_and_repaired();
}

TEST_CASE("kernel faults: what stands in an entry's place is replaced") {
  if (!compiler()) return;
  const Fixture f;
  SUBCASE("a symbolic link to a whole entry") {
    write_file(f.temp / "elsewhere", f.whole);
    REQUIRE(unlink(f.file.c_str()) == 0);
    REQUIRE(symlink((f.temp / "elsewhere").c_str(), f.file.c_str()) == 0);
  }
  SUBCASE("a symbolic link to nothing") {
    REQUIRE(unlink(f.file.c_str()) == 0);
    REQUIRE(symlink("nowhere", f.file.c_str()) == 0);
  }
  SUBCASE("a pipe") {
    REQUIRE(unlink(f.file.c_str()) == 0);
    REQUIRE(mkfifo(f.file.c_str(), 0600) == 0);
  }
  SUBCASE("a directory") {
    REQUIRE(unlink(f.file.c_str()) == 0);
    REQUIRE(mkdir(f.file.c_str(), 0700) == 0);
  }
  SUBCASE("a file that others may write to") { REQUIRE(chmod(f.file.c_str(), 0666) == 0); }
  SUBCASE("another user's file") {
    if (geteuid() != 0) return cache::test::skip("cache-foreign-owner", "only root can give files away");
    REQUIRE(chown(f.file.c_str(), cache::test::nobody, cache::test::nobody) == 0);
  }
  f.check_recompiled_and_repaired();
}

TEST_CASE("kernel faults: chmod 000, a clock set back, a directory without its lock") {
  if (!compiler()) return;
  const Fixture f;
  REQUIRE(chmod(f.file.c_str(), 0) == 0);
  f.run();  // root reads it all the same
  f.run(0);
  const timespec future[2] = {{time(nullptr) + 100000, 0}, {time(nullptr) + 100000, 0}};
  REQUIRE(utimensat(AT_FDCWD, f.file.c_str(), future, 0) == 0);
  CHECK(f.run(0) == 0);
  unlink((f.directory + "/.lock").c_str());
  CHECK(f.run(0) == 0);
}

TEST_CASE("kernel faults: the directory removed, closed off or turned into a file while a context uses it") {
  if (!compiler()) return;
  const Fixture f;
  Warnings warnings;
  const auto c = context({.directory = f.directory, .warnings = &warnings});
  CHECK(right(*scaled(c)));
  std::filesystem::remove_all(f.directory);
  c->kernels().trim(0);
  CHECK(right(*scaled(c)));
  CHECK(c->counters().compiles == 1);
  CHECK(exists(f.file));
  CHECK(warnings.lines.empty());
  REQUIRE(chmod(f.directory.c_str(), 0777) == 0);
  c->kernels().trim(0);
  CHECK(right(*scaled(c)));
  CHECK(c->counters().compiles == 2);
  CHECK(warnings.lines.size() == 1);
  std::filesystem::remove_all(f.directory);
  write_file(f.directory, cache::Blob(10));
  c->kernels().trim(0);
  CHECK(right(*scaled(c)));
  CHECK(c->counters().compiles == 3);
  CHECK(warnings.lines.size() == 1);
}

TEST_CASE("kernel faults: where nothing can be written all is computed, with one warning at most") {
  if (!compiler()) return;
  for (const bool limited : {true, false}) {
    TempDir temp;
    const int status = cache::test::run_child([&] {
      if (limited) {
        // No file may grow past this, which hits the entry as a full disk does: in the middle of it.
        const rlimit limit = {300, 300};
        EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
      }
      Warnings warnings;
      const auto c = context({.directory = temp / "c", .warnings = &warnings});
      EXPECT(limited || chmod((temp / "c").c_str(), 0770) == 0);
      EXPECT(right(*scaled(c, 3)));
      EXPECT(c->counters().compiles == 3);
      EXPECT(warnings.lines.size() == (limited ? 0 : 1));
      EXPECT(names_with(temp / "c", "").empty());
    });
    CHECK(status == 0);
  }
}

TEST_CASE("kernel faults: damage is told of once, however many entries it took") {
  if (!compiler()) return;
  TempDir temp;
  CHECK(right(*scaled(context({.directory = temp / "c"}), 8)));
  for (const std::string& name : names_with(temp / "c", "")) {
    if (name.ends_with(".ing")) REQUIRE(truncate((temp / "c/" + name).c_str(), 200) == 0);
  }
  Warnings warnings;
  const auto c = context({.directory = temp / "c", .warnings = &warnings});
  CHECK(right(*scaled(c, 8)));
  CHECK(c->counters().compiles == 8);
  CHECK(warnings.lines.size() == 1);
}
