// The CUDA driver, reached by dlopen: only what Ingot calls, with the signatures that the documentation of the CUDA
// Driver API states.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fork.h"

namespace ingot::device {

using Result = int;
using Address = unsigned long long;  // of device memory
using ContextHandle = struct OpaqueCudaContext*;
using StreamHandle = struct OpaqueCudaStream*;
using ModuleHandle = struct OpaqueCudaModule*;
using FunctionHandle = struct OpaqueCudaFunction*;
using PoolHandle = struct OpaqueCudaPool*;

// CUmemPoolProps of CUDA 11.2 and later.
struct PoolProps {
  int allocation_type, handle_types, location_type, location_id;
  void* security;
  unsigned char reserved[64];
};

// What a thread may call while streams are captured (CUstreamCaptureMode), exchanged for another.
using ExchangeCaptureMode = Result (*)(int* mode);

// While this lives, the thread's calls invalidate no capture but that of a stream they name.
class RelaxedCapture {
 public:
  // Null where the driver cannot.
  explicit RelaxedCapture(ExchangeCaptureMode exchange) : exchange_(exchange) {
    exchanged_ = exchange_ && exchange_(&mode_) == 0;
  }
  ~RelaxedCapture() {
    if (exchanged_) exchange_(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  ExchangeCaptureMode exchange_;
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
  bool exchanged_ = false;
};

// An entry that CUDA calls potentially unsafe: called while a stream is captured in the global mode, on any thread, it
// fails and invalidates that capture, which is the host's and has nothing to do with us.
template <class F>
class UnsafeEntry;
template <class... A>
class UnsafeEntry<Result(A...)> {
 public:
  UnsafeEntry() = default;
  UnsafeEntry(Result (*call)(A...), ExchangeCaptureMode exchange) : call_(call), exchange_(exchange) {}
  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(A... arguments) const {
    const RelaxedCapture relaxed(exchange_);
    return call_(arguments...);
  }

 private:
  Result (*call_)(A...) = nullptr;
  ExchangeCaptureMode exchange_ = nullptr;
};

// Names as the library exports them; the unsafe ones may not be called while streams are captured, but for
// UnsafeEntry.
// clang-format off
#define INGOT_CUDA_ENTRIES(required, unsafe)                                                                           \
  required(cuInit, (unsigned flags))                                                                                   \
  required(cuDriverGetVersion, (int* version))                                                                         \
  required(cuGetErrorName, (Result error, const char** text))                                                          \
  required(cuGetErrorString, (Result error, const char** text))                                                        \
  required(cuDeviceGetCount, (int* count))                                                                             \
  required(cuDeviceGet, (int* device, int ordinal))                                                                    \
  required(cuDeviceGetName, (char* name, int size, int device))                                                        \
  required(cuDeviceGetAttribute, (int* value, int attribute, int device))                                              \
  unsafe(cuDevicePrimaryCtxRetain, (ContextHandle* context, int device))                                               \
  unsafe(cuDevicePrimaryCtxRelease_v2, (int device))                                                                   \
  required(cuCtxGetCurrent, (ContextHandle* context))                                                                  \
  required(cuCtxPushCurrent_v2, (ContextHandle context))                                                               \
  required(cuCtxPopCurrent_v2, (ContextHandle* context))                                                               \
  required(cuCtxGetDevice, (int* device))                                                                              \
  required(cuCtxGetId, (ContextHandle context, unsigned long long* id))                                                \
  unsafe(cuModuleLoadData, (ModuleHandle* module, const void* image))                                                  \
  unsafe(cuModuleUnload, (ModuleHandle module))                                                                        \
  unsafe(cuModuleGetFunction, (FunctionHandle* function, ModuleHandle module, const char* name))                       \
  required(cuLaunchKernel, (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                \
                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,               \
                            StreamHandle stream, void** parameters, void** extra))                                     \
  unsafe(cuMemAlloc_v2, (Address* at, size_t bytes))                                                                   \
  unsafe(cuMemFree_v2, (Address at))                                                                                   \
  unsafe(cuMemPoolCreate, (PoolHandle* pool, const PoolProps* props))                                                  \
  unsafe(cuMemPoolDestroy, (PoolHandle pool))                                                                          \
  unsafe(cuMemPoolSetAttribute, (PoolHandle pool, int attribute, void* value))                                         \
  unsafe(cuMemPoolTrimTo, (PoolHandle pool, size_t keep))                                                              \
  required(cuMemAllocFromPoolAsync, (Address* at, size_t bytes, PoolHandle pool, StreamHandle stream))                 \
  required(cuMemFreeAsync, (Address at, StreamHandle stream))                                                          \
  unsafe(cuMemcpyHtoDAsync_v2, (Address to, const void* from, size_t bytes, StreamHandle stream))                      \
  unsafe(cuMemcpyDtoHAsync_v2, (void* to, Address from, size_t bytes, StreamHandle stream))                            \
  required(cuMemsetD8Async, (Address to, unsigned char value, size_t count, StreamHandle stream))                      \
  required(cuPointerGetAttribute, (void* value, int attribute, Address at))                                            \
  unsafe(cuStreamCreate, (StreamHandle* stream, unsigned flags))                                                       \
  unsafe(cuStreamDestroy_v2, (StreamHandle stream))                                                                    \
  unsafe(cuStreamSynchronize, (StreamHandle stream))                                                                   \
  required(cuStreamGetCtx, (StreamHandle stream, ContextHandle* context))                                              \
  required(cuStreamIsCapturing, (StreamHandle stream, int* status))
// clang-format on

// Free-threaded. Throws and reports with the driver's own words.
class Driver final : ForkHandler {
 public:
  // `library` is a path, or empty for libcuda.so.1 by the loader's search. Throws unavailable with every place tried,
  // and where there is no device, the driver is older than `least_version`, or cuInit fails.
  static std::shared_ptr<const Driver> open(const std::string& library);
  // CUDA 12.0: contexts have ids, which are not given twice as their addresses are.
  static constexpr int least_version = 12000;

  // 12040 for CUDA 12.4: the newest version of the API that it serves.
  int version() const { return version_; }
  const std::string& path() const { return path_; }
  int device_count() const { return device_count_; }

  // Throws for any result but success; `what` says what was being done. OUT_OF_MEMORY; UNAVAILABLE where the driver
  // cannot use what it is given or has no device; FAILED_PRECONDITION for errors that a context keeps (an earlier
  // launch, of anyone's, failed in it); NOT_READY for what a capture forbids; else INTERNAL.
  void must(Result r, const char* what) const {
    if (r != 0) fail_for(r, what);
  }
  bool is_captured(StreamHandle stream) const {
    int status = 0;
    must(cuStreamIsCapturing(stream, &status), "asking whether a stream is being captured");
    return status != 0;
  }
  // Whether the driver will not have a cubin, as it is damaged, lacks a function, or is another device's.
  static bool refuses_image(Result r) noexcept;
  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  std::string words(Result r) const;
  // False in a forked child, where the driver must not be called at all.
  bool usable() const noexcept { return !forked_.load(std::memory_order_relaxed); }
  void must_be_usable() const {
    if (!usable()) fail_after_fork();
  }

#define INGOT_CUDA_MEMBER(name, parameters) Result(*name) parameters = nullptr;
#define INGOT_CUDA_UNSAFE_MEMBER(name, parameters) UnsafeEntry<Result parameters> name;
  INGOT_CUDA_ENTRIES(INGOT_CUDA_MEMBER, INGOT_CUDA_UNSAFE_MEMBER)
#undef INGOT_CUDA_MEMBER
#undef INGOT_CUDA_UNSAFE_MEMBER

 private:
  Driver() = default;
  [[noreturn]] void fail_for(Result r, const char* what) const;
  [[noreturn]] static void fail_after_fork();
  void before_fork() noexcept override {}
  void after_fork_in_parent() noexcept override {}
  void after_fork_in_child() noexcept override { forked_.store(true, std::memory_order_relaxed); }

  int version_ = 0, device_count_ = 0;
  std::string path_;
  std::atomic<bool> forked_{false};
  ForkRegistration registration_{*this};
};

}  // namespace ingot::device
