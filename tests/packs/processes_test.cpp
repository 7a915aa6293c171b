// Whole processes over one cache: racing for the same kernels, and killed while they make them. INGOT_EXHAUSTIVE=1
// (./do exhaustive) runs them at full size.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "engine.h"

using namespace ingot;
using namespace ingot::engine;
using namespace ingot::engine::test;
using cache::test::names_with;
using cache::test::start_child;
using cache::test::wait_child;

namespace {

bool exhaustive() { return std::getenv("INGOT_EXHAUSTIVE") != nullptr; }

}  // namespace

TEST_CASE("kernel processes: all race for one kernel and for many; each computes right, and no entry is lost") {
  if (!compiler()) return;
  const int processes = exhaustive() ? 64 : 6;
  for (const size_t kernels : {size_t{1}, exhaustive() ? size_t{100} : size_t{8}}) {
    TempDir temp;
    int gate[2];
    REQUIRE(pipe(gate) == 0);
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
      children.push_back(start_child([&] {
        close(gate[1]);
        char none;
        EXPECT(read(gate[0], &none, 1) == 0);  // until the parent has started them all
        Warnings warnings;
        const auto c = context({.directory = temp / "c", .warnings = &warnings});
        const auto e = scaled(c, kernels);
        EXPECT(right(*e));
        EXPECT(c->counters().disk_hits + c->counters().compiles == kernels);
        EXPECT(warnings.lines.empty());
      }));
    }
    close(gate[0]);
    close(gate[1]);
    int failed = 0;
    for (const pid_t pid : children) failed += wait_child(pid) != 0;
    CHECK(failed == 0);
    const auto cache = cache::DiskCache::open(temp / "c");
    CHECK(cache->verify().good == kernels);
    CHECK(names_with(cache->path(), ".tmp").empty());
  }
}

TEST_CASE("kernel processes: killed at any point of making kernels, the next one computes right without a warning") {
  if (!compiler()) return;
  const int rounds = exhaustive() ? 200 : 15;
  TempDir temp;
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    const pid_t pid = start_child([&] {
      for (size_t kernels = 1;; kernels = kernels % 12 + 1) {
        const auto c = context({.directory = temp / "c"});
        scaled(c, kernels)->prepare();
        c->disk()->clear();
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 120000));
    kill(pid, SIGKILL);
    CHECK(wait_child(pid) == -1);
    const int checked = cache::test::run_child([&] {
      Warnings warnings;
      const auto c = context({.directory = temp / "c", .warnings = &warnings});
      EXPECT(right(*scaled(c, 4)));
      EXPECT(warnings.lines.empty());
    });
    CHECK(checked == 0);
  }
  const auto cache = cache::DiskCache::open(temp / "c");
  CHECK(cache->sweep().ran);
  CHECK(names_with(temp / "c", ".tmp").empty());
  const cache::VerifyReport report = cache->verify();
  CHECK(report.removed.empty());
  CHECK(report.unreadable.empty());
}
