// Occupancy against NVIDIA's own: the examples of its guide, and cuda_occupancy.h where the toolkit is installed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "jit/cuda/occupancy.h"

#include <doctest/doctest.h>

#include <dlfcn.h>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "jit/cuda/nvrtc.h"
#ifdef INGOT_HAS_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

using namespace ingot;
using namespace ingot::jit;

TEST_CASE("the examples of the CUDA C++ Best Practices Guide") {
  // "Calculating Occupancy": of a multiprocessor with 65,536 registers and 64 warps.
  for (const int sm : {80, 90, 100}) {
    const Multiprocessor& mp = *multiprocessor(sm);
    const Occupancy full = occupancy(mp, 256, 32, 0);
    CHECK(full.warps == 64);
    const Occupancy twelve = occupancy(mp, 128, 37, 0);
    CHECK((twelve.blocks == 12 && twelve.warps == 48 && twelve.limit == OccupancyLimit::registers));  // 75 %
    const Occupancy four = occupancy(mp, 320, 37, 0);
    CHECK((four.blocks == 4 && four.warps == 40));  // 63 %
  }
}

TEST_CASE("what keeps more blocks away") {
  const Multiprocessor& mp = *multiprocessor(90);
  CHECK(occupancy(mp, 256, 16, 1024).limit == OccupancyLimit::warps);
  CHECK(occupancy(mp, 32, 16, 1024).limit == OccupancyLimit::blocks);
  CHECK(occupancy(mp, 256, 64, 1024).limit == OccupancyLimit::registers);
  CHECK(occupancy(mp, 256, 16, 48 * 1024).limit == OccupancyLimit::shared_memory);
  CHECK(occupancy(mp, 1024, 255, 0).blocks == 0);
  CHECK(multiprocessor(5) == nullptr);
}

TEST_CASE("the number of a target") {
  CHECK(sm_of("sm_90") == 90);
  CHECK(sm_of("sm_90a") == 90);
  CHECK(sm_of("sm_120f") == 120);
  for (const char* wrong : {"", "sm_", "sm_x", "sm_90b", "sm_90aa", "compute_90", "sm_-90", "sm_99999999999"})
    CHECK(sm_of(wrong) <= 0);
}

TEST_CASE("all that the installed NVRTC compiles for is in the tables") {
  const std::string path = find_nvrtc("");
  void* const nvrtc = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!nvrtc) {
    std::cout << "SKIP: nvrtc: NVRTC is not installed\n";
    return;
  }
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(nvrtc, "nvrtcGetNumSupportedArchs"));
  const auto archs = reinterpret_cast<int (*)(int*)>(dlsym(nvrtc, "nvrtcGetSupportedArchs"));
  REQUIRE((count && archs));
  int n = 0;
  REQUIRE((count(&n) == 0 && n > 0));
  std::vector<int> all(static_cast<size_t>(n));
  REQUIRE(archs(all.data()) == 0);
  for (const int sm : all) {
    CAPTURE(sm);
    if (sm >= 75 && sm <= 121) CHECK(multiprocessor(sm) != nullptr);
  }
}

TEST_CASE("occupancy is what cuda_occupancy.h computes") {
#ifdef INGOT_HAS_CUDA_OCCUPANCY
  size_t compared = 0;
  for (int sm = 70; sm < 130; ++sm) {
    const Multiprocessor* const mp = multiprocessor(sm);
    if (!mp) continue;
    cudaOccDeviceProp device;
    device.computeMajor = sm / 10;
    device.computeMinor = sm % 10;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = static_cast<int>(mp->warps * 32);
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = mp->shared_kib * 1024;
    device.sharedMemPerBlockOptin = mp->shared_kib * 1024 - mp->shared_reserved;
    device.reservedSharedMemPerBlock = mp->shared_reserved;
    device.numSms = 1;
    const cudaOccDeviceState state;
    for (int threads = 32; threads <= 1024; threads += 32)
      for (int registers = 1; registers <= 256; registers += threads == 256 ? 1 : 5)
        for (const size_t shared : {0, 1, 100, 2048, 5000, 16384, 20000, 33792 - 1024, 40200, 48 * 1024}) {
          cudaOccFuncAttributes kernel;
          kernel.maxThreadsPerBlock = 1024;
          kernel.numRegs = registers;
          kernel.sharedSizeBytes = shared;
          cudaOccResult theirs{};
          INFO(sm, ": ", threads, " threads, ", registers, " registers, ", shared, " bytes");
          REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &device, &kernel, &state, threads, 0) ==
                  CUDA_OCC_SUCCESS);
          const Occupancy ours = occupancy(*mp, static_cast<uint32_t>(threads), static_cast<uint32_t>(registers),
                                           static_cast<uint32_t>(shared) + mp->shared_reserved);
          REQUIRE(static_cast<int>(ours.blocks) == theirs.activeBlocksPerMultiprocessor);
          if (ours.blocks > 0 && ours.limit == OccupancyLimit::registers)
            REQUIRE((theirs.limitingFactors & OCC_LIMIT_REGISTERS) != 0);
          ++compared;
        }
  }
  CHECK(compared > 100'000);
#else
  std::cout << "SKIP: cuda-occupancy: the CUDA toolkit's cuda_occupancy.h is not installed\n";
#endif
}
