// Where a kernel's code comes from: keys, caches between contexts, damage, fallback, and threads that all need it
// first.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include "engine/executable.h"
#include "engine/kernels.h"
#include "ir/text.h"
#include "jit/image/isa.h"

using namespace ingot;
namespace fs = std::filesystem;

namespace {

struct Directory {
  fs::path path;
  Directory() {
    std::string name = (fs::temp_directory_path() / "ingot-engine-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Directory() { fs::remove_all(path); }
};

// Whether there is a compiler module at all: a build without LLVM has only the interpreter to test.
bool compiler() {
  static const bool found = fs::exists(fs::path(INGOT_MODULES) / "libingot_cpu.so");
  if (!found) std::cout << "SKIP: engine-compiler: built without LLVM\n";
  return found;
}

std::shared_ptr<engine::Context> context(const std::string& cache, std::string modules = INGOT_MODULES) {
  engine::ContextOptions o;
  o.disk_cache = !cache.empty();
  o.cache_dir = cache;
  o.module_dir = std::move(modules);
  o.ignore_environment = true;
  return engine::Context::create(o);
}

std::shared_ptr<const ir::Graph> graph(const char* body) {
  return std::make_shared<ir::Graph>(
      ir::parse(cat("ingot 1.0\ngraph @same_name(%x: f32[N]) -> (f32[N]) {\n  %0 = ", body, "\n  return %0\n}\n")));
}

// Runs on [0, 1, 2].
std::vector<float> run(engine::Executable& e) {
  std::vector<float> x{0, 1, 2}, y(3, -1);
  int64_t shape[1] = {3};
  runtime::Tensor in{x.data(), {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, out = in;
  out.data = y.data();
  const runtime::Tensor *ins[] = {&in}, *outs[] = {&out};
  e.run(ins, outs, {});
  return y;
}

std::vector<float> run(const std::shared_ptr<engine::Context>& c, const char* body, engine::CompileOptions o = {}) {
  return run(*engine::Executable::compile(c, graph(body), o));
}

}  // namespace

TEST_CASE("the key covers body and target, and nothing that may change from run to run") {
  const auto c = context("");
  auto& kernels = c->kernels();
  const auto a = engine::Executable::compile(c, graph("mul %x, 2.0"), {});
  const auto b = engine::Executable::compile(c, graph("add %x, 100.0"), {});
  const auto again = engine::Executable::compile(context(""), graph("mul %x, 2.0"), {});
  CHECK_FALSE(kernels.key(a->kernel_bytes(0), "x86-64-v3") == kernels.key(b->kernel_bytes(0), "x86-64-v3"));
  CHECK_FALSE(kernels.key(a->kernel_bytes(0), "x86-64-v3") == kernels.key(a->kernel_bytes(0), "x86-64-v2"));
  CHECK(kernels.key(a->kernel_bytes(0), "x86-64-v3") ==
        again->context()->kernels().key(again->kernel_bytes(0), "x86-64-v3"));
  if (compiler()) CHECK(kernels.module_id().size() == 40);  // a SHA-1 build-id in hex
}

TEST_CASE("kernels of one name do not serve each other, in memory or from disk") {
  if (!compiler()) return;
  const Directory d;
  for (int round = 0; round < 2; ++round) {
    const auto c = context(d.path);
    CHECK(run(c, "mul %x, 2.0") == std::vector<float>{0, 2, 4});
    CHECK(run(c, "add %x, 100.0") == std::vector<float>{100, 101, 102});
    CHECK(run(c, "mul %x, 2.0") == std::vector<float>{0, 2, 4});
    CHECK(c->counters().compiles == (round == 0 ? 2 : 0));
    CHECK(c->counters().disk_hits == (round == 0 ? 0 : 2));
    CHECK(c->counters().memory_hits == 1);
    CHECK(c->kernels().compiler_loaded() == (round == 0));
  }
}

TEST_CASE("a damaged entry is compiled anew, with the right numbers, and repaired") {
  if (!compiler()) return;
  const Directory d;
  CHECK(run(context(d.path), "mul %x, 2.0") == std::vector<float>{0, 2, 4});
  for (const auto& entry : fs::directory_iterator(d.path)) {
    if (entry.path().extension() != ".ing") continue;
    std::fstream f(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(static_cast<std::streamoff>(fs::file_size(entry.path()) / 2));
    f.put('\x55');
    f.put('\xaa');
  }
  const auto damaged = context(d.path);
  CHECK(run(damaged, "mul %x, 2.0") == std::vector<float>{0, 2, 4});
  CHECK(damaged->counters().compiles == 1);
  const auto repaired = context(d.path);
  CHECK(run(repaired, "mul %x, 2.0") == std::vector<float>{0, 2, 4});
  CHECK(repaired->counters().disk_hits == 1);
}

TEST_CASE("without a compiler auto interprets with the same bits, and cpu says what was tried") {
  const Directory empty;
  const auto c = context("", empty.path);
  const char* body = "exp %x";
  const std::vector<float> interpreted = run(c, body);
  CHECK(c->counters().interpreted == 1);
  if (compiler()) CHECK(run(context(""), body) == interpreted);
  try {
    run(c, body, {.backend = engine::Backend::cpu});
    FAIL("ran");
  } catch (const Error& e) {
    CHECK(e.code() == Code::unavailable);
    CHECK(e.message().find(empty.path.string()) != std::string::npos);
  }
}

TEST_CASE("a cache callback may run the executable that is being prepared") {
  std::shared_ptr<engine::Executable> e;
  int depth = 0, inner = 0;
  engine::ContextOptions o;
  o.disk_cache = false;
  o.no_threads = true;
  o.module_dir = INGOT_MODULES;
  o.ignore_environment = true;
  o.host_cache = cache::HostCallbacks{.get = [&](std::string_view) -> std::optional<cache::Blob> {
                                        if (depth++ == 0) inner = run(*e) == std::vector<float>{0, 2, 4};
                                        return std::nullopt;
                                      },
                                      .put = nullptr};
  e = engine::Executable::compile(engine::Context::create(o), graph("mul %x, 2.0"), {});
  CHECK(run(*e) == std::vector<float>{0, 2, 4});
  if (compiler()) CHECK(inner == 1);
}

TEST_CASE("eight threads that run an executable first get one compile and one result") {
  const auto c = context("");
  const auto e = engine::Executable::compile(c, graph("sigmoid %x"), {});
  const std::vector<float> expected = run(c, "sigmoid %x", {.backend = engine::Backend::interpreter});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) wrong += run(*e) != expected;
    });
  threads.clear();
  CHECK(wrong == 0);
  CHECK(c->counters().compiles <= 1);
}
