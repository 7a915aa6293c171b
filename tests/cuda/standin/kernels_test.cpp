// Kernels that are right give what they should, and each kind of wrong one is named.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fixture.h"

using namespace standin::test;

namespace {

std::vector<int> counted(int n) {
  std::vector<int> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Launches the kernel with one array of ints, whose length it takes, too; gives the code and what is reported.
struct Outcome {
  CUresult code;
  std::string report;
};
Outcome run(const std::string& text, unsigned blocks, unsigned threads, int items) {
  Device device;
  CUfunction k = device.kernel(text);
  const CUdeviceptr p = upload(counted(items));
  REQUIRE(launch(k, blocks, threads, nullptr, p, items) == 0);
  const CUresult code = cuCtxSynchronize();
  return {code, standin_report()};
}

std::string kernel(const std::string& body) {
  return std::string("extern \"C\" __global__ void __launch_bounds__(1024) k(int* p, int n) {\n") + body + "\n}\n";
}

void is_fine(const std::string& body, unsigned blocks = 1, unsigned threads = 64, int items = 64) {
  CAPTURE(body);
  const Outcome o = run(kernel(body), blocks, threads, items);
  CHECK_MESSAGE(o.code == 0, o.report);
  CHECK(o.report.empty());
}

void is_wrong(const std::string& body, const char* what, CUresult code = CUDA_ERROR_ILLEGAL_ADDRESS,
              unsigned blocks = 1, unsigned threads = 64, int items = 64) {
  CAPTURE(body);
  const Outcome o = run(kernel(body), blocks, threads, items);
  CHECK(o.code == code);
  CHECK_MESSAGE(o.report.find(what) != std::string::npos, o.report);
  CHECK(o.report.find("kernel k, block (") != std::string::npos);
}

}  // namespace

TEST_CASE("vectors are added, in strides of the grid") {
  Device device;
  CUfunction k = device.kernel(
      "extern \"C\" __global__ void __launch_bounds__(128) k(const float* a, const float* b, float* c, int n) {\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];\n"
      "}\n");
  std::vector<float> a(1000), b(1000);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i) / 3;
    b[i] = 1 / static_cast<float>(i + 1);
  }
  const CUdeviceptr da = upload(a), db = upload(b), dc = upload(std::vector<float>(1000));
  REQUIRE(launch(k, 3, 128, nullptr, da, db, dc, 1000) == 0);
  const std::vector<float> c = download<float>(dc, 1000);
  for (size_t i = 0; i < c.size(); ++i) CHECK(c[i] == a[i] + b[i]);
  CHECK(cuMemFree_v2(da) == 0);
}

TEST_CASE("positions in three dimensions") {
  Device device;
  CUfunction k = device.kernel(
      "extern \"C\" __global__ void k(unsigned* p) {\n"
      "  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
      "  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
      "  p[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;\n"
      "}\n");
  CUdeviceptr p = upload(std::vector<unsigned>(24 * 30));
  void* parameters[] = {&p};
  REQUIRE(cuLaunchKernel(k, 2, 3, 4, 5, 3, 2, 0, nullptr, parameters, nullptr) == 0);
  const auto got = download<unsigned>(p, 24 * 30);
  for (unsigned i = 0; i < got.size(); ++i) CHECK(got[i] == i / 30 * 1000 + i % 30);
}

TEST_CASE("a block sums by shared memory, a warp by shuffles") {
  Device device;
  CUfunction k = device.kernel(
      "template <class T> __device__ T block_sum(T v) {\n"
      "  __shared__ T part[256];\n"
      "  part[threadIdx.x] = v;\n"
      "  __syncthreads();\n"
      "  for (int d = 128; d > 0; d >>= 1) {\n"
      "    if (threadIdx.x < d) part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + d];\n"
      "    __syncthreads();\n"
      "  }\n"
      "  const T r = part[0];\n"
      "  __syncthreads();\n"
      "  return r;\n"
      "}\n"
      "extern \"C\" __global__ void __launch_bounds__(256) k(const int* p, long long* out) {\n"
      "  const int v = p[blockIdx.x * 256 + threadIdx.x];\n"
      "  const int a = block_sum(v);\n"
      "  const double b = block_sum((double)v);\n"
      "  long long w = v;\n"
      "  for (int d = 16; d > 0; d >>= 1) w += __shfl_xor_sync(0xffffffffu, w, d);\n"
      "  if (threadIdx.x == 0) { out[blockIdx.x * 3] = a; out[blockIdx.x * 3 + 1] = (long long)b; out[blockIdx.x * 3 + "
      "2] = w; }\n"
      "}\n");
  const CUdeviceptr p = upload(counted(512)), out = upload(std::vector<long long>(6));
  REQUIRE(launch(k, 2, 256, nullptr, p, out) == 0);
  CHECK(download<long long>(out, 6) == std::vector<long long>{32640, 32640, 496, 98176, 98176, 8688});
}

