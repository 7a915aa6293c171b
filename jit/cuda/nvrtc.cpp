#include "jit/cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace ingot::jit {

namespace {

// The part of NVRTC's C interface that is used, as its documentation states it; stable since CUDA 11.1.
using Program = struct OpaqueProgram*;
using Result = int;

struct Nvrtc {
  Result (*create)(Program*, const char* source, const char* name, int headers, const char* const*, const char* const*);
  Result (*compile)(Program, int options, const char* const*);
  Result (*log_size)(Program, size_t*);
  Result (*log)(Program, char*);
  Result (*cubin_size)(Program, size_t*);
  Result (*cubin)(Program, char*);
  Result (*destroy)(Program*);
  const char* (*error)(Result);
};

std::vector<std::string> places(const std::string& library) {
  if (!library.empty()) return {library};
  std::vector<std::string> out;
  for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}) out.emplace_back(soname);
  for (const char* dir : {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"})
    for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12"}) out.push_back(std::string(dir) + soname);
  return out;
}

// The library stays loaded: NVRTC keeps threads and state that a dlclose would pull the ground from under.
Nvrtc open(const std::string& library) {
  std::string tried;
  void* handle = nullptr;
  for (const std::string& place : places(library)) {
    handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) break;
    const char* why = dlerror();
    tried += cat("\n  ", why ? why : place.c_str());
  }
  if (!handle) fail(Code::unavailable, "NVRTC was not found; tried:", tried);
  const auto symbol = [&](const char* name) {
    void* p = dlsym(handle, name);
    if (!p) fail(Code::unavailable, "NVRTC lacks ", name);
    return p;
  };
  Nvrtc n{};
  n.create = reinterpret_cast<decltype(n.create)>(symbol("nvrtcCreateProgram"));
  n.compile = reinterpret_cast<decltype(n.compile)>(symbol("nvrtcCompileProgram"));
  n.log_size = reinterpret_cast<decltype(n.log_size)>(symbol("nvrtcGetProgramLogSize"));
  n.log = reinterpret_cast<decltype(n.log)>(symbol("nvrtcGetProgramLog"));
  n.cubin_size = reinterpret_cast<decltype(n.cubin_size)>(symbol("nvrtcGetCUBINSize"));
  n.cubin = reinterpret_cast<decltype(n.cubin)>(symbol("nvrtcGetCUBIN"));
  n.destroy = reinterpret_cast<decltype(n.destroy)>(symbol("nvrtcDestroyProgram"));
  n.error = reinterpret_cast<decltype(n.error)>(symbol("nvrtcGetErrorString"));
  return n;
}

bool is_sm(const std::string& target) {
  return target.size() >= 5 && target.size() <= 6 && target.starts_with("sm_") &&
         std::all_of(target.begin() + 3, target.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<uint8_t> compile_cubin(const std::string& text, const std::string& target, const std::string& library) {
  if (!is_sm(target)) fail(Code::invalid_argument, "\"", target, "\" is no CUDA target such as sm_90");
  const Nvrtc nvrtc = open(library);
  Program program = nullptr;
  const auto must = [&](Result r, const char* what) {
    if (r != 0) fail(Code::internal, "NVRTC: ", what, ": ", nvrtc.error(r));
  };
  must(nvrtc.create(&program, text.c_str(), "ingot_kernel.cu", 0, nullptr, nullptr), "create");
  const auto destroy = [&](Program p) { nvrtc.destroy(&p); };
  const std::unique_ptr<OpaqueProgram, decltype(destroy)> held(program, destroy);
  const std::string arch = "--gpu-architecture=" + target;
  const char* options[] = {arch.c_str(),      "--fmad=false",     "--ftz=false",
                           "--prec-div=true", "--prec-sqrt=true", "--std=c++17"};
  const Result compiled = nvrtc.compile(program, static_cast<int>(std::size(options)), options);
  if (compiled != 0) {
    size_t size = 0;
    must(nvrtc.log_size(program, &size), "log");
    std::string log(size, '\0');
    must(nvrtc.log(program, log.data()), "log");
    const bool bad_target = log.find("invalid value for --gpu-architecture") != std::string::npos;
    fail(bad_target ? Code::invalid_argument : Code::internal, "NVRTC for ", target, ": ", nvrtc.error(compiled), "\n",
         log.c_str());
  }
  size_t size = 0;
  must(nvrtc.cubin_size(program, &size), "cubin");
  std::vector<uint8_t> cubin(size);
  must(nvrtc.cubin(program, reinterpret_cast<char*>(cubin.data())), "cubin");
  return cubin;
}

}  // namespace ingot::jit
