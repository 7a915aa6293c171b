// Packs as a host uses them: made from executables, asked before all else, and good without any compiler.
#include <doctest/doctest.h>

#include "engine.h"
#include "engine/cache_report.h"
#include "engine/pack.h"
#include "jit/image/artifact.h"
#include "jit/image/isa.h"

using namespace ingot;
using namespace ingot::engine;
using namespace ingot::engine::test;
using cache::test::write_file;

namespace {

const std::vector<std::string> all_levels = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"};

// A pack of scaled(kernels) for these targets (none: this machine) at `path`.
void make(const std::string& path, size_t kernels, const std::vector<std::string>& targets = {}) {
  const auto e = scaled(context({}), kernels);
  Executable* const list[] = {e.get()};
  write_file(path, make_pack(list, targets));
}

uint64_t n(const std::atomic<uint64_t>& counter) { return counter.load(); }

}  // namespace

TEST_CASE("packs: with a pack nothing is compiled, and there need be no compiler and no directory") {
  if (!compiler()) return;
  TempDir temp;
  make(temp / "p", 5);
  for (const std::string& modules : {std::string(INGOT_MODULES), temp.path()}) {
    Warnings warnings;
    const auto c = context({.packs = {temp / "p"}, .modules = modules, .warnings = &warnings});
    CHECK(right(*scaled(c, 5, {.backend = Backend::cpu})));
    CHECK(n(c->counters().compiles) == 0);
    CHECK(n(c->counters().misses) == 0);
    CHECK(n(c->counters().pack_hits) == 5);
    CHECK(n(c->counters().disk_hits) == 0);
    CHECK_FALSE(c->kernels().compiler_loaded());
    CHECK(right(*scaled(c, 1)));  // a kernel in memory by now
    CHECK(n(c->counters().pack_hits) == 5);
    CHECK(n(c->counters().memory_hits) == 1);
    CHECK(warnings.lines.empty());
  }
}

TEST_CASE("packs: asked before the directory, in the order they are named") {
  if (!compiler()) return;
  TempDir temp;
  make(temp / "first", 2);
  make(temp / "second", 4);
  CHECK(right(*scaled(context({.directory = temp / "c"}), 6)));
  const auto c = context({.directory = temp / "c", .packs = {temp / "first", temp / "second"}});
  CHECK(right(*scaled(c, 6)));
  CHECK(n(c->counters().pack_hits) == 4);
  CHECK(n(c->counters().disk_hits) == 2);
  CHECK(n(c->counters().compiles) == 0);
}

TEST_CASE("packs: the highest level that this machine runs is taken, and lower ones before a compile") {
  if (!compiler()) return;
  const auto below = jit::targets_below(jit::host_target());
  REQUIRE_FALSE(below.empty());
  TempDir temp;
  make(temp / "all", 1, all_levels);
  for (const std::string_view level : below) {
    make(temp / std::string(level), 1, {std::string(level)});
    const auto c = context({.packs = {temp / std::string(level)}, .modules = temp.path()});
    CHECK(right(*scaled(c, 1, {.backend = Backend::cpu})));
    CHECK(n(c->counters().pack_hits) == 1);
  }
  // Of all levels the one of this machine: a pack that lacks it serves another, so the two files tell which was read.
  auto pack = cache::Pack::open(temp / "all");
  CHECK(pack->size() == 4);
  const auto e = scaled(context({}), 1);
  for (const std::string& level : all_levels) {
    const auto blob = pack->get(Kernels::pack_key(e->kernel_bytes(0), level), nullptr);
    REQUIRE(blob);
    CHECK(jit::decode_artifact(*blob).target == level);
  }
  // A host that asks for one level by name gets that one or a compile.
  const std::string lowest(below.back());
  if (below.size() > 1) {
    const auto c = context({.packs = {temp / lowest}});
    CHECK(right(*scaled(c, 1, {.target = std::string(below.front())})));
    CHECK(n(c->counters().pack_hits) == 0);
    CHECK(n(c->counters().compiles) == 1);
  }
  // Code that this machine cannot run is never looked for.
  make(temp / "foreign", 1, {below.front() == "aarch64" ? "x86-64-v2" : "aarch64"});
  const auto c = context({.packs = {temp / "foreign"}});
  CHECK(right(*scaled(c, 1)));
  CHECK(n(c->counters().pack_hits) == 0);
}

TEST_CASE("packs: a damaged one costs one warning and a compile; the numbers are right") {
  if (!compiler()) return;
  TempDir temp;
  make(temp / "good", 3);
  const cache::Blob whole = cache::test::read_file(temp / "good");
  for (size_t at = 3; at < whole.size(); at += whole.size() / 13) {
    for (const bool cut : {false, true}) {
      cache::Blob bytes = whole;
      if (cut) bytes.resize(at);
      else bytes[at] ^= 0x40;
      write_file(temp / "bad", bytes);
      Warnings warnings;
      const auto c = context({.directory = temp / "c", .packs = {temp / "bad"}, .warnings = &warnings});
      CHECK(right(*scaled(c, 3)));
      CHECK(warnings.lines.size() == 1);
      CHECK(n(c->counters().pack_hits) + n(c->counters().disk_hits) + n(c->counters().compiles) == 3);
    }
  }
}