TEST_CASE("exchanges of a warp") {
  Device device;
  CUfunction k = device.kernel(
      "extern \"C\" __global__ void k(int* out) {\n"
      "  const unsigned all = 0xffffffffu;\n"
      "  const int t = threadIdx.x;\n"
      "  int* p = out + t * 12;\n"
      "  p[0] = __shfl_sync(all, t, 5);\n"
      "  p[1] = __shfl_sync(all, t, 3, 8);\n"
      "  p[2] = __shfl_up_sync(all, t, 2);\n"
      "  p[3] = __shfl_down_sync(all, t, 3, 16);\n"
      "  p[4] = __shfl_xor_sync(all, t, 9);\n"
      "  p[5] = __ballot_sync(all, t % 3 == 0);\n"
      "  p[6] = __any_sync(all, t == 31) + 2 * __any_sync(all, 0);\n"
      "  p[7] = __all_sync(all, t < 31) + 2 * __all_sync(all, 1);\n"
      "  p[8] = (int)__shfl_sync(all, (double)t * 0.5, 9);\n"
      "  p[9] = __reduce_add_sync(all, t);\n"
      "  p[10] = __reduce_min_sync(all, t - 20);\n"
      "  if (t < 16) p[11] = __shfl_xor_sync(0xffffu, t, 1); else p[11] = __popc(__activemask());\n"
      "}\n");
  const CUdeviceptr out = upload(std::vector<int>(32 * 12));
  REQUIRE(launch(k, 1, 32, nullptr, out) == 0);
  const auto got = download<int>(out, 32 * 12);
  for (int t = 0; t < 32; ++t) {
    CAPTURE(t);
    const int* p = got.data() + t * 12;
    CHECK(p[0] == 5);
    CHECK(p[1] == t / 8 * 8 + 3);
    CHECK(p[2] == (t < 2 ? t : t - 2));
    CHECK(p[3] == (t % 16 > 12 ? t : t + 3));
    CHECK(p[4] == (t ^ 9));
    CHECK(p[5] == 0x49249249);
    CHECK(p[6] == 1);
    CHECK(p[7] == 2);
    CHECK(p[8] == 4);
    CHECK(p[9] == 496);
    CHECK(p[10] == -20);
    if (t < 16) CHECK(p[11] == (t ^ 1));
  }
}

TEST_CASE("atomics, vector accesses, dynamic shared memory, arithmetic") {
  Device device;
  CUfunction k = device.kernel(
      "extern __shared__ float dynamic[];\n"
      "extern \"C\" __global__ void k(unsigned* counts, const float4* in, float4* out, unsigned long long* wide) {\n"
      "  atomicAdd(&counts[threadIdx.x % 4], 1u);\n"
      "  atomicMax(&counts[4], threadIdx.x);\n"
      "  atomicCAS(&counts[5], 7u, threadIdx.x + 100);\n"
      "  atomicAdd(wide, 1ull << 40);\n"
      "  dynamic[threadIdx.x] = threadIdx.x;\n"
      "  __syncthreads();\n"
      "  float4 v = in[threadIdx.x];\n"
      "  v.x = __fmaf_rn(v.x, 0x1.000002p+0f, -v.x);\n"
      "  v.y = dynamic[63 - threadIdx.x];\n"
      "  v.z = __fsqrt_rn(v.z);\n"
      "  v.w = (float)(__clzll(1ll << threadIdx.x) + __ffs(8) + min(3, 2) + (int)__umulhi(1u << 31, 4u));\n"
      "  out[threadIdx.x] = v;\n"
      "}\n");
  std::vector<float> in(256);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  CUdeviceptr counts = upload(std::vector<unsigned>{0, 0, 0, 0, 0, 7}), from = upload(in), to = upload(in),
              wide = upload(std::vector<unsigned long long>(1));
  void* parameters[] = {&counts, &from, &to, &wide};
  REQUIRE(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 256, nullptr, parameters, nullptr) == 0);
  const auto c = download<unsigned>(counts, 6);
  CHECK(std::vector<unsigned>(c.begin(), c.begin() + 5) == std::vector<unsigned>{16, 16, 16, 16, 63});
  CHECK(c[5] >= 100);
  CHECK(download<unsigned long long>(wide, 1)[0] == 64ull << 40);
  const auto got = download<float>(to, 256);
  for (size_t t = 0; t < 64; ++t) {
    CHECK(got[4 * t] == std::fma(in[4 * t], 0x1.000002p+0f, -in[4 * t]));
    CHECK(got[4 * t + 1] == static_cast<float>(63 - t));
    CHECK(got[4 * t + 2] == std::sqrt(in[4 * t + 2]));
    CHECK(got[4 * t + 3] == static_cast<float>(63 - t + 4 + 2 + 2));
  }
}

