// Giving back what lies in CUDA contexts when the driver no longer plays along: a context that is gone or beyond use, a
// call that fails, a process that is another. Nothing crashes, and what can be given back is.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "fixture.h"

using namespace launch;

namespace {

// A host's handles, and what they hold in the current CUDA context.
struct Handles {
  std::unique_ptr<Engine> engine = std::make_unique<Engine>();
  std::unique_ptr<Compiled> e = std::make_unique<Compiled>(*engine, axpb);
  std::unique_ptr<Compiled> two = std::make_unique<Compiled>(*engine, chained);
  DLManagedTensorVersioned* made = nullptr;

  Handles() {
    Array<float> x({1, 2, 3, 4}, {4}), m({1, 2, 3, 4}, {2, 2}), t(poison, {2, 2});
    const ingot_tensor* const in = &x.tensor();
    ok(ingot_run_allocating(e->get(), &in, 1, &made, 1, nullptr));
    REQUIRE(two->run({&m.tensor()}, {&t.tensor()}).code == INGOT_OK);
    REQUIRE(engine->sync().code == INGOT_OK);
  }
  ~Handles() {
    if (made) made->deleter(made);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // In one order or the other.
  void release(bool engine_first) {
    if (engine_first) engine.reset();
    made->deleter(made);
    made = nullptr;
    e.reset();
    two.reset();
    engine.reset();
  }
};

void cpu_is_right(const Engine& engine, ingot_backend backend) {
  std::vector<float> in{1, 2, 3, 4}, out = poison;
  std::vector<int64_t> shape{4};
  const ingot_tensor x = host(in, shape), y = host(out, shape);
  const Compiled e(engine, axpb, backend);
  REQUIRE(e.run({&x}, {&y}).code == INGOT_OK);
  REQUIRE(out == std::vector<float>{3, 5, 7, 9});
}

// As a kernel of the host's that writes where nothing is.
void break_context() {
  CUdeviceptr gone = 0;
  REQUIRE(cuMemAllocAsync(&gone, 16, nullptr) == 0);
  REQUIRE(cuMemFreeAsync(gone, nullptr) == 0);
  REQUIRE(cuMemsetD8Async(gone, 0, 16, nullptr) == 0);
  REQUIRE(cuCtxSynchronize() != 0);
}

}  // namespace

TEST_CASE_FIXTURE(Past, "handles are released after the host has destroyed the CUDA context, or its device is broken") {
  for (const bool destroyed : {true, false})
    for (const bool broken : {false, true})
      for (const bool engine_first : {false, true}) {
        CAPTURE(destroyed);
        CAPTURE(broken);
        CAPTURE(engine_first);
        const auto held = standin_held();
        CUcontext own = nullptr;
        REQUIRE(cuCtxCreate_v2(&own, 0, 0) == 0);
        {
          Handles handles;
          if (broken) break_context();
          if (destroyed) REQUIRE(cuCtxDestroy_v2(own) == 0);
          if (broken && !destroyed) {
            CHECK(handles.engine->sync().code == INGOT_FAILED_PRECONDITION);
            std::vector<float> items = poison;
            std::vector<int64_t> shape{4};
            const ingot_tensor t = host(items, shape);
            CHECK(handles.e->run({&t}, {&t}).code == INGOT_FAILED_PRECONDITION);
          }
          cpu_is_right(*handles.engine, INGOT_BACKEND_AUTO);
          handles.release(engine_first);
        }
        if (!destroyed) REQUIRE(cuCtxDestroy_v2(own) == 0);
        CHECK(standin_held() == held);
      }
}

TEST_CASE("whichever call of a release fails, the rest is given back") {
  for (const char* const entry :
       {"cuModuleUnload", "cuMemFree_v2", "cuMemPoolDestroy", "cuDevicePrimaryCtxRelease_v2", "cuCtxGetId",
        "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuMemPoolTrimTo", "cuThreadExchangeStreamCaptureMode"})
    for (const CUresult code : std::initializer_list<CUresult>{700, 709, 1}) {
      unsigned calls = 1;
      for (unsigned nth = 1; nth <= calls; ++nth) {
        INFO(std::string(entry), " gives ", code, " at call ", nth);
        const Past past;
        CUcontext own = nullptr;
        REQUIRE(cuCtxCreate_v2(&own, 0, 0) == 0);
        const auto held = standin_held();
        {
          Handles handles;
          const auto before = standin_calls(entry);
          standin_fail(entry, nth, code);
          ok(ingot_context_trim(handles.engine->get(), 0));
          handles.release(nth % 2 == 0);
          calls = static_cast<unsigned>(standin_calls(entry) - before);
        }
        // At most what the call was about, and what lies in it, stays with the driver.
        CHECK(standin_held() <= held + 2);
        CUcontext current = nullptr;
        REQUIRE(cuCtxGetCurrent(&current) == 0);
        if (std::string(entry) != "cuCtxPopCurrent_v2") CHECK(current == own);  // the thread's is as it was
        REQUIRE(cuCtxDestroy_v2(own) == 0);
      }
      CHECK(calls < 200);
    }
  standin_reset();
}

TEST_CASE_FIXTURE(Device, "a stream that is destroyed is the host's mistake, in the driver's words") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  CUstream gone = nullptr;
  REQUIRE(cuStreamCreate(&gone, 0) == 0);
  REQUIRE(cuStreamDestroy_v2(gone) == 0);
  // Before anything is compiled, and after.
  for (int n = 0; n < 2; ++n) {
    const Outcome o = e.run_on(gone, {&x.tensor()}, {&y.tensor()});
    CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("CUDA_ERROR_INVALID_HANDLE (400)") && o.says("stream")));
    REQUIRE(e.prepare().code == INGOT_OK);
  }
  const Outcome o = engine.sync(gone);
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("CUDA_ERROR_INVALID_HANDLE (400)")));
  ingot_run_options r = INGOT_RUN_OPTIONS_INIT;
  r.stream = gone;
  DLManagedTensorVersioned* made = nullptr;
  const ingot_tensor* const in = &x.tensor();
  CHECK(Outcome(ingot_run_allocating(e.get(), &in, 1, &made, 1, &r)).code == INGOT_INVALID_ARGUMENT);
  CHECK(made == nullptr);
  CHECK(y.get() == poison);
  CHECK(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
}

TEST_CASE_FIXTURE(Device,
                  "a forked child is refused CUDA, gives everything back, and runs on the CPU with every backend") {
  Handles handles;
  Array<float> x({1, 2, 3, 4}, {4});
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const auto refused = [](const Outcome& o) { return o.code == INGOT_FAILED_PRECONDITION && o.says("forked"); };
    bool right = refused(handles.engine->sync()) && refused(handles.e->prepare());
    DLManagedTensorVersioned* made = nullptr;
    const ingot_tensor* const in = &x.tensor();
    right = right && refused(Outcome(ingot_run_allocating(handles.e->get(), &in, 1, &made, 1, nullptr))) && !made;
    ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
    o.never_stall = 1;
    right = right && refused(Compiled(*handles.engine, rows).run({in, in}, {in}, &o));
    for (const ingot_backend b : {INGOT_BACKEND_AUTO, INGOT_BACKEND_INTERPRETER}) cpu_is_right(*handles.engine, b);
    ok(ingot_context_trim(handles.engine->get(), 0));
    cpu_is_right(*handles.engine, INGOT_BACKEND_AUTO);
    handles.release(false);
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
