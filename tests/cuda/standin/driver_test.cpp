// The stand-in as a driver: limits, memory, contexts, modules, faults.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "fixture.h"

using namespace standin::test;

namespace {

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
  CUfunction k = device.kernel(
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
  CUfunction k = device.kernel(
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
  CUfunction k = device.kernel(
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

TEST_CASE("an error in a kernel stays until the context is gone") {
  Device device;
  CUfunction k = device.kernel("extern \"C\" __global__ void k(int* p) { p[threadIdx.x + 1] = 1; }\n");
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
  CUfunction k = device.kernel(add_one);
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
  CUfunction a = device.kernel(text);
  CUmodule first = device.module;
  CUfunction b = device.kernel(text);
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
