#include "device/driver.h"

#include <dlfcn.h>

#include <vector>

#include "base/error.h"
#include "base/loaded_path.h"

namespace ingot::device {

namespace {

// Numbers of CUresult that decide which status a failure is.
constexpr Result out_of_memory = 2, not_initialized = 3, deinitialized = 4, device_unavailable = 46, no_device = 100,
                 invalid_image = 200, no_binary_for_gpu = 209, ecc_uncorrectable = 214, invalid_ptx = 218,
                 jit_disabled = 223, not_found = 500, illegal_address = 700, launch_out_of_resources = 701,
                 launch_failed = 719, tensor_memory_leak = 721, system_not_ready = 802, not_supported_on_device = 804,
                 capture_unsupported = 900, capture_last = 908;

Code code_of(Result r) {
  if (r == out_of_memory || r == launch_out_of_resources) return Code::out_of_memory;
  if (r == not_initialized || r == deinitialized || r == device_unavailable || r == no_device) return Code::unavailable;
  if (Driver::refuses_image(r)) return Code::unavailable;
  if (r >= system_not_ready && r <= not_supported_on_device) return Code::unavailable;
  if (r == ecc_uncorrectable || r == illegal_address || (r > launch_out_of_resources && r <= launch_failed) ||
      r == tensor_memory_leak)
    return Code::failed_precondition;
  if (r >= capture_unsupported && r <= capture_last) return Code::not_ready;
  return Code::internal;
}

void* open_library(const std::string& library) {
  const std::vector<std::string> places =
      library.empty() ? std::vector<std::string>{"libcuda.so.1", "libcuda.so"} : std::vector<std::string>{library};
  std::string tried;
  for (const std::string& place : places) {
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* why = dlerror();
    tried += cat("\n  ", why ? why : place.c_str());
  }
  fail(Code::unavailable, "the CUDA driver was not found; tried:", tried);
}

}  // namespace

// The library stays loaded: the driver has threads of its own, and is the host's, too.
std::shared_ptr<const Driver> Driver::open(const std::string& library) {
  void* const handle = open_library(library);
  const std::shared_ptr<Driver> d(new Driver());
  d->path_ = loaded_path(handle);
  std::string missing;
  const auto exchange = reinterpret_cast<ExchangeCaptureMode>(dlsym(handle, "cuThreadExchangeStreamCaptureMode"));
#define INGOT_CUDA_REQUIRED(name, parameters)                             \
  d->name = reinterpret_cast<Result(*) parameters>(dlsym(handle, #name)); \
  if (!d->name) missing += cat(missing.empty() ? "" : ", ", #name);
#define INGOT_CUDA_UNSAFE(name, parameters)                                           \
  d->name = {reinterpret_cast<Result(*) parameters>(dlsym(handle, #name)), exchange}; \
  if (!d->name) missing += cat(missing.empty() ? "" : ", ", #name);
  INGOT_CUDA_ENTRIES(INGOT_CUDA_REQUIRED, INGOT_CUDA_UNSAFE)
#undef INGOT_CUDA_REQUIRED
#undef INGOT_CUDA_UNSAFE
  if (d->cuDriverGetVersion && d->cuDriverGetVersion(&d->version_) == 0 && d->version_ < least_version)
    fail(Code::unavailable, "the CUDA driver serves CUDA ", d->version_ / 1000, ".", d->version_ % 1000 / 10,
         "; Ingot needs ", least_version / 1000, ".", least_version % 1000 / 10, " or later");
  if (!missing.empty()) fail(Code::unavailable, "the CUDA driver lacks ", missing);
  if (const Result r = d->cuInit(0)) fail(Code::unavailable, "the CUDA driver cannot be used: ", d->words(r));
  if (const Result r = d->cuDeviceGetCount(&d->device_count_))
    fail(Code::unavailable, "the CUDA driver names no devices: ", d->words(r));
  if (d->device_count_ == 0) fail(Code::unavailable, "the CUDA driver has no device");
  return d;
}

bool Driver::refuses_image(Result r) noexcept {
  return r == invalid_image || r == no_binary_for_gpu || (r >= invalid_ptx && r <= jit_disabled) || r == not_found;
}

std::string Driver::words(Result r) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(r, &name) != 0 || !name) name = "an error without a name";
  if (cuGetErrorString(r, &text) != 0 || !text) text = "unknown";
  return cat(name, " (", r, "): ", text);
}

void Driver::fail_for(Result r, const char* what) const {
  const Code code = code_of(r);
  fail(code, "CUDA: ", what, ": ", words(r),
       code == Code::failed_precondition ? "; work enqueued before has failed, and the CUDA context cannot be used"
                                         : "");
}

void Driver::fail_after_fork() {
  fail(Code::failed_precondition, "CUDA cannot be used in a forked child of the process that has begun to use it");
}

}  // namespace ingot::device
