// What a host watches: why kernels were not found, and what is held in memory.
#include <filesystem>
#include <fstream>

#include "host.h"

using namespace host;
namespace fs = std::filesystem;

namespace {

struct Directory {
  Directory() {
    std::string pattern = (fs::temp_directory_path() / "ingot-stats-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path = pattern;
  }
  ~Directory() { fs::remove_all(path); }
  fs::path path;
};

Context caching(const Directory& d) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.cache_dir = d.path.c_str();
  o.ignore_environment = 1;
  ingot_context* c = nullptr;
  ok(ingot_context_create(&o, &c));
  return Context(c);
}

// A kernel of its own for each factor.
Executable scale(const Context& c, int factor, ingot_backend backend = INGOT_BACKEND_AUTO) {
  return compile(c,
                 parse(c, "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = mul %x, " + std::to_string(factor) +
                              ".0\n  return %0\n}\n"),
                 backend);
}

void prepare(const Executable& e) { ok(ingot_executable_prepare(e.get(), nullptr, 0, nullptr, nullptr)); }

fs::path entry_of(const Directory& d) {
  fs::path found;
  for (const auto& file : fs::recursive_directory_iterator(d.path))
    if (file.path().extension() == ".ing") found = file.path();
  REQUIRE(!found.empty());
  return found;
}

bool can_compile() {
  const Context c = context();
  prepare(scale(c, 2));
  if (stats(c).compiles == 1) return true;
  MESSAGE("SKIP: no compiler module");
  return false;
}

}  // namespace

TEST_CASE("a miss is counted under its reason") {
  if (!can_compile()) return;
  const Directory d;
  {
    const Context c = caching(d);
    prepare(scale(c, 2));
    const ingot_stats s = stats(c);
    CHECK(s.misses == 1);
    CHECK(s.missed_absent == 1);
    CHECK(s.missed_damaged + s.missed_unreadable + s.missed_collision + s.missed_disabled == 0);
  }
  {
    std::ofstream(entry_of(d), std::ios::binary | std::ios::trunc) << "no entry";
    const Context c = caching(d);
    prepare(scale(c, 2));
    const ingot_stats s = stats(c);
    CHECK(s.misses == 1);
    CHECK(s.missed_damaged == 1);
    CHECK(s.missed_absent == 0);
  }
  {
    // A symlink is not followed, whoever planted it.
    const fs::path entry = entry_of(d), aside = d.path / "aside";
    fs::rename(entry, aside);
    fs::create_symlink(aside, entry);
    const Context c = caching(d);
    prepare(scale(c, 2));
    const ingot_stats s = stats(c);
    CHECK(s.misses == 1);
    CHECK(s.missed_unreadable == 1);
    CHECK(s.missed_absent + s.missed_damaged == 0);
  }
  {
    const Context c = context();
    prepare(scale(c, 2));
    CHECK(stats(c).missed_disabled == 1);
  }
}

TEST_CASE("code is resident while cached or used, and pinned while used") {
  if (!can_compile()) return;
  const Context c = context();
  CHECK(stats(c).code_resident == 0);
  Executable first = scale(c, 2);
  prepare(first);
  const uint64_t one = stats(c).code_resident;
  CHECK(one > 0);
  CHECK(one == stats(c).memory_cache_bytes);
  CHECK(stats(c).code_pinned == one);
  {
    const Executable second = scale(c, 3);
    prepare(second);
    CHECK(stats(c).code_resident > one);
    CHECK(stats(c).code_pinned == stats(c).code_resident);
  }
  const uint64_t both = stats(c).code_resident;
  CHECK(both > one);                   // cached still
  CHECK(stats(c).code_pinned == one);  // but trim may have it
  ok(ingot_context_trim(c.get(), 0));
  CHECK(stats(c).memory_cache_bytes == 0);
  CHECK(stats(c).code_resident == one);  // out of the cache, in use
  CHECK(stats(c).code_pinned == one);
  first.reset();
  CHECK(stats(c).code_resident == 0);
  CHECK(stats(c).code_pinned == 0);
}

TEST_CASE("scratch that is kept between runs is counted until its executable is gone") {
  const Context c = context();
  CHECK(stats(c).scratch_kept == 0);
  {
    // Two kernels with a buffer between them: rows are reduced along dim 0, then scaled along dim 1.
    const Executable e = compile(c, parse(c,
                                          "ingot 1.0\ngraph @g(%x: f32[64, 64]) -> (f32[]) {\n"
                                          "  %0 = reduce_sum %x {axes = [0]}\n"
                                          "  %1 = exp %0\n"
                                          "  %2 = reduce_max %1 {axes = [0]}\n"
                                          "  return %2\n}\n"));
    Floats x({64, 64}, std::vector<float>(64 * 64, 0.0f)), y({}, {-1});
    ok(run(e, {&x.tensor}, {&y.tensor}));
    CHECK(y.data[0] == 1.0f);
    uint64_t scratch = 0;
    const ingot_tensor* const ins[] = {&x.tensor};
    ok(ingot_executable_scratch_size(e.get(), ins, 1, &scratch));
    CHECK(stats(c).scratch_kept >= scratch);
    CHECK(stats(c).scratch_kept > 0);
  }
  CHECK(stats(c).scratch_kept == 0);
}
