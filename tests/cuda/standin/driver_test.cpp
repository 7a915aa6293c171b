// The stand-in as a driver: limits, streams, memory, contexts, modules, faults.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "fixture.h"

using namespace standin::test;

namespace {

const char* const add_one = "extern \"C\" __global__ void k(int* p) { p[threadIdx.x] += 1; }\n";

CUresult shape(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
               CUdeviceptr p, unsigned shared = 0) {
  void* parameters[] = {&p};
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, nullptr, parameters, nullptr);
}

sigjmp_buf back;

// Whether the host can read there.
bool readable(CUdeviceptr p) {
  struct sigaction mine = {}, before_segv = {}, before_bus = {};
  mine.sa_handler = [](int) { siglongjmp(back, 1); };
  sigaction(SIGSEGV, &mine, &before_segv);
  sigaction(SIGBUS, &mine, &before_bus);
  volatile bool read = false;
  if (sigsetjmp(back, 1) == 0) {
    [[maybe_unused]] const volatile char c = *reinterpret_cast<const volatile char*>(p);
    read = true;
  }
  sigaction(SIGSEGV, &before_segv, nullptr);
  sigaction(SIGBUS, &before_bus, nullptr);
  return read;
}

}  // namespace

TEST_CASE("nothing before cuInit, and no device when told so") {
  standin_reset();
  int n = 0;
  CUcontext context = nullptr;
  CHECK(cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(cuDriverGetVersion(&n) == 0);
  CHECK(n == 13000);
  {
    const Env none("STANDIN_DEVICES", "0");
    CHECK(cuInit(0) == CUDA_ERROR_NO_DEVICE);
  }
  const Env two("STANDIN_DEVICES", "2"), sm("STANDIN_SM", "86"), sms("STANDIN_SMS", "11"),
      version("STANDIN_DRIVER_VERSION", "12040");
  REQUIRE(cuInit(0) == 0);
  CHECK(cuDeviceGetCount(&n) == 0);
  CHECK(n == 2);
  CUdevice device = 0;
  CHECK(cuDeviceGet(&device, 2) == CUDA_ERROR_INVALID_DEVICE);
  REQUIRE(cuDeviceGet(&device, 1) == 0);
  CHECK(cuDeviceGetAttribute(&n, 75, device) == 0);
  CHECK(n == 8);
  CHECK(cuDeviceGetAttribute(&n, 76, device) == 0);
  CHECK(n == 6);
  CHECK(cuDeviceGetAttribute(&n, 16, device) == 0);
  CHECK(n == 11);
  CHECK(cuDriverGetVersion(&n) == 0);
  CHECK(n == 12040);
  const char* text = nullptr;
  CHECK(cuGetErrorString(700, &text) == 0);
  CHECK(std::string(text) == "an illegal memory access was encountered");
  CHECK(cuGetErrorName(12345, &text) == CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr p = 0;
  CHECK(cuMemAlloc_v2(&p, 4) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxGetCurrent(&context) == 0);
  CHECK(context == nullptr);
  standin_reset();
}

TEST_CASE("launches beyond the limits are refused") {
  Device device;
  const CUfunction k = device.kernel(
      "extern __shared__ int dynamic[];\n"
      "extern \"C\" __global__ void k(int* p) { __shared__ int s[8]; if (p) s[0] = dynamic[0] = *p; }\n");
  const CUdeviceptr p = 0;
  CHECK(shape(k, 1, 1, 1, 1024, 1, 1, p) == 0);
  CHECK(shape(k, 1, 1, 1, 32, 32, 1, p) == 0);
  CHECK(shape(k, 1, 1, 1, 1025, 1, 1, p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(k, 1, 1, 1, 32, 33, 1, p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(k, 1, 1, 1, 1, 1, 65, p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(k, 2147483648u, 1, 1, 1, 1, 1, p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(k, 1, 65536, 1, 1, 1, 1, p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(k, 1, 1, 65536, 1, 1, 1, p) == CUDA_ERROR_INVALID_VALUE);
  for (int zero = 0; zero < 6; ++zero) {
    unsigned d[6] = {1, 1, 1, 1, 1, 1};
    d[zero] = 0;
    CHECK(shape(k, d[0], d[1], d[2], d[3], d[4], d[5], p) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(shape(k, 1, 1, 1, 1, 1, 1, p, 48 * 1024 - 32) == 0);
  CHECK(shape(k, 1, 1, 1, 1, 1, 1, p, 48 * 1024 - 31) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuFuncSetAttribute(k, 8, 100 * 1024) == 0);
  CHECK(shape(k, 1, 1, 1, 1, 1, 1, p, 100 * 1024) == 0);
  CHECK(cuFuncSetAttribute(k, 8, 227 * 1024) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuCtxSynchronize() == 0);
}

TEST_CASE("launch bounds and the size of parameters") {
  Device device;
  const CUfunction k = device.kernel(
      "struct Large { char bytes[4096]; };\n"
      "struct TooLarge { char bytes[32764]; int more; };\n"
      "extern \"C\" __global__ void __launch_bounds__(2 * 64, 1) k(int* p) { if (p) p[0] = 1; }\n"
      "extern \"C\" __global__ void large(Large a) {}\n"
      "extern \"C\" __global__ void larger(Large a, int b) { if (a.bytes[4095] != b) __trap(); }\n"
      "extern \"C\" __global__ void too_large(TooLarge a) {}\n");
  int value = 0;
  CHECK(cuFuncGetAttribute(&value, 0, k) == 0);
  CHECK(value == 128);
  CHECK(shape(k, 1, 1, 1, 128, 1, 1, 0) == 0);
  CHECK(shape(k, 1, 1, 1, 129, 1, 1, 0) == CUDA_ERROR_INVALID_VALUE);
  CUfunction large = nullptr, larger = nullptr, too_large = nullptr;
  REQUIRE(cuModuleGetFunction(&large, device.module, "large") == 0);
  REQUIRE(cuModuleGetFunction(&larger, device.module, "larger") == 0);
  REQUIRE(cuModuleGetFunction(&too_large, device.module, "too_large") == 0);
  CHECK(cuModuleGetFunction(&large, device.module, "huge") == CUDA_ERROR_NOT_FOUND);
  std::vector<char> bytes(40000);
  bytes[4095] = 17;
  int b = 17;
  void* parameters[] = {bytes.data(), &b};
  CHECK(cuLaunchKernel(too_large, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLaunchKernel(larger, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == 0);
  CHECK(cuCtxSynchronize() == 0);
  const Env old("STANDIN_DRIVER_VERSION", "12000");
  CHECK(cuLaunchKernel(large, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == 0);
  CHECK(cuLaunchKernel(larger, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("static shared memory is counted for each kernel") {
  Device device;
  const CUfunction k = device.kernel(
      "template <class T> __device__ __noinline__ T f(T v) { __shared__ T s[1000]; s[threadIdx.x] = v; return "
      "s[threadIdx.x]; }\n"
      "extern \"C\" __global__ void k(int* p) { *p = f(1); }\n"
      "namespace inner { extern \"C\" __global__ void other(double* p) { __shared__ float t[3]; t[0] = 1; *p = f(*p) + "
      "t[0]; } }\n");
  int bytes = 0;
  CHECK(cuFuncGetAttribute(&bytes, 1, k) == 0);
  CHECK(bytes == 4000);
  CUfunction other = nullptr;
  REQUIRE(cuModuleGetFunction(&other, device.module, "other") == 0);
  CHECK(cuFuncGetAttribute(&bytes, 1, other) == 0);
  CHECK(bytes == 8012);
  const Text t =
      compile_text("extern \"C\" __global__ void k(int* p) { __shared__ int s[12289]; s[0] = 1; *p = s[0]; }\n");
  CHECK(t.result == 6);
  CHECK(t.log.find("uses too much shared data (0xc004 bytes, 0xc000 max)") != std::string::npos);
}

TEST_CASE("parameters are taken at the launch, the work runs when it is waited for") {
  Device device;
  const CUfunction k =
      device.kernel("extern \"C\" __global__ void k(int* p, int v) { p[threadIdx.x] = p[threadIdx.x] * 10 + v; }\n");
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 1) == 0);
  CUdeviceptr p = upload(std::vector<int>(32));
  int v = 1;
  void* parameters[] = {&p, &v};
  REQUIRE(cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr) == 0);
  v = 9;
  CHECK(download<int>(p, 32)[3] == 0);  // the legacy stream does not wait for one that does not block
  CHECK(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
  CHECK(download<int>(p, 32)[3] == 0);
  CHECK(cuStreamSynchronize(stream) == 0);
  CHECK(cuStreamQuery(stream) == 0);
  CHECK(download<int>(p, 32)[3] == 1);
  CHECK(cuStreamDestroy_v2(stream) == 0);
  CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("the legacy stream waits for those that block, and they for it") {
  Device device;
  const CUfunction k = device.kernel("extern \"C\" __global__ void k(int* p, int v) { *p = *p * 10 + v; }\n");
  CUstream blocking = nullptr;
  REQUIRE(cuStreamCreate(&blocking, 0) == 0);
  const CUdeviceptr p = upload(std::vector<int>(1));
  CUstream const legacy[] = {nullptr, reinterpret_cast<CUstream>(1)};
  REQUIRE(launch(k, 1, 1, blocking, p, 1) == 0);
  REQUIRE(launch(k, 1, 1, legacy[0], p, 2) == 0);
  REQUIRE(launch(k, 1, 1, reinterpret_cast<CUstream>(2), p, 3) == 0);
  REQUIRE(launch(k, 1, 1, legacy[1], p, 4) == 0);
  REQUIRE(launch(k, 1, 1, blocking, p, 5) == 0);
  REQUIRE(cuStreamSynchronize(blocking) == 0);
  CHECK(download<int>(p, 1)[0] == 12345);
  REQUIRE(launch(k, 1, 1, blocking, p, 6) == 0);
  CHECK(download<int>(p, 1)[0] == 123456);
}

TEST_CASE("events order streams and are asked") {
  Device device;
  const CUfunction k = device.kernel("extern \"C\" __global__ void k(int* p, int v) { *p = *p * 10 + v; }\n");
  CUstream a = nullptr, b = nullptr;
  REQUIRE(cuStreamCreate(&a, 1) == 0);
  REQUIRE(cuStreamCreate(&b, 1) == 0);
  CUevent start = nullptr, between = nullptr, end = nullptr;
  REQUIRE(cuEventCreate(&start, 0) == 0);
  REQUIRE(cuEventCreate(&between, 2) == 0);
  REQUIRE(cuEventCreate(&end, 0) == 0);
  const CUdeviceptr p = upload(std::vector<int>(1));
  CHECK(cuEventQuery(start) == 0);
  REQUIRE(cuEventRecord(start, a) == 0);
  REQUIRE(launch(k, 1, 1, a, p, 1) == 0);
  REQUIRE(cuEventRecord(between, a) == 0);
  REQUIRE(launch(k, 1, 1, a, p, 7) == 0);
  REQUIRE(cuStreamWaitEvent(b, between, 0) == 0);
  REQUIRE(launch(k, 1, 1, b, p, 2) == 0);
  REQUIRE(cuEventRecord(end, b) == 0);
  float ms = -1;
  CHECK(cuEventElapsedTime(&ms, start, end) == CUDA_ERROR_NOT_READY);
  CHECK(cuEventQuery(end) == CUDA_ERROR_NOT_READY);
  CHECK(cuEventQuery(end) == 0);
  CHECK(download<int>(p, 1)[0] == 12);
  CHECK(cuEventElapsedTime(&ms, start, end) == 0);
  CHECK(ms >= 0);
  CHECK(cuEventElapsedTime(&ms, start, between) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuStreamSynchronize(a) == 0);
  CHECK(download<int>(p, 1)[0] == 127);
  CHECK(cuEventDestroy_v2(end) == 0);
  CHECK(cuEventSynchronize(end) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("host functions run in their turn") {
  Device device;
  const CUfunction k = device.kernel(add_one);
  const CUdeviceptr p = upload(std::vector<int>(32));
  int turns = 0;
  REQUIRE(cuLaunchHostFunc(nullptr, [](void* n) { ++*static_cast<int*>(n); }, &turns) == 0);
  REQUIRE(launch(k, 1, 32, nullptr, p) == 0);
  CHECK(turns == 0);
  CHECK(cuCtxSynchronize() == 0);
  CHECK(turns == 1);
}

TEST_CASE("device memory: alignment, the limit, the host kept out") {
  const Env limit("STANDIN_MEMORY", "100000");
  Device device;
  CUdeviceptr p = 0, q = 0;
  REQUIRE(cuMemAlloc_v2(&p, 60000) == 0);
  CHECK(p % 256 == 0);
  CHECK(cuMemAlloc_v2(&q, 60000) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuMemAllocAsync(&q, 60000, nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
  size_t free = 0, total = 0;
  CHECK(cuMemGetInfo_v2(&free, &total) == 0);
  CHECK(free == 40000);
  CHECK_FALSE(readable(p));
  REQUIRE(cuMemsetD32Async(p, 0x01020304, 15000, nullptr) == 0);
  std::vector<unsigned> back_again(15000);
  REQUIRE(cuMemcpyDtoH_v2(back_again.data(), p, 60000) == 0);
  CHECK(std::count(back_again.begin(), back_again.end(), 0x01020304u) == 15000);
  CHECK(cuMemcpyDtoH_v2(back_again.data(), p + 4, 60000) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(back_again.data()), back_again.data(), 4) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree_v2(p + 256) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree_v2(p) == 0);
  REQUIRE(cuMemAlloc_v2(&q, 60000) == 0);
  CHECK(q != p);
  CHECK(cuMemAlloc_v2(&q, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("what a pointer is") {
  Device device;
  const CUdeviceptr p = upload(std::vector<int>(32));
  void* pinned = nullptr;
  REQUIRE(cuMemAllocHost_v2(&pinned, 100) == 0);
  unsigned type = 0;
  CHECK(cuPointerGetAttribute(&type, 2, p + 4) == 0);
  CHECK(type == 2);
  CHECK(cuPointerGetAttribute(&type, 2, reinterpret_cast<CUdeviceptr>(pinned)) == 0);
  CHECK(type == 1);
  int host = 0;
  CHECK(cuPointerGetAttribute(&type, 2, reinterpret_cast<CUdeviceptr>(&host)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuPointerGetAttribute(&type, 2, p + 128) == CUDA_ERROR_INVALID_VALUE);
  CUcontext context = nullptr;
  int ordinal = -1;
  size_t bytes = 0;
  CUdeviceptr start = 0;
  int attributes[] = {1, 9, 11, 12};
  void* values[] = {&context, &ordinal, &start, &bytes};
  CHECK(cuPointerGetAttributes(4, attributes, values, p + 8) == 0);
  CHECK(context == device.context);
  CHECK(ordinal == 0);
  CHECK(start == p);
  CHECK(bytes == 128);
  CHECK(cuPointerGetAttributes(4, attributes, values, reinterpret_cast<CUdeviceptr>(&host)) == 0);
  CHECK(context == nullptr);
  CHECK(ordinal == -2);
  CHECK(cuMemFreeHost(pinned) == 0);
}

TEST_CASE("memory in the order of a stream") {
  Device device;
  const CUfunction k = device.kernel(add_one);
  CUstream stream = nullptr, other = nullptr;
  REQUIRE(cuStreamCreate(&stream, 1) == 0);
  REQUIRE(cuStreamCreate(&other, 1) == 0);
  CUdeviceptr p = 0;
  REQUIRE(cuMemAllocAsync(&p, 128, stream) == 0);
  REQUIRE(cuMemsetD8Async(p, 0, 128, stream) == 0);
  REQUIRE(launch(k, 1, 32, stream, p) == 0);
  std::vector<int> got(32);
  REQUIRE(cuMemcpyDtoHAsync_v2(got.data(), p, 128, stream) == 0);
  CHECK(got[31] == 1);  // to memory the driver does not know: done when it returns
  REQUIRE(cuMemFreeAsync(p, stream) == 0);
  REQUIRE(cuStreamSynchronize(stream) == 0);
  REQUIRE(cuMemAllocAsync(&p, 128, stream) == 0);
  REQUIRE(launch(k, 1, 32, other, p) == 0);  // before the allocation's turn
  CHECK(cuStreamSynchronize(other) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("memory pools") {
  Device device;
  CUmemPoolProps props = {1, 0, 1, 0, nullptr, {}};
  CUmemoryPool pool = nullptr;
  REQUIRE(cuMemPoolCreate(&pool, &props) == 0);
  unsigned long long keep = 12345, got = 0;
  CHECK(cuMemPoolSetAttribute(pool, 4, &keep) == 0);
  CHECK(cuMemPoolGetAttribute(pool, 4, &got) == 0);
  CHECK(got == 12345);
  CUdeviceptr p = 0;
  REQUIRE(cuMemAllocFromPoolAsync(&p, 128, pool, nullptr) == 0);
  REQUIRE(cuMemsetD8Async(p, 3, 128, nullptr) == 0);
  CHECK(download<int>(p, 32)[31] == 0x03030303);
  CHECK(cuMemFreeAsync(p, nullptr) == 0);
  CHECK(cuCtxSynchronize() == 0);
  CHECK(cuMemFreeAsync(p, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemPoolTrimTo(pool, 0) == 0);
  CHECK(cuMemPoolDestroy(pool) == 0);
  CHECK(cuMemAllocFromPoolAsync(&p, 128, pool, nullptr) == CUDA_ERROR_INVALID_VALUE);
  props.location_id = 1;
  CHECK(cuMemPoolCreate(&pool, &props) == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("copies from the host's own memory take it at once, from the driver's later") {
  Device device;
  const CUdeviceptr p = upload(std::vector<int>(2));
  int mine = 5;
  void* pinned = nullptr;
  REQUIRE(cuMemAllocHost_v2(&pinned, 4) == 0);
  std::memcpy(pinned, &mine, 4);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0) == 0);
  REQUIRE(cuMemcpyHtoDAsync_v2(p, &mine, 4, stream) == 0);
  REQUIRE(cuMemcpyAsync(p + 4, reinterpret_cast<CUdeviceptr>(pinned), 4, stream) == 0);
  mine = 6;
  std::memcpy(pinned, &mine, 4);
  CHECK(download<int>(p, 2) == std::vector<int>{5, 6});
}

TEST_CASE("an error in a kernel stays until the context is gone") {
  Device device;
  const CUfunction k = device.kernel("extern \"C\" __global__ void k(int* p) { p[threadIdx.x + 1] = 1; }\n");
  CUdeviceptr p = upload(std::vector<int>(32)), q = 0;
  REQUIRE(launch(k, 1, 32, nullptr, p) == 0);
  CHECK(cuStreamSynchronize(nullptr) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuMemAlloc_v2(&q, 4) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(launch(k, 1, 32, nullptr, p) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuMemFree_v2(p) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(std::string(standin_report()).find("thread (31,0,0)") != std::string::npos);
  CUcontext second = nullptr;
  REQUIRE(cuCtxDestroy_v2(device.context) == 0);
  REQUIRE(cuCtxCreate_v2(&second, 0, 0) == 0);
  CHECK(cuMemAlloc_v2(&q, 4) == 0);
  CHECK(cuMemFree_v2(q) == 0);
  CHECK(cuCtxDestroy_v2(second) == 0);
  CHECK(standin_held() == 0);
}

TEST_CASE("contexts: primary and own, current and not") {
  standin_reset();
  const Env two("STANDIN_DEVICES", "2");
  REQUIRE(cuInit(0) == 0);
  CUcontext primary = nullptr, again = nullptr, own = nullptr, current = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&primary, 1) == 0);
  REQUIRE(cuDevicePrimaryCtxRetain(&again, 1) == 0);
  CHECK(primary == again);
  CHECK(cuCtxGetCurrent(&current) == 0);
  CHECK(current == nullptr);
  REQUIRE(cuCtxSetCurrent(primary) == 0);
  REQUIRE(cuCtxCreate_v2(&own, 0, 0) == 0);
  CUdevice device = -1;
  CHECK(cuCtxGetDevice(&device) == 0);
  CHECK(device == 0);
  unsigned long long a = 0, b = 0;
  CHECK(cuCtxGetId(primary, &a) == 0);
  CHECK(cuCtxGetId(nullptr, &b) == 0);
  CHECK(a != b);
  const CUdeviceptr of_first = upload(std::vector<int>(32));
  CHECK(cuCtxPopCurrent_v2(&current) == 0);
  CHECK(current == own);
  CHECK(cuCtxGetDevice(&device) == 0);
  CHECK(device == 1);
  std::thread([&] {
    CUcontext none = primary;
    CHECK(cuCtxGetCurrent(&none) == 0);
    CHECK(none == nullptr);
  }).join();
  const Text t = compile_text(add_one);
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  REQUIRE(cuModuleLoadData(&module, t.cubin.data()) == 0);
  REQUIRE(cuModuleGetFunction(&k, module, "k") == 0);
  REQUIRE(launch(k, 1, 32, nullptr, of_first) == 0);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(std::string(standin_report()).find("memory of device 0") != std::string::npos);
  CHECK(cuDevicePrimaryCtxRelease_v2(1) == 0);
  CHECK(cuDevicePrimaryCtxRelease_v2(1) == 0);
  CHECK(cuDevicePrimaryCtxRelease_v2(1) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxSetCurrent(primary) == CUDA_ERROR_INVALID_CONTEXT);
  standin_reset();
}

TEST_CASE("modules: other machines' cubins, no cubins, gone before their turn") {
  Device device;
  CUmodule module = nullptr;
  const Text t80 = compile_text(add_one, {"--gpu-architecture=sm_80"});
  CHECK(cuModuleLoadData(&module, t80.cubin.data()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  {
    const Env sm("STANDIN_SM", "86");
    CHECK(cuModuleLoadDataEx(&module, t80.cubin.data(), 0, nullptr, nullptr) == 0);
    CHECK(cuModuleUnload(module) == 0);
  }
  const char nothing[256] = "no cubin";
  CHECK(cuModuleLoadData(&module, nothing) == CUDA_ERROR_INVALID_IMAGE);
  std::vector<char> host_code = t80.cubin;
  host_code[18] = 62;
  CHECK(cuModuleLoadData(&module, host_code.data()) == CUDA_ERROR_INVALID_IMAGE);
  const CUfunction k = device.kernel(add_one);
  const CUdeviceptr p = upload(std::vector<int>(32));
  REQUIRE(launch(k, 1, 32, nullptr, p) == 0);
  REQUIRE(cuModuleUnload(device.module) == 0);
  CHECK(cuModuleUnload(device.module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(std::string(standin_report()).find("module was unloaded") != std::string::npos);
}

TEST_CASE("two modules of one text have shared memory of their own, and both unload") {
  Device device;
  const char* text =
      "extern \"C\" __global__ void k(int* p) { __shared__ int s; if (threadIdx.x == 0) s = *p; __syncthreads(); "
      "p[threadIdx.x] = s + 1; }\n";
  const CUfunction a = device.kernel(text);
  const CUmodule first = device.module;
  const CUfunction b = device.kernel(text);
  CHECK(a != b);
  const CUdeviceptr p = upload(std::vector<int>(32, 5));
  REQUIRE(launch(a, 1, 32, nullptr, p) == 0);
  REQUIRE(launch(b, 1, 32, nullptr, p) == 0);
  CHECK(download<int>(p, 32)[31] == 7);
  CHECK(cuModuleUnload(first) == 0);
  REQUIRE(launch(b, 1, 32, nullptr, p) == 0);
  CHECK(download<int>(p, 32)[31] == 8);
  CHECK(cuModuleUnload(device.module) == 0);
}

TEST_CASE("capture: work is kept for later, and played again and again") {
  Device device;
  const CUfunction k = device.kernel(add_one);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 1) == 0);
  const CUdeviceptr p = upload(std::vector<int>(32)), q = upload(std::vector<int>(32));
  CUdeviceptr inner = 0;
  int status = -1;
  CHECK(cuStreamIsCapturing(stream, &status) == 0);
  CHECK(status == 0);
  REQUIRE(cuStreamBeginCapture_v2(stream, 0) == 0);
  REQUIRE(cuMemAllocAsync(&inner, 128, stream) == 0);
  REQUIRE(cuMemcpyDtoDAsync_v2(inner, p, 128, stream) == 0);
  REQUIRE(launch(k, 1, 32, stream, inner) == 0);
  REQUIRE(cuMemcpyAsync(p, inner, 128, stream) == 0);
  REQUIRE(cuMemsetD32Async(q, 7, 32, stream) == 0);
  REQUIRE(cuMemFreeAsync(inner, stream) == 0);
  CHECK(cuStreamIsCapturing(stream, &status) == 0);
  CHECK(status == 1);
  CUgraph graph = nullptr;
  REQUIRE(cuStreamEndCapture(stream, &graph) == 0);
  CHECK(download<int>(q, 32)[0] == 0);
  CUgraphExec exec = nullptr;
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  REQUIRE(cuGraphDestroy(graph) == 0);
  for (int i = 0; i < 3; ++i) REQUIRE(cuGraphLaunch(exec, stream) == 0);
  CHECK(download<int>(p, 32)[31] == 0);
  REQUIRE(cuStreamSynchronize(stream) == 0);
  CHECK(download<int>(p, 32)[31] == 3);
  CHECK(download<int>(q, 32)[0] == 7);
  REQUIRE(cuGraphExecDestroy(exec) == 0);
  CHECK(cuGraphLaunch(exec, stream) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("capture: what may not happen in it spoils it") {
  Device device;
  const CUfunction k = device.kernel(add_one);
  const Text t = compile_text(add_one);
  const CUdeviceptr p = upload(std::vector<int>(32));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0) == 0);
  std::vector<int> host(32);
  CUdeviceptr q = 0;
  CUmodule m = nullptr;
  void* pinned = nullptr;
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0) == 0);
  const std::vector<std::pair<std::function<CUresult()>, CUresult>> forbidden = {
      {[&] { return cuMemAlloc_v2(&q, 4); }, 900},
      {[&] { return cuMemFree_v2(p); }, 900},
      {[&] { return cuMemAllocHost_v2(&pinned, 4); }, 900},
      {[&] { return cuMemcpyDtoH_v2(host.data(), p, 4); }, 900},
      {[&] { return cuMemcpyHtoD_v2(p, host.data(), 4); }, 900},
      {[&] { return cuStreamSynchronize(stream); }, 900},
      {[&] { return cuStreamQuery(stream); }, 900},
      {[&] { return cuCtxSynchronize(); }, 900},
      {[&] { return cuEventSynchronize(event); }, 900},
      {[&] { return cuModuleLoadData(&m, t.cubin.data()); }, 900},
      {[&] { return launch(k, 1, 32, nullptr, p); }, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT},
  };
  for (size_t i = 0; i < forbidden.size(); ++i) {
    CAPTURE(i);
    REQUIRE(cuStreamBeginCapture_v2(stream, 0) == 0);
    CHECK(forbidden[i].first() == forbidden[i].second);
    int status = 0;
    CHECK(cuStreamIsCapturing(stream, &status) == 0);
    CHECK(status == 2);
    CHECK(launch(k, 1, 32, stream, p) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CUgraph graph = nullptr;
    CHECK(cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(graph == nullptr);
  }
  CHECK(cuStreamBeginCapture_v2(nullptr, 0) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  REQUIRE(cuStreamBeginCapture_v2(stream, 1) == 0);
  std::thread([&] {
    REQUIRE(cuCtxSetCurrent(device.context) == 0);
    CHECK(cuMemAlloc_v2(&q, 4) == 0);  // another thread may, in the mode of one thread
  }).join();
  CUgraph graph = nullptr;
  CHECK(cuStreamEndCapture(stream, &graph) == 0);
  CHECK(cuGraphDestroy(graph) == 0);
}

TEST_CASE("capture: other streams join by events") {
  Device device;
  const CUfunction k = device.kernel(add_one);
  const CUdeviceptr p = upload(std::vector<int>(32));
  CUstream a = nullptr, b = nullptr;
  CUevent fork = nullptr, join = nullptr;
  REQUIRE(cuStreamCreate(&a, 1) == 0);
  REQUIRE(cuStreamCreate(&b, 1) == 0);
  REQUIRE(cuEventCreate(&fork, 2) == 0);
  REQUIRE(cuEventCreate(&join, 2) == 0);
  for (const bool joined : {true, false}) {
    REQUIRE(cuStreamBeginCapture_v2(a, 0) == 0);
    REQUIRE(cuEventRecord(fork, a) == 0);
    REQUIRE(cuStreamWaitEvent(b, fork, 0) == 0);
    REQUIRE(launch(k, 1, 32, b, p) == 0);
    REQUIRE(cuEventRecord(join, b) == 0);
    if (joined) REQUIRE(cuStreamWaitEvent(a, join, 0) == 0);
    CUgraph graph = nullptr;
    CHECK(cuStreamEndCapture(b, &graph) == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CHECK(cuStreamEndCapture(a, &graph) == (joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
    int status = 9;
    CHECK(cuStreamIsCapturing(b, &status) == 0);
    CHECK(status == 0);
  }
}

TEST_CASE("planned failures and counts of calls") {
  Device device;
  const unsigned long long before = standin_calls("cuMemAlloc_v2");
  standin_fail("cuMemAlloc_v2", 2, 2);
  CUdeviceptr p = 0;
  CHECK(cuMemAlloc_v2(&p, 4) == 0);
  CHECK(cuMemAlloc_v2(&p, 4) == 2);
  CHECK(cuMemAlloc_v2(&p, 4) == 0);
  CHECK(standin_calls("cuMemAlloc_v2") == before + 3);
  CHECK(standin_calls("cuGraphLaunch") == 0);
  const Env planned("STANDIN_FAIL", "cuMemAlloc_v2:1=700,cuCtxSynchronize:2=719");
  CHECK(cuMemAlloc_v2(&p, 4) == 700);
  CHECK(cuMemAlloc_v2(&p, 4) == 0);
  CHECK(cuCtxSynchronize() == 0);
  CHECK(cuCtxSynchronize() == 719);
  CHECK(cuCtxSynchronize() == 0);
}

TEST_CASE("a forked child has no driver") {
  Device device;
  const CUdeviceptr p = upload(std::vector<int>(32));
  const pid_t child = fork();
  if (child == 0) {
    int n = 0;
    CUdeviceptr q = 0;
    const bool right = cuMemAlloc_v2(&q, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuMemcpyDtoH_v2(&n, p, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(download<int>(p, 32).size() == 32);
}

namespace {

// Outlives what the stand-in has of its own statics, being made before.
struct Late {
  CUdeviceptr held = 0;
  bool watched = false;
  ~Late() {
    int n = -1;
    CUcontext current = nullptr;
    if (watched && (cuCtxGetCurrent(&current) != 0 || cuDeviceGetCount(&n) != 0 || n != 1)) _exit(1);
    if (watched) _exit(cuMemFree_v2(held) == 0 && cuCtxSynchronize() == 0 ? 7 : 2);
  }
};
Late late;

}  // namespace

TEST_CASE("the driver still answers in the host's last destructors") {
  const pid_t child = fork();
  if (child == 0) {
    setenv("STANDIN_LATE", "1", 1);
    execl("/proc/self/exe", "late", "-tc=late", static_cast<char*>(nullptr));
    _exit(3);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("late" * doctest::skip(std::getenv("STANDIN_LATE") == nullptr)) {
  REQUIRE(cuInit(0) == 0);
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate_v2(&context, 0, 0) == 0);
  late.held = upload(std::vector<int>(32));
  late.watched = true;
}

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
