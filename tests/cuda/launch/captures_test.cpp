// A stream that the host captures in the global mode, on any thread: whatever Ingot does meanwhile for other streams,
// on whatever thread, the capture stays valid.
#include <functional>
#include <memory>
#include <thread>

#include "fixture.h"

using namespace launch;

namespace {

// What a host may do with Ingot that has the driver allocate, free, load, unload, copy or wait.
void live_a_whole_life(CUstream stream, ingot_tensor& x, ingot_tensor& y, ingot_tensor& square) {
  const Engine engine;
  const Compiled e(engine, axpb), two(engine, chained);
  Outcome o = e.prepare();
  INFO(o.message);
  CHECK(o.code == INGOT_OK);
  // In host memory: copied, waited for.
  std::vector<float> in{1, 2, 3, 4}, out = poison;
  std::vector<int64_t> shape{4};
  const ingot_tensor hx = host(in, shape), hy = host(out, shape);
  CHECK(e.run_on(stream, {&hx}, {&hy}).code == INGOT_OK);
  CHECK(out == std::vector<float>{3, 5, 7, 9});
  // First loaded by the run; scratch of the library's.
  CHECK(two.run_on(stream, {&square}, {&square}).code == INGOT_OK);
  CHECK(engine.sync(stream).code == INGOT_OK);
  // An output to be made, and given back.
  DLManagedTensorVersioned* made = nullptr;
  const ingot_tensor* const ins = &x;
  ingot_run_options r = INGOT_RUN_OPTIONS_INIT;
  r.stream = stream;
  ok(ingot_run_allocating(e.get(), &ins, 1, &made, 1, &r));
  made->deleter(made);
  CHECK(e.run_on(stream, {&x}, {&y}).code == INGOT_OK);
  CHECK(engine.sync(stream).code == INGOT_OK);
  ok(ingot_context_trim(engine.get(), 0));
}

// Runs `what` while a global capture is open on a stream of the host's, by this thread.
void during_capture(unsigned flags, const std::function<void()>& what) {
  CUstream captured = nullptr;
  REQUIRE(cuStreamCreate(&captured, flags) == 0);
  REQUIRE(cuStreamBeginCapture_v2(captured, 0) == 0);
  what();
  CUgraph graph = nullptr;
  CHECK(cuStreamEndCapture(captured, &graph) == 0);
  if (graph) REQUIRE(cuGraphDestroy(graph) == 0);
  REQUIRE(cuStreamDestroy_v2(captured) == 0);
}

}  // namespace

TEST_CASE_FIXTURE(Device, "no call for another stream invalidates a capture of the host's, on its thread or others") {
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4}), square({1, 2, 3, 4}, {2, 2});
  const Stream stream;
  for (const unsigned flags : {0u, 1u})
    for (const bool own_thread : {true, false}) {
      CAPTURE(flags);
      CAPTURE(own_thread);
      during_capture(flags, [&] {
        const auto life = [&] {
          REQUIRE(cuCtxSetCurrent(primary.context) == 0);
          live_a_whole_life(stream.get(), x.tensor(), y.tensor(), square.tensor());
        };
        if (own_thread) life();
        else std::thread(life).join();
      });
    }
  CHECK(std::string(standin_report()).empty());
}

TEST_CASE_FIXTURE(Device, "nor does it on a device without pools, whose memory is freed where a run ends") {
  const Env none("STANDIN_POOLS", "0");
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4}), square({1, 2, 3, 4}, {2, 2});
  const Stream stream;
  during_capture(1, [&] { live_a_whole_life(stream.get(), x.tensor(), y.tensor(), square.tensor()); });
}

TEST_CASE_FIXTURE(Device, "a thread's own capture mode is as it was after every call") {
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4}), square({1, 2, 3, 4}, {2, 2});
  const Stream stream;
  for (const int mode : {0, 1, 2}) {
    int before = mode;
    REQUIRE(cuThreadExchangeStreamCaptureMode(&before) == 0);
    live_a_whole_life(stream.get(), x.tensor(), y.tensor(), square.tensor());
    // Where a call fails, too.
    {
      const Engine engine;
      const Compiled e(engine, axpb);
      standin_fail("cuModuleLoadData", 1, CUDA_ERROR_OUT_OF_MEMORY);
      CHECK(e.run_on(stream.get(), {&x.tensor()}, {&y.tensor()}).code == INGOT_OUT_OF_MEMORY);
    }
    int after = before;
    REQUIRE(cuThreadExchangeStreamCaptureMode(&after) == 0);
    CHECK(after == mode);
  }
}

TEST_CASE_FIXTURE(Device, "a sync of the default stream that a capture forbids is NOT_READY and leaves the capture") {
  const Engine engine;
  REQUIRE(engine.sync().code == INGOT_OK);
  during_capture(0, [&] { CHECK(engine.sync().code == INGOT_NOT_READY); });
}
