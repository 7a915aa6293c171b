#include "jit/image/module.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "jit/image/build_id.h"

namespace ingot::jit {

namespace {

constexpr char module_name[] = "libingot_cpu.so";

// The directory of the object that holds this code, absolute, or nothing.
std::string own_directory() {
  Dl_info info;
  link_map* map = nullptr;
  if (!dladdr1(reinterpret_cast<const void*>(&find_module), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP))
    return {};
  if (!map->l_name || !*map->l_name) {
    // Linked into the main program, for which glibc may keep no origin (and dlinfo then reads through null).
    char program[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
    if (size <= 0 || program[0] != '/') return {};
    const std::string path(program, static_cast<size_t>(size));
    return path.substr(0, path.rfind('/'));
  }
  void* self = dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD);
  if (!self) return {};
  char origin[PATH_MAX] = "";
  const bool found = dlinfo(self, RTLD_DI_ORIGIN, origin) == 0;
  dlclose(self);
  if (!found || origin[0] != '/') return {};
  // As it is spelled without the "bin/../lib" of a program's own search path, for messages.
  char real[PATH_MAX];
  return realpath(origin, real) ? real : origin;
}

struct Result {
  bool answered = false;
  Code code = Code::ok;
  std::string message;
  std::vector<uint8_t> bytes;
};

}  // namespace

std::string find_module(const std::string& directory) {
  std::vector<std::string> places;
  if (!directory.empty()) {
    if (directory[0] != '/') fail(Code::invalid_argument, "the module directory is not absolute: ", directory);
    places.push_back(directory);
  } else {
    if (std::string own = own_directory(); !own.empty()) places.push_back(std::move(own));
    if (places.empty() || places[0] != INGOT_LIBDIR) places.emplace_back(INGOT_LIBDIR);
  }
  std::string tried;
  for (const std::string& place : places) {
    std::string path = cat(place, "/", module_name);
    if (access(path.c_str(), R_OK) == 0) return path;
    tried += cat(tried.empty() ? "" : ", ", path, " (", std::strerror(errno), ")");
  }
  fail(Code::unavailable, "the CPU compiler module is not there; tried: ", tried);
}

std::shared_ptr<const Module> Module::open(const std::string& path, const std::string& expected) {
  if (path.empty() || path[0] != '/') fail(Code::invalid_argument, "the module's path is not absolute: ", path);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    fail(Code::unavailable, "cannot open the CPU compiler module: ", why ? why : path.c_str());
  }
  // Never closed: LLVM does not survive it, and a disabled module's thread is parked inside.
  void* entry = dlsym(handle, "ingot_cpu_module");
  if (!entry) fail(Code::unavailable, path, " is no Ingot CPU module");
  if (const std::string loaded = loaded_build_id(entry); loaded != expected)
    fail(Code::unavailable, path, " has build-id ", loaded, ", expected ", expected);
  const ModuleApi* api = reinterpret_cast<ModuleEntry>(entry)();
  if (std::memcmp(&api->stamp, &module_stamp, sizeof module_stamp) != 0)
    fail(Code::unavailable, path, " was built for another version of Ingot");
  return std::shared_ptr<const Module>(new Module(api));
}

std::vector<uint8_t> Module::compile(std::span<const uint8_t> kernel, std::string_view target, uint32_t emit,
                                     uint32_t flags) const {
  const std::string name(target);
  const ModuleRequest request{kernel.data(), kernel.size(), name.c_str(), emit, flags};
  Result result;
  // Nothing may be thrown through the module's frames, so the sink only notes what it gets.
  const ModuleSink sink{&result,
                        [](void* user, const uint8_t* bytes, size_t size) {
                          auto& r = *static_cast<Result*>(user);
                          try {
                            r.bytes.assign(bytes, bytes + size);
                            r.answered = true;
                          } catch (...) {
                            r.code = Code::out_of_memory;
                          }
                        },
                        [](void* user, int32_t code, const char* message, size_t size) {
                          auto& r = *static_cast<Result*>(user);
                          r.code = static_cast<Code>(code);
                          try {
                            r.message.assign(message, size);
                          } catch (...) {
                            r.code = Code::out_of_memory;
                          }
                        }};
  api_->compile(&request, &sink);
  if (!result.answered) {
    if (result.code == Code::ok) bug("the CPU compiler module gave no answer");
    throw Error(result.code, result.message);
  }
  return std::move(result.bytes);
}

}  // namespace ingot::jit
