// What tests of whole kernels share: contexts over a cache directory and packs, small graphs, runs with known results.
#pragma once

#include <filesystem>
#include <iostream>

#include "cache/support.h"
#include "engine/executable.h"
#include "engine/kernels.h"
#include "ir/text.h"

namespace ingot::engine::test {

using cache::test::TempDir;
using cache::test::Warnings;

// Whether there is a compiler module at all: a build without LLVM has only the interpreter to test.
inline bool compiler() {
  static const bool found = std::filesystem::exists(std::filesystem::path(INGOT_MODULES) / "libingot_cpu.so");
  if (!found) std::cout << "SKIP: engine-compiler: built without LLVM\n";
  return found;
}

struct Setup {
  std::string directory;  // empty: no disk cache
  std::vector<std::string> packs;
  std::string modules = INGOT_MODULES;
  Warnings* warnings = nullptr;
};

inline std::shared_ptr<Context> context(const Setup& setup) {
  ContextOptions o;
  o.disk_cache = !setup.directory.empty();
  o.cache_dir = setup.directory;
  o.packs = setup.packs;
  o.module_dir = setup.modules;
  o.no_threads = true;
  o.ignore_environment = true;
  if (setup.warnings) o.log = setup.warnings->log();
  return Context::create(o);
}

// y = x * (number + 2), one kernel for each number, as many as asked for: each its own output.
inline std::shared_ptr<Executable> scaled(const std::shared_ptr<Context>& c, size_t kernels = 1,
                                          CompileOptions options = {}) {
  std::string in, out, body, results;
  for (size_t i = 0; i < kernels; ++i) {
    // Extents of their own, so that no two of them share a launch.
    const std::string n = std::to_string(i);
    in += cat(i ? ", " : "", "%x", n, ": f32[N", n, "]");
    out += cat(i ? ", " : "", "f32[N", n, "]");
    body += cat("  %y", n, " = mul %x", n, ", ", i + 2, ".0\n");
    results += cat(i ? ", " : "", "%y", n);
  }
  auto graph = std::make_shared<ir::Graph>(
      ir::parse(cat("ingot 1.0\ngraph @scaled(", in, ") -> (", out, ") {\n", body, "  return ", results, "\n}\n")));
  return Executable::compile(c, std::move(graph), options);
}

// Whether a run of scaled() gives what it must.
inline bool right(Executable& e) {
  const size_t n = e.graph().inputs().size();
  std::vector<float> x{0, 1, -3}, y(3 * n, -1);
  int64_t shape[1] = {3};
  std::vector<runtime::Tensor> tensors(2 * n, {x.data(), {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0});
  std::vector<const runtime::Tensor*> ins, outs;
  for (size_t i = 0; i < n; ++i) {
    tensors[n + i].data = y.data() + 3 * i;
    ins.push_back(&tensors[i]);
    outs.push_back(&tensors[n + i]);
  }
  e.run(ins, outs, {});
  for (size_t i = 0; i < 3 * n; ++i) {
    const size_t factor = i / 3 + 2;
    if (y[i] != x[i % 3] * static_cast<float>(factor)) return false;
  }
  return true;
}

}  // namespace ingot::engine::test