TEST_CASE("contraction is as the option says, and on without one") {
  const char* text = "extern \"C\" __global__ void k(float* p) { p[3] = p[0] * p[1] + p[2]; }\n";
  for (const bool fused : {false, true}) {
    Device device;
    const Text t = fused ? compile_text(text, {"--gpu-architecture=sm_90"}) : compile_text(text);
    REQUIRE(t.result == 0);
    REQUIRE(cuModuleLoadData(&device.module, t.cubin.data()) == 0);
    CUfunction k = nullptr;
    REQUIRE(cuModuleGetFunction(&k, device.module, "k") == 0);
    const float a = 1.0f + 0x1p-20f;
    const CUdeviceptr p = upload(std::vector<float>{a, a, -1.0f, 0.0f});
    REQUIRE(launch(k, 1, 1, nullptr, p) == 0);
    const float product = a * a;
    if (fused && !__builtin_cpu_supports("fma")) continue;
    CHECK(download<float>(p, 4)[3] == (fused ? std::fma(a, a, -1.0f) : product - 1.0f));
  }
}

TEST_CASE("accesses outside by one item, at each end") {
  is_fine("p[threadIdx.x] += 1;");
  is_wrong("p[threadIdx.x + 1] = 1;", "0 bytes past the end of an allocation of 256 bytes");
  is_wrong("if (threadIdx.x == 3) p[-1] = 1;", "4 bytes before the start of an allocation of 256 bytes");
  is_wrong("if (threadIdx.x == 3) p[0] = p[64];", "thread (3,0,0): read of 4 bytes");
  is_wrong("if (threadIdx.x == 3) *(long long*)(p + 62) = *(long long*)(p + 63 - 1 + 2);", "past the end");
  // Of two neighbours, whichever comes first.
  for (const char* outside : {"s[threadIdx.x + n - 63]", "t[threadIdx.x + n - 63]", "s[(int)threadIdx.x - n + 63]",
                              "t[(int)threadIdx.x - n + 63]"})
    is_wrong(std::string("__shared__ int s[64]; __shared__ int t[64]; s[threadIdx.x] = t[threadIdx.x] = 0;"
                         "__syncthreads(); p[threadIdx.x] = ") +
                 outside + ";",
             "shared");
  is_wrong("if (threadIdx.x == 5) atomicAdd(p + 64, 1);", "atomic of 4 bytes");
}

TEST_CASE("addresses that are no device memory") {
  is_wrong("*(int*)0 = 1;", "a null pointer");
  is_wrong("*(short*)((char*)p + 1) = 1;", "misaligned", CUDA_ERROR_MISALIGNED_ADDRESS);
  is_wrong("*(float4*)(p + 2) = float4{};", "misaligned", CUDA_ERROR_MISALIGNED_ADDRESS);
  Device device;
  CUfunction k = device.kernel(kernel("p[threadIdx.x] = n;"));
  std::vector<int> host(64);
  REQUIRE(launch(k, 1, 64, nullptr, host.data(), 1) == 0);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(std::string(standin_report()).find("host memory") != std::string::npos);
  CHECK(host[0] == 0);
}

