// Every form of thread mapping through the stand-in for the driver, which checks each access and finds races: the
// kernels and extents of run_test.cpp, whose bits must be the oracle's here too.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "fixture.h"
#include "ir/scalar.h"
#include "jit/cuda/args.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/launch_plan.h"
#include "oracle.h"
#include "run_test.h"

using namespace ingot;

namespace {

// Memory of the device, given back at the end.
struct Memory {
  CUdeviceptr at = 0;
  explicit Memory(size_t bytes) {
    if (bytes > 0) REQUIRE(cuMemAlloc_v2(&at, bytes) == 0);
  }
  ~Memory() { cuMemFree_v2(at); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

void run(CUmodule module, const loop::Kernel& kernel, std::vector<int64_t> sizes, uint32_t multiprocessors) {
  const size_t count = kernel.views.size();
  std::vector<jit::ViewArg> host(count), device(count);
  std::vector<std::vector<char>> memory(count);
  std::vector<std::unique_ptr<Memory>> mirror;
  for (size_t v = 0; v < count; ++v) {
    const loop::View& view = kernel.views[v];
    const size_t item = ir::item_size(view.storage);
    int64_t items = 1;
    for (size_t o = kernel.axis_count(); o-- > 0;) {
      const size_t a = kernel.row_lanes ? (o + 1) % kernel.axis_count() : o;
      if (!(view.axes >> a & 1)) continue;
      host[v].stride[a] = items * static_cast<int64_t>(item);
      items *= sizes[a];
    }
    memory[v].resize(static_cast<size_t>(items) * item);
    for (size_t e = 0; e < static_cast<size_t>(items); ++e) {
      const uint32_t h = static_cast<uint32_t>(e + 77 * v) * 2654435761u;
      const double x = (static_cast<double>(h >> 12) - 500000) / 65536;
      const uint64_t bits = ir::is_float(view.storage) ? ir::float_bits(view.storage, x) : h;
      std::memcpy(memory[v].data() + e * item, &bits, item);
    }
    host[v].base = memory[v].data();
    device[v] = host[v];
    mirror.push_back(std::make_unique<Memory>(memory[v].size()));
    device[v].base = reinterpret_cast<char*>(mirror[v]->at);
    if (!memory[v].empty()) REQUIRE(cuMemcpyHtoD_v2(mirror[v]->at, memory[v].data(), memory[v].size()) == 0);
  }
  test::oracle(kernel, sizes.data(), host.data());
  const jit::cuda::LaunchPlan plan =
      jit::cuda::plan_launch(kernel, sizes.data(), device.data(), {.multiprocessors = multiprocessors});
  const Memory scratch(plan.scratch_bytes);
  const jit::cuda::ArgLayout layout(kernel);
  std::vector<uint64_t> args(layout.bytes() / 8);
  sizes.push_back(0);
  layout.pack(sizes.data(), device.data(), 0, scratch.at, args.data());
  for (uint32_t s = 0; s < plan.count; ++s) {
    CUfunction f = nullptr;
    REQUIRE(cuModuleGetFunction(&f, module, jit::cuda::entry_names(kernel)[plan.stages[s].entry]) == 0);
    void* parameters[] = {args.data()};
    REQUIRE(cuLaunchKernel(f, plan.stages[s].blocks, 1, 1, plan.stages[s].threads, 1, 1, 0, nullptr, parameters,
                           nullptr) == 0);
  }
  const CUresult code = cuCtxSynchronize();
  REQUIRE_MESSAGE(code == 0, std::string(standin_report()));
  for (size_t v = 0; v < count; ++v) {
    if (kernel.views[v].kind != loop::ViewKind::store || memory[v].empty()) continue;
    std::vector<char> got(memory[v].size());
    REQUIRE(cuMemcpyDtoH_v2(got.data(), mirror[v]->at, got.size()) == 0);
    CHECK(got == memory[v]);
  }
}

}  // namespace

TEST_CASE("every form of thread mapping stays in bounds, does not race and gives the oracle's bits") {
  standin::test::Device device;
  for (const Shaped& s : shaped_kernels()) {
    const auto compiled = standin::test::compile_text(jit::emit_cuda(s.kernel));
    REQUIRE_MESSAGE(compiled.result == 0, compiled.log);
    CUmodule module = nullptr;
    REQUIRE(cuModuleLoadData(&module, compiled.cubin.data()) == 0);
    for (const std::vector<int64_t>& sizes : s.sizes) {
      std::string extents;
      for (const int64_t e : sizes) extents += cat(" ", e);
      INFO(std::string(s.name), ", extents", extents);
      for (const uint32_t multiprocessors : {1u, 132u}) run(module, s.kernel, sizes, multiprocessors);
    }
    CHECK(cuModuleUnload(module) == 0);
  }
}
