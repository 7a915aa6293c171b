// What Ingot generates, unchanged, through the stand-in: random kernels give the oracle's bits, and no access is stray
// or races. Bases are those of the device, one item after the start of an allocation or none.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "fixture.h"
#include "jit/cuda/args.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/launch_plan.h"
#include "oracle.h"
#include "random_launch.h"

using namespace ingot;
using standin::test::compile_text;
using standin::test::Device;

namespace {

std::string text_of(const loop::Kernel& kernel) {
  try {
    return jit::emit_cuda(kernel);
  } catch (const Error& e) {
    if (e.code() != Code::unimplemented) throw;
    return {};
  }
}

std::string renamed(std::string text, const std::string& name) {
  const std::string from = "ingot_kernel";
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + name.size()))
    text.replace(at, from.size(), name);
  return text;
}

struct Case {
  uint32_t seed;
  test::Shape shape;
  std::string name;
};

// Kernels with the same helpers are one text.
struct Unit {
  std::string text;
  std::vector<Case> cases;
};

std::map<std::string, Unit> units(uint32_t seeds) {
  std::map<std::string, Unit> out;
  for (const test::Shape shape : {test::Shape::pointwise, test::Shape::folds, test::Shape::dot}) {
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
      const std::string text = text_of(test::random_launch(seed, shape, 3000).program.kernel);
      if (text.empty()) continue;
      const size_t own = text.find("struct Args {");
      const std::string name = cat("k", static_cast<int>(shape), "_", seed);
      Unit& unit = out[text.substr(0, own)];
      unit.text += cat("namespace n", name, " {\n", renamed(text.substr(own), name), "}\n");
      unit.cases.push_back({seed, shape, name});
    }
  }
  return out;
}

// The memory of each view on the device, and what comes back from it.
class Mirror {
 public:
  explicit Mirror(test::Bound& bound) : bound_(bound), at_(bound.memory.size()) {
    for (size_t v = 0; v < at_.size(); ++v) {
      const test::Guarded& m = bound.memory[v];
      if (m.size() == 0) continue;
      REQUIRE(cuMemAlloc_v2(&at_[v], m.size()) == 0);
      REQUIRE(cuMemcpyHtoD_v2(at_[v], m.data(), m.size()) == 0);
    }
  }
  ~Mirror() {
    for (const CUdeviceptr p : at_) cuMemFree_v2(p);
  }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  std::vector<jit::ViewArg> args() const {
    std::vector<jit::ViewArg> out = bound_.args;
    for (size_t v = 0; v < out.size(); ++v) {
      // A base may lie outside of its memory: what is read begins where the box does.
      const size_t home = bound_.in_place[v];
      if (at_[home])
        out[v].base =
            reinterpret_cast<char*>(at_[home] + static_cast<uint64_t>(out[v].base - bound_.memory[home].data()));
    }
    return out;
  }
  void fetch() {
    for (size_t v = 0; v < at_.size(); ++v)
      if (at_[v]) REQUIRE(cuMemcpyDtoH_v2(bound_.memory[v].data(), at_[v], bound_.memory[v].size()) == 0);
  }

 private:
  test::Bound& bound_;
  std::vector<CUdeviceptr> at_;
};

void launch(CUmodule module, const Case& c, const loop::Kernel& kernel, const std::vector<int64_t>& sizes,
            const std::vector<jit::ViewArg>& views) {
  const jit::cuda::LaunchPlan plan = jit::cuda::plan_launch(kernel, sizes.data(), views.data(), {});
  const jit::cuda::ArgLayout layout(kernel);
  std::vector<uint64_t> args(layout.bytes() / 8);
  CUdeviceptr fault = 0, scratch = 0;
  REQUIRE(cuMemAlloc_v2(&fault, 24) == 0);
  REQUIRE(cuMemsetD8_v2(fault, 0, 24) == 0);
  if (plan.scratch_bytes > 0) REQUIRE(cuMemAlloc_v2(&scratch, plan.scratch_bytes) == 0);
  layout.pack(sizes.data(), views.data(), fault, scratch, args.data());
  for (uint32_t s = 0; s < plan.count; ++s) {
    CUfunction f = nullptr;
    const std::string entry = renamed(jit::cuda::entry_names(kernel)[plan.stages[s].entry], c.name);
    REQUIRE(cuModuleGetFunction(&f, module, entry.c_str()) == 0);
    void* parameters[] = {args.data()};
    REQUIRE(cuLaunchKernel(f, plan.stages[s].blocks, 1, 1, plan.stages[s].threads, 1, 1, 0, nullptr, parameters,
                           nullptr) == 0);
  }
  const CUresult code = cuCtxSynchronize();
  REQUIRE_MESSAGE(code == 0, std::string(standin_report()));
  CHECK(cuMemFree_v2(fault) == 0);
  CHECK(cuMemFree_v2(scratch) == 0);
}

}  // namespace

TEST_CASE("random kernels give the oracle's bits") {
  Device device;
  size_t of_shape[3] = {};
  for (const auto& [helpers, unit] : units(40)) {
    const auto compiled = compile_text(helpers + unit.text);
    REQUIRE_MESSAGE(compiled.result == 0, compiled.log);
    CUmodule module = nullptr;
    REQUIRE(cuModuleLoadData(&module, compiled.cubin.data()) == 0);
    for (const Case& c : unit.cases) {
      test::Bound bound = test::random_launch(c.seed, c.shape, 3000);
      const loop::Kernel& kernel = bound.program.kernel;
      INFO("shape ", static_cast<int>(c.shape), ", seed ", c.seed, "\n", loop::to_text(kernel));
      test::oracle(kernel, bound.sizes.data(), bound.expected.data());
      bound.sizes.push_back(0);  // the text has one where the kernel has none
      Mirror mirror(bound);
      launch(module, c, kernel, bound.sizes, mirror.args());
      mirror.fetch();
      ++of_shape[static_cast<size_t>(c.shape)];
      for (size_t v = 0; v < kernel.views.size(); ++v) {
        if (kernel.views[v].kind != loop::ViewKind::store) continue;
        const test::Guarded &got = bound.memory[bound.in_place[v]], &want = bound.copies[v];
        CHECK((want.size() == 0 || std::memcmp(got.data(), want.data(), want.size()) == 0));
      }
    }
    CHECK(cuModuleUnload(module) == 0);
  }
  for (const size_t count : of_shape) CHECK(count > 10);
}
