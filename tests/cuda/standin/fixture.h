// What the tests of the stand-in share: a context, compiled text, arrays on the device.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "api.h"
#include "nvrtc_api.h"

namespace standin::test {

struct Text {
  nvrtcResult result;
  std::vector<char> cubin;
  std::string log;
};

inline Text compile_text(const std::string& text,
                         std::vector<const char*> options = {"--gpu-architecture=sm_90", "--fmad=false"}) {
  Text out;
  nvrtcProgram program = nullptr;
  REQUIRE(nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) == 0);
  out.result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  size_t bytes = 0;
  REQUIRE(nvrtcGetProgramLogSize(program, &bytes) == 0);
  out.log.resize(bytes);
  REQUIRE(nvrtcGetProgramLog(program, out.log.data()) == 0);
  out.log.pop_back();
  REQUIRE(nvrtcGetCUBINSize(program, &bytes) == 0);
  out.cubin.resize(bytes);
  if (bytes > 0) REQUIRE(nvrtcGetCUBIN(program, out.cubin.data()) == 0);
  REQUIRE(nvrtcDestroyProgram(&program) == 0);
  return out;
}

// An environment variable for as long as this lives.
class Env {
 public:
  Env(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    if (before) before_ = before;
    setenv(name, value, 1);
  }
  ~Env() {
    if (before_) setenv(name_, before_->c_str(), 1);
    else unsetenv(name_);
  }
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// A driver without a past, and a context.
class Device {
 public:
  Device() {
    standin_reset();
    REQUIRE(cuInit(0) == 0);
    REQUIRE(cuCtxCreate_v2(&context, 0, 0) == 0);
  }
  ~Device() { standin_reset(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  CUfunction kernel(const std::string& text, const char* name = "k") {
    const Text compiled = compile_text(text);
    INFO(compiled.log);
    REQUIRE(compiled.result == 0);
    REQUIRE(cuModuleLoadData(&module, compiled.cubin.data()) == 0);
    CUfunction out = nullptr;
    REQUIRE(cuModuleGetFunction(&out, module, name) == 0);
    return out;
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
};

template <class T>
CUdeviceptr upload(const std::vector<T>& values) {
  CUdeviceptr out = 0;
  REQUIRE(cuMemAlloc_v2(&out, values.size() * sizeof(T)) == 0);
  REQUIRE(cuMemcpyHtoD_v2(out, values.data(), values.size() * sizeof(T)) == 0);
  return out;
}

template <class T>
std::vector<T> download(CUdeviceptr from, size_t count) {
  std::vector<T> out(count);
  const CUresult code = cuMemcpyDtoH_v2(out.data(), from, count * sizeof(T));
  REQUIRE_MESSAGE(code == 0, std::string(standin_report()));
  return out;
}

template <class... A>
CUresult launch(CUfunction f, unsigned blocks, unsigned threads, CUstream stream, A... values) {
  void* parameters[] = {&values..., nullptr};
  return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace standin::test
