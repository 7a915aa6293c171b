// The stand-in as NVRTC.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>

#include "fixture.h"

using namespace standin::test;

TEST_CASE("NVRTC: versions, options, errors in the text, the cache") {
  int major = 0, minor = -1, count = 0;
  CHECK(nvrtcVersion(&major, &minor) == 0);
  CHECK(major == 13);
  CHECK(minor == 0);
  const Env version("STANDIN_NVRTC_VERSION", "12040");
  CHECK(nvrtcVersion(&major, &minor) == 0);
  CHECK(major == 12);
  CHECK(minor == 4);
  REQUIRE(nvrtcGetNumSupportedArchs(&count) == 0);
  std::vector<int> archs(static_cast<size_t>(count));
  REQUIRE(nvrtcGetSupportedArchs(archs.data()) == 0);
  CHECK(archs.front() == 75);
  CHECK(std::string(nvrtcGetErrorString(6)) == "NVRTC_ERROR_COMPILATION");
  const Text arch = compile_text(add_one, {"--gpu-architecture=sm_33"});
  CHECK(arch.result == 5);
  CHECK(arch.log.find("nvrtc: error: invalid value for --gpu-architecture (-arch)") != std::string::npos);
  CHECK(compile_text(add_one, {"--no-such-option"}).result == 5);
  CHECK(compile_text(add_one, {"-arch", "sm_90a", "--std=c++17", "-DX=1"}).result == 0);
  const char* const wrong_text = "extern \"C\" __global__ void k(int* p) {\n  p[0] = q;\n}\n";
  const Text wrong = compile_text(wrong_text);
  CHECK(wrong.result == 6);
  CHECK(wrong.cubin.empty());
  CHECK(wrong.log.find("kernel.cu:2:") != std::string::npos);
  CHECK(compile_text("#include <cstdint>\nextern \"C\" __global__ void k() {}\n").result == 6);
  CHECK(compile_text("extern \"C\" __global__ void k(float* p) { atomicAdd(p, 1.0f); }\n").result == 6);

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("standin-cache-" + std::to_string(getpid()));
  const Env cache("STANDIN_CACHE", folder.c_str());
  const Text cold = compile_text(add_one);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()) == 1);
  {
    const Env no_compiler("PATH", "/nowhere");
    CHECK(compile_text(add_one).cubin == cold.cubin);
    CHECK(compile_text(wrong_text).log.find("needs g++") != std::string::npos);
  }
  CHECK(compile_text(add_one, {"--gpu-architecture=sm_80"}).cubin != cold.cubin);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()) == 2);
  std::filesystem::remove_all(folder);
}