TEST_CASE("memory that was freed") {
  Device device;
  CUfunction k = device.kernel(kernel("p[threadIdx.x] = n;"));
  const CUdeviceptr p = upload(counted(64));
  REQUIRE(cuMemFree_v2(p) == 0);
  CHECK(cuMemFree_v2(p) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(launch(k, 1, 64, nullptr, p, 1) == 0);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(std::string(standin_report()).find("in freed memory") != std::string::npos);
}

TEST_CASE("races between threads of a block") {
  is_wrong("__shared__ int s; s = threadIdx.x; __syncthreads(); p[threadIdx.x] = s;", "race between threads");
  is_wrong("__shared__ int s[64]; s[threadIdx.x] = 1; p[threadIdx.x] = s[threadIdx.x ^ 32];", "uninitialised read");
  is_wrong(
      "__shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); int v = s[(threadIdx.x + 1) % 64]; s[threadIdx.x] = "
      "v;",
      "did a read without a barrier between");
  is_wrong("p[0] = 1;", "race between threads");
  is_wrong("p[threadIdx.x] = p[threadIdx.x ^ 1];", "race between threads");
  is_wrong("((char*)p)[threadIdx.x / 2] = 1;", "race between threads");
  is_wrong("if (threadIdx.x == 0) p[0] = 1; atomicAdd(p, 1);", "race between threads");
  is_wrong("atomicAdd(p, 1); if (threadIdx.x == 63) p[1] = p[0];", "did an atomic");
  is_fine("atomicAdd(p, 1); __syncthreads(); if (threadIdx.x == 63) p[1] = p[0];");
  is_fine("((char*)p)[threadIdx.x] = 1;");
  is_fine("__shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = s[threadIdx.x ^ 1];");
}

TEST_CASE("the report names the other thread of a race") {
  const Outcome o = run(kernel("if (threadIdx.x == 2 || threadIdx.x == 7) p[9] = 1;"), 1, 64, 64);
  CHECK_MESSAGE(o.report.find("block (0,0,0), thread (7,0,0): write of 4 bytes") != std::string::npos, o.report);
  CHECK_MESSAGE(o.report.find("where thread (2,0,0) of the same block did a write") != std::string::npos, o.report);
}

TEST_CASE("a missing barrier in a sum over the block") {
  const char* text =
      "__shared__ int part[64]; part[threadIdx.x] = p[threadIdx.x]; __syncthreads();"
      "for (int d = 32; d > 0; d >>= 1) { if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d]; BARRIER }"
      "if (threadIdx.x == 0) p[0] = part[0];";
  std::string with = text, without = text;
  with.replace(with.find("BARRIER"), 7, "__syncthreads();");
  without.replace(without.find("BARRIER"), 7, "");
  is_fine(with);
  is_wrong(without, "race between threads");
}

TEST_CASE("within a warp, a synchronisation of the warp orders") {
  is_wrong("__shared__ int s[32]; s[threadIdx.x] = 1; p[threadIdx.x] = s[threadIdx.x ^ 1];", "uninitialised",
           CUDA_ERROR_ILLEGAL_ADDRESS, 1, 32);
  is_wrong("p[threadIdx.x ^ 1] = 1; p[threadIdx.x] += 1;", "race between threads", CUDA_ERROR_ILLEGAL_ADDRESS, 1, 32);
  is_fine("__shared__ int s[32]; s[threadIdx.x] = 1; __syncwarp(); p[threadIdx.x] = s[threadIdx.x ^ 1];", 1, 32);
  is_fine("p[threadIdx.x ^ 1] = 1; __shfl_sync(0xffffffffu, 0, 0); p[threadIdx.x] += 1;", 1, 32);
  is_wrong("__shared__ int s[64]; s[threadIdx.x] = 1; __syncwarp(); p[threadIdx.x] = s[threadIdx.x ^ 32];",
           "uninitialised");
  is_wrong("p[threadIdx.x ^ 32] = 1; __syncwarp(); p[threadIdx.x] += 1;", "race between threads");
}

TEST_CASE("two blocks at one place") {
  is_wrong("if (threadIdx.x == 0) p[7] = 1;", "race between blocks", CUDA_ERROR_ILLEGAL_ADDRESS, 2);
  is_wrong("if (threadIdx.x == 0) p[blockIdx.x] = p[0];", "race between blocks", CUDA_ERROR_ILLEGAL_ADDRESS, 2);
  is_wrong("if (threadIdx.x == 0 && blockIdx.x == 2) p[0] = 1; else if (threadIdx.x == 0) p[blockIdx.x + 8] = p[0];",
           "race between blocks", CUDA_ERROR_ILLEGAL_ADDRESS, 3);
  is_wrong("if (threadIdx.x == 0) { const int v = p[0]; p[blockIdx.x == 1 ? 0 : 9] = v; }",
           "where threads of several blocks did a read", CUDA_ERROR_ILLEGAL_ADDRESS, 2);
  is_fine("if (threadIdx.x == 0) atomicAdd(p + 7, 1);", 2);
  is_fine("if (threadIdx.x == 0) p[blockIdx.x] = p[9];", 4);
  const Outcome o = run(kernel("if (threadIdx.x == 4) p[7] = 1;"), 3, 64, 64);
  CHECK_MESSAGE(o.report.find("block (1,0,0), thread (4,0,0)") != std::string::npos, o.report);
  CHECK_MESSAGE(o.report.find("thread (4,0,0) of block (0,0,0) did a write") != std::string::npos, o.report);
}

TEST_CASE("launches after one another may share places") {
  Device device;
  CUfunction k = device.kernel(kernel("p[(threadIdx.x + n) % 64] += 1;"));
  const CUdeviceptr p = upload(counted(64));
  for (int i = 0; i < 5; ++i) REQUIRE(launch(k, 1, 64, nullptr, p, i) == 0);
  const CUresult code = cuCtxSynchronize();
  CHECK_MESSAGE(code == 0, std::string(standin_report()));
  CHECK(download<int>(p, 64)[10] == 15);
}

TEST_CASE("shared memory is not initialised, and again not in the next block") {
  is_wrong("__shared__ int s[64]; p[threadIdx.x] = s[threadIdx.x];", "bytes into shared");
  is_wrong(
      "__shared__ int s[64]; if (blockIdx.x == 0) s[threadIdx.x] = 1; __syncthreads();"
      "p[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];",
      "block (1,0,0), thread (0,0,0)", CUDA_ERROR_ILLEGAL_ADDRESS, 2, 64, 128);
  is_wrong("__shared__ int s; atomicAdd(&s, 1);", "uninitialised read");
}

TEST_CASE("barriers that not all reach") {
  is_wrong("if (threadIdx.x < 32) __syncthreads(); else p[0] += 0; __syncthreads();", "divergence",
           CUDA_ERROR_LAUNCH_FAILED);
  is_wrong("if (threadIdx.x < 16) __syncwarp(); else __syncthreads();", "divergence", CUDA_ERROR_LAUNCH_FAILED, 1, 32);
  is_fine("if (threadIdx.x >= 40) return; __syncthreads(); p[threadIdx.x] = 1;");
  is_fine("p[threadIdx.x] = __syncthreads_count(threadIdx.x % 2) + __syncthreads_or(threadIdx.x == 9);");
}

TEST_CASE("lanes that are not there") {
  is_wrong("p[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);", "lane 16 of the mask is not there",
           CUDA_ERROR_LAUNCH_FAILED, 1, 16);
  is_wrong("if (threadIdx.x == 3) return; __syncwarp();", "lane 3 of the mask is over", CUDA_ERROR_LAUNCH_FAILED, 1,
           32);
  is_wrong("if (threadIdx.x == 31) return; __syncwarp();", "lane 31 of its warp, which is over",
           CUDA_ERROR_LAUNCH_FAILED, 1, 32);
  is_wrong("p[threadIdx.x] = __shfl_sync(0xffffu, 1, 20);", "lane 20, which is not in the mask",
           CUDA_ERROR_LAUNCH_FAILED, 1, 16);
  is_wrong("__syncwarp(0xfffffffeu);", "not in its own mask", CUDA_ERROR_LAUNCH_FAILED, 1, 32);
}

TEST_CASE("asserts and traps") {
  is_wrong("assert(threadIdx.x < 9);", "threadIdx.x < 9", CUDA_ERROR_ASSERT);
  is_wrong("if (threadIdx.x == 1) __trap();", "thread (1,0,0): __trap", CUDA_ERROR_ASSERT);
}
