#include "gpu.h"

#include <dlfcn.h>

#include <cstdlib>

#include "error.h"

namespace ingot::tool {

// With the signatures that the documentation of the CUDA Driver API states.
struct Gpu::Entries {
  int (*cuInit)(unsigned);
  int (*cuGetErrorString)(int, const char**);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetName)(char*, int, int);
  int (*cuDevicePrimaryCtxRetain)(void**, int);
  int (*cuDevicePrimaryCtxRelease_v2)(int);
  int (*cuCtxSetCurrent)(void*);
  int (*cuStreamCreate)(void**, unsigned);
  int (*cuStreamDestroy_v2)(void*);
  int (*cuStreamSynchronize)(void*);
  int (*cuMemAlloc_v2)(unsigned long long*, size_t);
  int (*cuMemFree_v2)(unsigned long long);
  int (*cuMemcpyHtoD_v2)(unsigned long long, const void*, size_t);
  int (*cuMemcpyDtoH_v2)(void*, unsigned long long, size_t);
  int (*cuMemcpyDtoDAsync_v2)(unsigned long long, unsigned long long, size_t, void*);
};

namespace {

constexpr unsigned non_blocking = 1;

// Stays open: the library has the driver open, too.
void* open_driver() {
  const char* const given = std::getenv("INGOT_CUDA_DRIVER");
  std::string tried;
  for (const char* place : {given && *given ? given : "libcuda.so.1", given && *given ? nullptr : "libcuda.so"}) {
    if (!place) continue;
    if (void* handle = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return handle;
    tried += cat("\n  ", dlerror());
  }
  fail(exit_unsupported, "the CUDA driver was not found; tried:", tried);
}

}  // namespace

Gpu::Gpu() {
  void* const driver = open_driver();
  auto entries = std::make_unique<Entries>();
  const auto take = [&](const char* name, auto& entry) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(driver, name));
    if (!entry) fail(exit_unsupported, "the CUDA driver lacks ", name);
  };
#define INGOT_TAKE(name) take(#name, entries->name)
  INGOT_TAKE(cuInit);
  INGOT_TAKE(cuGetErrorString);
  INGOT_TAKE(cuDeviceGet);
  INGOT_TAKE(cuDeviceGetName);
  INGOT_TAKE(cuDevicePrimaryCtxRetain);
  INGOT_TAKE(cuDevicePrimaryCtxRelease_v2);
  INGOT_TAKE(cuCtxSetCurrent);
  INGOT_TAKE(cuStreamCreate);
  INGOT_TAKE(cuStreamDestroy_v2);
  INGOT_TAKE(cuStreamSynchronize);
  INGOT_TAKE(cuMemAlloc_v2);
  INGOT_TAKE(cuMemFree_v2);
  INGOT_TAKE(cuMemcpyHtoD_v2);
  INGOT_TAKE(cuMemcpyDtoH_v2);
  INGOT_TAKE(cuMemcpyDtoDAsync_v2);
#undef INGOT_TAKE
  cuda_ = std::move(entries);
  for (const int r : {cuda_->cuInit(0), cuda_->cuDeviceGet(&device_, 0)})
    if (r != 0) {
      const char* text = nullptr;
      cuda_->cuGetErrorString(r, &text);
      fail(exit_unsupported, "there is no CUDA device: ", text ? text : "unknown error");
    }
  char name[256] = {};
  must(cuda_->cuDeviceGetName(name, sizeof name - 1, device_), "asking for a device's name");
  name_ = name;
  void* context = nullptr;
  must(cuda_->cuDevicePrimaryCtxRetain(&context, device_), "taking the device's context");
  must(cuda_->cuCtxSetCurrent(context), "making the device's context current");
  must(cuda_->cuStreamCreate(&stream_, non_blocking), "making a stream");
}

Gpu::~Gpu() {
  cuda_->cuStreamDestroy_v2(stream_);
  cuda_->cuCtxSetCurrent(nullptr);
  cuda_->cuDevicePrimaryCtxRelease_v2(device_);
}

void Gpu::must(int result, const char* what) const {
  if (result == 0) return;
  const char* text = nullptr;
  cuda_->cuGetErrorString(result, &text);
  fail(exit_failed, "CUDA: ", what, ": ", text ? text : "unknown error");
}

uint64_t Gpu::allocate(size_t bytes) const {
  unsigned long long at = 0;
  must(cuda_->cuMemAlloc_v2(&at, std::max<size_t>(bytes, 1)), "allocating memory");
  return at;
}

void Gpu::release(uint64_t at) const { cuda_->cuMemFree_v2(at); }

void Gpu::upload(uint64_t to, const void* from, size_t bytes) const {
  if (bytes > 0) must(cuda_->cuMemcpyHtoD_v2(to, from, bytes), "copying to the device");
}

void Gpu::download(void* to, uint64_t from, size_t bytes) const {
  if (bytes > 0) must(cuda_->cuMemcpyDtoH_v2(to, from, bytes), "copying from the device");
}

void Gpu::copy(uint64_t to, uint64_t from, size_t bytes) const {
  must(cuda_->cuMemcpyDtoDAsync_v2(to, from, bytes, stream_), "copying on the device");
}

void Gpu::wait() const { must(cuda_->cuStreamSynchronize(stream_), "waiting for the device"); }

GpuMemory::GpuMemory(const Gpu& gpu, size_t bytes) : gpu_(gpu), at_(gpu.allocate(bytes)) {
  const std::vector<char> ones(bytes, 1);
  gpu_.upload(at_, ones.data(), bytes);
}

GpuMemory::~GpuMemory() { gpu_.release(at_); }

GpuFeed::GpuFeed(const Gpu& gpu, Feed& feed) : gpu_(gpu), feed_(feed) {
  const size_t inputs = feed.input_tensors().size();
  tensors_.reserve(inputs + feed.results().size());
  for (size_t i = 0; i < inputs; ++i) {
    const ingot_tensor& t = *feed.input_tensors()[i];
    const size_t bytes = feed.arrays()[i]->bytes();
    tensors_.push_back(feed.inputs()[i].symbol.empty() ? moved(t, bytes) : t);
    in_.push_back(&tensors_.back());
    if (feed.inputs()[i].symbol.empty()) gpu_.upload(memory_.back()->at(), feed.arrays()[i]->data(), bytes);
  }
  for (size_t i = 0; i < feed.results().size(); ++i) {
    tensors_.push_back(moved(*feed.output_tensors()[i], feed.results()[i].bytes()));
    out_.push_back(&tensors_.back());
  }
}

ingot_tensor GpuFeed::moved(const ingot_tensor& tensor, size_t bytes) {
  memory_.push_back(std::make_unique<GpuMemory>(gpu_, bytes));
  ingot_tensor out = tensor;
  out.data = reinterpret_cast<void*>(memory_.back()->at());
  constexpr int32_t cuda = 2;  // DLPack's
  out.device = {cuda, 0};
  return out;
}

void GpuFeed::run(ingot_executable* executable, const ingot_run_options* options) const {
  check(ingot_run(executable, in_.data(), in_.size(), out_.data(), out_.size(), options));
}

void GpuFeed::fetch() const {
  gpu_.wait();
  for (size_t i = 0; i < out_.size(); ++i) {
    Array& to = feed_.results()[i];
    gpu_.download(to.data(), reinterpret_cast<uint64_t>(out_[i]->data), to.bytes());
  }
}

}  // namespace ingot::tool