TEST_CASE("packs: what is no artifact under a right key and checksum is compiled instead, with one warning") {
  if (!compiler()) return;
  TempDir temp;
  const auto e = scaled(context({}), 2);
  std::vector<std::pair<cache::Key, cache::Blob>> entries;
  for (size_t i = 0; i < 2; ++i)
    entries.emplace_back(Kernels::pack_key(e->kernel_bytes(i), std::string(jit::host_target())), cache::Blob(100, 7));
  write_file(temp / "p", cache::encode_pack(std::move(entries), "me"));
  for (const size_t kernels : {size_t{1}, size_t{2}}) {
    Warnings warnings;
    const auto c = context({.packs = {temp / "p"}, .warnings = &warnings});
    CHECK(right(*scaled(c, kernels)));
    CHECK(n(c->counters().pack_hits) == 0);
    CHECK(n(c->counters().compiles) == kernels);
    CHECK(warnings.lines.size() == 1);
  }
  // The directory is asked all the same.
  CHECK(right(*scaled(context({.directory = temp / "c"}), 2)));
  const auto c = context({.directory = temp / "c", .packs = {temp / "p"}});
  CHECK(right(*scaled(c, 2)));
  CHECK(n(c->counters().disk_hits) == 2);
  CHECK(n(c->counters().compiles) == 0);
}

TEST_CASE("packs: the same bytes every time, from a cold and from a warm cache, and the cache is warm afterwards") {
  if (!compiler()) return;
  TempDir temp;
  const std::vector<std::string> targets = {"x86-64-v3", "aarch64", "x86-64-v3"};
  std::vector<cache::Blob> packs;
  for (int round = 0; round < 2; ++round) {
    const auto c = context({.directory = temp / "c"});
    const auto a = scaled(c, 3), b = scaled(c, 2);  // the second's kernels are among the first's
    Executable* const both[] = {a.get(), b.get()};
    packs.push_back(make_pack(both, targets));
    CHECK(n(c->counters().compiles) == (round == 0 ? 6 : 0));
    CHECK(n(c->counters().disk_hits) == (round == 0 ? 0 : 6));
    CHECK(c->kernels().compiler_loaded() == (round == 0));
  }
  CHECK(packs[0] == packs[1]);
  write_file(temp / "p", packs[0]);
  const auto pack = cache::Pack::open(temp / "p");
  CHECK(pack->size() == 6);
  CHECK(pack->maker() == context({})->kernels().module_id());
}

TEST_CASE("packs: what cannot be packed is refused") {
  const auto c = context({}), other = context({});
  const auto a = scaled(c), b = scaled(other);
  const auto code = [](std::vector<Executable*> list, std::vector<std::string> targets) {
    try {
      make_pack(list, targets);
      return Code::ok;
    } catch (const Error& e) {
      return e.code();
    }
  };
  CHECK(code({}, {}) == Code::invalid_argument);
  CHECK(code({a.get(), b.get()}, {}) == Code::invalid_argument);
  for (const char* target : {"", "x86-64-v9", "sm_90"}) CHECK(code({a.get()}, {target}) == Code::invalid_argument);
  TempDir temp;
  const auto none = context({.modules = temp.path()});
  CHECK(code({scaled(none).get()}, {}) == Code::unavailable);
}

TEST_CASE("packs: the report names each, with what is wrong with it") {
  TempDir temp;
  write_file(temp / "bad", cache::Blob(1000));
  write_file(temp / "empty", cache::encode_pack({}, "maker"));
  const std::string info = cache_report(*context({.packs = {temp / "bad", temp / "empty"}}), "info");
  CHECK(info.find("\"fault\": \"is no pack\"") != std::string::npos);
  CHECK(info.find("\"maker\": \"maker\"") != std::string::npos);
}

TEST_CASE("batches: all kernels of a warm graph share one mapping") {
  if (!compiler()) return;
  TempDir temp;
  CHECK(right(*scaled(context({.directory = temp / "c"}), 20)));
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
      count += line.find("r-xp") != std::string::npos && line.find('/') == std::string::npos;
    return count;
  };
  const auto c = context({.directory = temp / "c"});
  const int before = mappings();
  const auto e = scaled(c, 20);
  CHECK(right(*e));
  CHECK(n(c->counters().disk_hits) == 20);
  CHECK(mappings() <= before + 1);
  CHECK_FALSE(c->kernels().compiler_loaded());
}
