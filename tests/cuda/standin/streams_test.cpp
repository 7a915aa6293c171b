// Streams, events and capture: work runs when something waits for it, in the order that was asked for.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "fixture.h"

using namespace standin::test;

TEST_CASE("parameters are taken at the launch, the work runs when it is waited for") {
  Device device;
  CUfunction k =
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
  CUfunction k = device.kernel("extern \"C\" __global__ void k(int* p, int v) { *p = *p * 10 + v; }\n");
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
  CUfunction k = device.kernel("extern \"C\" __global__ void k(int* p, int v) { *p = *p * 10 + v; }\n");
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
  CUfunction k = device.kernel(add_one);
  const CUdeviceptr p = upload(std::vector<int>(32));
  int turns = 0;
  REQUIRE(cuLaunchHostFunc(nullptr, [](void* n) { ++*static_cast<int*>(n); }, &turns) == 0);
  REQUIRE(launch(k, 1, 32, nullptr, p) == 0);
  CHECK(turns == 0);
  CHECK(cuCtxSynchronize() == 0);
  CHECK(turns == 1);
}

TEST_CASE("memory in the order of a stream") {
  Device device;
  CUfunction k = device.kernel(add_one);
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

TEST_CASE("capture: work is kept for later, and played again and again") {
  Device device;
  CUfunction k = device.kernel(add_one);
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
  CUfunction k = device.kernel(add_one);
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

TEST_CASE("capture: a thread that has exchanged its mode spoils what its new mode heeds") {
  Device device;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 1) == 0);
  // By the capture's mode, the calling thread's, and whether that thread began the capture.
  const auto spoils = [](int capture, int caller, bool own) {
    if (caller == 2) return false;
    if (own) return capture != 2;
    return capture == 0 && caller == 0;
  };
  for (const int capture : {0, 1, 2})
    for (const int caller : {0, 1, 2})
      for (const bool own : {true, false}) {
        CAPTURE(capture);
        CAPTURE(caller);
        CAPTURE(own);
        REQUIRE(cuStreamBeginCapture_v2(stream, capture) == 0);
        const auto call = [&] {
          REQUIRE(cuCtxSetCurrent(device.context) == 0);
          int mode = caller;
          REQUIRE(cuThreadExchangeStreamCaptureMode(&mode) == 0);
          CHECK(mode == 0);
          CUdeviceptr q = 0;
          CHECK(cuMemAlloc_v2(&q, 4) == (spoils(capture, caller, own) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0));
          REQUIRE(cuThreadExchangeStreamCaptureMode(&mode) == 0);
          CHECK(mode == caller);
        };
        if (own) call();
        else std::thread(call).join();
        CUgraph graph = nullptr;
        CHECK(cuStreamEndCapture(stream, &graph) ==
              (spoils(capture, caller, own) ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0));
        if (graph) CHECK(cuGraphDestroy(graph) == 0);
      }
  int mode = 3;
  CHECK(cuThreadExchangeStreamCaptureMode(&mode) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("capture: asking of the default stream whether it is captured spoils nothing") {
  Device device;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0) == 0);
  REQUIRE(cuStreamBeginCapture_v2(stream, 0) == 0);
  int status = 0;
  CHECK(cuStreamIsCapturing(nullptr, &status) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CUgraph graph = nullptr;
  CHECK(cuStreamEndCapture(stream, &graph) == 0);
  CHECK(cuGraphDestroy(graph) == 0);
}

TEST_CASE("capture: other streams join by events") {
  Device device;
  CUfunction k = device.kernel(add_one);
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
