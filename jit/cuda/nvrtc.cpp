#include "jit/cuda/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>
#include <csignal>

#include <cstddef>
#include <exception>
#include <memory>

#include "base/error.h"
#include "base/loaded_path.h"
#include "base/own_stack.h"
#include "jit/cuda/occupancy.h"

namespace ingot::jit {

namespace {

// The part of NVRTC's C interface that is used, as its documentation states it; stable since CUDA 11.2.
using Program = struct OpaqueProgram*;
using Result = int;

struct Nvrtc {
  std::string path;
  Result (*create)(Program*, const char* source, const char* name, int headers, const char* const*, const char* const*);
  Result (*compile)(Program, int options, const char* const*);
  Result (*log_size)(Program, size_t*);
  Result (*log)(Program, char*);
  Result (*cubin_size)(Program, size_t*);
  Result (*cubin)(Program, char*);
  Result (*destroy)(Program*);
  const char* (*error)(Result);
  Result (*arch_count)(int*);
  Result (*archs)(int*);
  Result (*version)(int*, int*);
};

std::vector<std::string> places(const std::string& library) {
  if (!library.empty()) return {library};
  std::vector<std::string> out;
  for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}) out.emplace_back(soname);
  for (const char* dir : {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"})
    for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12"}) out.push_back(std::string(dir) + soname);
  return out;
}

// Where the loader looks for a library by its bare name, as far as it tells.
std::vector<std::string> search_path() {
  std::vector<std::string> out;
  const std::unique_ptr<void, int (*)(void*)> self(dlopen(nullptr, RTLD_LAZY), dlclose);
  Dl_serinfo head;
  if (!self || dlinfo(self.get(), RTLD_DI_SERINFOSIZE, &head) != 0) return out;
  // The loader writes its strings behind the header.
  std::vector<std::max_align_t> room(head.dls_size / sizeof(std::max_align_t) + 1);
  auto* const info = reinterpret_cast<Dl_serinfo*>(room.data());
  if (dlinfo(self.get(), RTLD_DI_SERINFOSIZE, info) != 0 || dlinfo(self.get(), RTLD_DI_SERINFO, info) != 0) return out;
  for (unsigned i = 0; i < info->dls_cnt; ++i) out.emplace_back(info->dls_serpath[i].dls_name);
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
  n.path = loaded_path(handle);
  n.create = reinterpret_cast<decltype(n.create)>(symbol("nvrtcCreateProgram"));
  n.compile = reinterpret_cast<decltype(n.compile)>(symbol("nvrtcCompileProgram"));
  n.log_size = reinterpret_cast<decltype(n.log_size)>(symbol("nvrtcGetProgramLogSize"));
  n.log = reinterpret_cast<decltype(n.log)>(symbol("nvrtcGetProgramLog"));
  n.cubin_size = reinterpret_cast<decltype(n.cubin_size)>(symbol("nvrtcGetCUBINSize"));
  n.cubin = reinterpret_cast<decltype(n.cubin)>(symbol("nvrtcGetCUBIN"));
  n.destroy = reinterpret_cast<decltype(n.destroy)>(symbol("nvrtcDestroyProgram"));
  n.error = reinterpret_cast<decltype(n.error)>(symbol("nvrtcGetErrorString"));
  n.arch_count = reinterpret_cast<decltype(n.arch_count)>(symbol("nvrtcGetNumSupportedArchs"));
  n.archs = reinterpret_cast<decltype(n.archs)>(symbol("nvrtcGetSupportedArchs"));
  n.version = reinterpret_cast<decltype(n.version)>(symbol("nvrtcVersion"));
  return n;
}

// What the library at hand compiles for; without one, what there is to choose from.
std::string known_targets(const std::string& library) {
  try {
    const Nvrtc nvrtc = open(library);
    int count = 0;
    if (nvrtc.arch_count(&count) == 0 && count > 0 && count < 1000) {
      std::vector<int> archs(static_cast<size_t>(count));
      if (nvrtc.archs(archs.data()) == 0) {
        std::string out = "the NVRTC found here knows";
        for (const int arch : archs) out += cat(arch == archs.front() ? " " : ", ", "sm_", arch);
        return out;
      }
    }
  } catch (const Error&) {
    // Without the library a cubin cannot be had either, but the caller's fault is named first.
  }
  return known_sms();
}

std::vector<uint8_t> compile_here(const std::string& text, const std::string& target, const std::string& library) {
  if (sm_of(target) == 0)
    fail(Code::invalid_argument, "a cubin is made for one kind of GPU, and ",
         target.empty() ? "no target is given" : cat("\"", target, "\" is none"),
         "; expected sm_NN: ", known_targets(library));
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
    if (log.find("invalid value for --gpu-architecture") != std::string::npos)
      fail(Code::invalid_argument, "no cubin for ", target, ": ", known_targets(library));
    fail(Code::internal, "NVRTC for ", target, ": ", nvrtc.error(compiled), "\n", log.c_str());
  }
  size_t size = 0;
  must(nvrtc.cubin_size(program, &size), "cubin");
  std::vector<uint8_t> cubin(size);
  must(nvrtc.cubin(program, reinterpret_cast<char*>(cubin.data())), "cubin");
  return cubin;
}

constexpr size_t stack_bytes = size_t{8} << 20;

struct Job {
  const std::string &text, &target, &library;
  std::vector<uint8_t> cubin;
  std::exception_ptr error;
  void run() noexcept {
    try {
      cubin = compile_here(text, target, library);
    } catch (...) {
      error = std::current_exception();
    }
  }
};

// False if there is no thread for it.
bool run_on_thread(Job& job) {
  const auto run = [](void* user) -> void* {
    static_cast<Job*>(user)->run();
    return nullptr;
  };
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // A thread starts with its maker's mask: block here so that the host's handlers never run on it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, run, &job);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failed) return false;
  pthread_join(thread, nullptr);
  return true;
}

}  // namespace

std::string find_nvrtc(const std::string& library) {
  for (const std::string& place : places(library)) {
    if (place.find('/') != std::string::npos) {
      if (access(place.c_str(), R_OK) == 0) return place;
      continue;
    }
    // By its name the loader gives out what is loaded already, wherever that lies.
    if (void* loaded = dlopen(place.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      const std::string path = loaded_path(loaded);
      dlclose(loaded);
      return path;
    }
    for (const std::string& folder : search_path())
      if (const std::string path = cat(folder, "/", place); access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

NvrtcInfo nvrtc_info(const std::string& library) {
  const Nvrtc nvrtc = open(library);
  NvrtcInfo out{nvrtc.path};
  if (nvrtc.version(&out.major, &out.minor) != 0) fail(Code::unavailable, "NVRTC does not tell its version");
  return out;
}

std::vector<uint8_t> compile_cubin(const std::string& text, const std::string& target, const std::string& library,
                                   bool own_thread) {
  Job job{text, target, library, {}, {}};
  // Where no thread can be had, as where none may be made.
  if (!own_thread || !run_on_thread(job)) {
    if (!call_on_own_stack(stack_bytes, [](void* j) { static_cast<Job*>(j)->run(); }, &job))
      fail(Code::out_of_memory, "no stack for NVRTC");
  }
  if (job.error) std::rethrow_exception(job.error);
  return std::move(job.cubin);
}

}  // namespace ingot::jit
