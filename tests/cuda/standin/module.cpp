// Cubins: a shared object of the host's, loaded from memory.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "driver.h"
#include "exec.h"

using standin::driver;
using standin::KernelInfo;

namespace standin {

Module::~Module() {
  if (handle) dlclose(handle);
  if (file >= 0) ::close(file);
}

namespace {

void* const answers[] = {
#define STANDIN_ADDRESS(name, answer) reinterpret_cast<void*>(&answer),
    STANDIN_CALLS(STANDIN_ADDRESS)
#undef STANDIN_ADDRESS
};

// A file without a name. It stays open as long as the module: the loader knows a library by its path, and the path is
// the descriptor's number.
bool open_module(StandinModule& m, const void* image) {
  std::vector<char> bytes(m.cubin.bytes);
  std::memcpy(bytes.data(), image, bytes.size());
  unmark_cubin(bytes);
  m.file = memfd_create("standin cubin", MFD_CLOEXEC);
  if (m.file < 0 || write(m.file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return false;
  m.handle = dlopen(("/proc/self/fd/" + std::to_string(m.file)).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!m.handle) {
    const char* const why = dlerror();
    report(std::string("a cubin that does not load: ") + (why ? why : ""));
    return false;
  }
  link_map* map = nullptr;
  if (dlinfo(m.handle, RTLD_DI_LINKMAP, &map) != 0) return false;
  m.base = reinterpret_cast<char*>(map->l_addr);
  std::memcpy(m.base + m.cubin.find("standin_table")->value, answers, sizeof answers);
  return true;
}

void find_functions(StandinModule& m, const void* image) {
  const std::string prefix = "standin_kernel_";
  for (const Symbol& s : m.cubin.symbols) {
    if (!s.name.starts_with(prefix)) continue;
    auto f = std::make_unique<StandinFunction>();
    f->name = s.name.substr(prefix.size());
    f->module = &m;
    f->info = reinterpret_cast<const KernelInfo*>(m.base + s.value);
    f->static_shared = m.cubin.static_shared(image, f->name);
    f->most_dynamic = 48 * 1024 - std::min<uint64_t>(f->static_shared, 48 * 1024);
    for (unsigned i = 0; i < f->info->parameters; ++i) {
      const size_t align = f->info->align[i];
      f->parameter_bytes = (f->parameter_bytes + align - 1) / align * align + f->info->size[i];
    }
    m.functions.emplace(f->name, std::move(f));
  }
}

CUresult load(CUmodule* out, const void* image) {
  STANDIN_CONTEXT(context);
  if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult refused = refuse_in_capture()) return refused;
  auto m = std::make_shared<StandinModule>();
  m->context = context;
  m->cubin = read_cubin(image);
  if (!m->cubin.valid) return CUDA_ERROR_INVALID_IMAGE;
  // A cubin runs on its own generation, from its own step on.
  const auto sm = static_cast<unsigned>(setting("STANDIN_SM", 90));
  if (m->cubin.target / 10 != sm / 10 || m->cubin.target > sm) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (!open_module(*m, image)) return CUDA_ERROR_INVALID_IMAGE;
  find_functions(*m, image);
  *out = m.get();
  driver().modules.emplace(m.get(), m);
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace standin

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  STANDIN_ENTRY(cuModuleLoadData);
  return standin::load(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, int*, void**) {
  STANDIN_ENTRY(cuModuleLoadDataEx);
  return standin::load(module, image);
}

// What is queued of it finds it gone.
CUresult cuModuleUnload(CUmodule module) {
  STANDIN_ENTRY(cuModuleUnload);
  const auto m = standin::find(driver().modules, module);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (m->context->sticky) return m->context->sticky;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  for (const auto& [name, f] : m->functions) driver().functions.erase(f.get());
  driver().modules.erase(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  STANDIN_ENTRY(cuModuleGetFunction);
  const auto m = standin::find(driver().modules, module);
  if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (m->context->sticky) return m->context->sticky;
  const auto at = m->functions.find(name);
  if (at == m->functions.end()) return CUDA_ERROR_NOT_FOUND;
  // Lives in its module and with it.
  driver().functions.emplace(at->second.get(), std::shared_ptr<StandinFunction>(m, at->second.get()));
  *function = at->second.get();
  return CUDA_SUCCESS;
}
