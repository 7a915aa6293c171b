// What the tests of the launch path share: a stand-in without a past, a CUDA context, arrays on the device, graphs from
// text through the C interface.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "api.h"
#include "ingot/ingot.h"

// Layout of DLPack 1.0's.
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  ingot_tensor tensor;
};

namespace launch {

// What became of a call: its code and message.
struct Outcome {
  explicit Outcome(ingot_status* status) : code(ingot_status_code(status)) {
    const char* text;
    size_t size;
    ingot_status_message(status, &text, &size);
    message.assign(text, size);
    ingot_status_release(status);
  }
  ingot_code code;
  std::string message;
  bool says(const char* part) const { return message.find(part) != std::string::npos; }
};

inline void ok(ingot_status* status) {
  const Outcome o(status);
  INFO(o.message);
  REQUIRE(o.code == INGOT_OK);
}

class Env {
 public:
  Env(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Env() {
    if (before_.empty()) unsetenv(name_);
    else setenv(name_, before_.c_str(), 1);
  }
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

 private:
  const char* name_;
  std::string before_;
};

// First member of every fixture: no handle outlives the reset.
struct Past {
  Past() {
    standin_reset();
    REQUIRE(cuInit(0) == 0);
  }
};

// The device's primary context, current on this thread, as the CUDA runtime leaves it.
struct Primary {
  Primary() {
    REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == 0);
    REQUIRE(cuCtxSetCurrent(context) == 0);
  }
  ~Primary() {
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease_v2(0);
  }
  Primary(const Primary&) = delete;
  Primary& operator=(const Primary&) = delete;
  CUcontext context = nullptr;
};

// What most cases begin with.
struct Device {
  Past past;
  Primary primary;
};

// What outputs hold before they are written.
inline const std::vector<float> poison{-7, -7, -7, -7};

class Stream {
 public:
  Stream() { REQUIRE(cuStreamCreate(&stream_, 0) == 0); }
  ~Stream() { cuStreamDestroy_v2(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  CUstream get() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
};

// Items in device memory with their description.
template <class T>
class Array {
 public:
  Array(std::vector<T> items, std::vector<int64_t> shape, ingot_dlpack_type type = {2, 32, 1})
      : count_(items.size()), shape_(std::move(shape)) {
    REQUIRE(cuMemAlloc_v2(&at_, count_ * sizeof(T) + 1) == 0);
    put(items);
    tensor_ = {
        reinterpret_cast<void*>(at_), {2, 0}, static_cast<int32_t>(shape_.size()), type, shape_.data(), nullptr, 0};
  }
  ~Array() { cuMemFree_v2(at_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  ingot_tensor& tensor() { return tensor_; }
  CUdeviceptr at() const { return at_; }
  void put(const std::vector<T>& items) { REQUIRE(cuMemcpyHtoD_v2(at_, items.data(), items.size() * sizeof(T)) == 0); }
  // A blocking copy, which waits for the default stream.
  std::vector<T> get() const {
    std::vector<T> items(count_);
    REQUIRE(cuMemcpyDtoH_v2(items.data(), at_, count_ * sizeof(T)) == 0);
    return items;
  }

 private:
  CUdeviceptr at_ = 0;
  size_t count_;
  std::vector<int64_t> shape_;
  ingot_tensor tensor_{};
};

// A tensor in host memory.
template <class T>
ingot_tensor host(std::vector<T>& items, std::vector<int64_t>& shape, ingot_dlpack_type type = {2, 32, 1}) {
  return {items.data(), {1, 0}, static_cast<int32_t>(shape.size()), type, shape.data(), nullptr, 0};
}

class Engine {
 public:
  // `cache_dir` empty: memory alone.
  explicit Engine(const std::string& cache_dir = {}) {
    ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
    o.no_disk_cache = cache_dir.empty();
    if (!cache_dir.empty()) o.cache_dir = cache_dir.c_str();
    ok(ingot_context_create(&o, &context_));
  }
  explicit Engine(const ingot_context_options& options) { ok(ingot_context_create(&options, &context_)); }
  ~Engine() { ingot_context_release(context_); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ingot_context* get() const { return context_; }
  ingot_stats stats() const {
    ingot_stats s = INGOT_STATS_INIT;
    ok(ingot_context_stats(context_, &s));
    return s;
  }
  Outcome sync(CUstream stream = nullptr, int device = 0) const {
    return Outcome(ingot_context_sync(context_, 2, device, stream));
  }

 private:
  ingot_context* context_ = nullptr;
};

class Compiled {
 public:
  Compiled(const Engine& engine, const std::string& text, ingot_backend backend = INGOT_BACKEND_CUDA,
           const char* target = nullptr) {
    ingot_graph* graph = nullptr;
    ok(ingot_graph_parse(engine.get(), text.data(), text.size(), &graph));
    ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
    o.backend = backend;
    o.target = target;
    ok(ingot_compile(engine.get(), graph, &o, &executable_));
    ingot_graph_release(graph);
  }
  ~Compiled() { ingot_executable_release(executable_); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ingot_executable* get() const { return executable_; }
  Outcome prepare() const { return Outcome(ingot_executable_prepare(executable_, nullptr, 0, nullptr, nullptr)); }
  Outcome run(std::vector<const ingot_tensor*> ins, std::vector<const ingot_tensor*> outs,
              const ingot_run_options* options = nullptr) const {
    return Outcome(ingot_run(executable_, ins.data(), ins.size(), outs.data(), outs.size(), options));
  }
  Outcome run_on(CUstream stream, std::vector<const ingot_tensor*> ins, std::vector<const ingot_tensor*> outs) const {
    ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
    o.stream = stream;
    return run(std::move(ins), std::move(outs), &o);
  }

 private:
  ingot_executable* executable_ = nullptr;
};

// How many cubins every executable has beside its own: that of copies, which all share.
constexpr uint64_t copier = 1;

// y = 2x + 1, one kernel.
inline const std::string axpb =
    "ingot 1.0\ngraph @axpb(%x: f32[N]) -> (f32[N]) {\n  %0 = mul %x, 2.0\n  %1 = add %0, 1.0\n  return %1\n}\n";
// Rows of a table; 3 columns, so that the gather is part of a kernel. %n binds nothing.
inline const std::string rows =
    "ingot 1.0\ngraph @rows(%t: f32[R, 3], %i: i64[N]) -> (f32[N, 3]) {\n  %0 = gather %t, %i {axis = 0}\n"
    "  %1 = add %0, 1.0\n  return %1\n}\n";
// Two kernels with an intermediate value between them.
inline const std::string chained =
    "ingot 1.0\ngraph @chained(%x: f32[N, M]) -> (f32[M, N]) {\n  %0 = cumsum %x {axis = 1}\n"
    "  %1 = transpose %0 {perm = [1, 0]}\n  %2 = cumsum %1 {axis = 1}\n  return %2\n}\n";

}  // namespace launch
