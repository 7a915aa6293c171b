// Runs on a device: whose memory, stream and context, when they are over, and what is refused.
#include "fixture.h"

using namespace launch;

namespace {}  // namespace

TEST_CASE_FIXTURE(Device, "a run returns when its launch is enqueued, and sync waits for it") {
  const Engine engine;
  const Compiled e(engine, axpb);
  REQUIRE(e.prepare().code == INGOT_OK);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  const Stream stream;
  const auto before = standin_calls("cuStreamSynchronize");
  REQUIRE(e.run_on(stream.get(), {&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
  CHECK(standin_calls("cuStreamSynchronize") == before);
  CHECK(cuStreamQuery(stream.get()) == CUDA_ERROR_NOT_READY);
  REQUIRE(engine.sync(stream.get()).code == INGOT_OK);
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
  CHECK(std::string(standin_report()).empty());
}

TEST_CASE_FIXTURE(Device, "tensors in host memory are copied, beside others on the device") {
  const Engine engine;
  const Compiled e(engine, axpb);
  std::vector<float> in{1, 2, 3, 4}, out = poison;
  std::vector<int64_t> shape{4};
  const ingot_tensor hx = host(in, shape), hy = host(out, shape);
  REQUIRE(e.run({&hx}, {&hy}).code == INGOT_OK);
  CHECK(out == std::vector<float>{3, 5, 7, 9});
  Array<float> x({5, 6, 7, 8}, {4}), y(poison, {4});
  REQUIRE(e.run({&x.tensor()}, {&hy}).code == INGOT_OK);
  CHECK(out == std::vector<float>{11, 13, 15, 17});
  REQUIRE(e.run({&hx}, {&y.tensor()}).code == INGOT_OK);
  REQUIRE(engine.sync().code == INGOT_OK);
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
}

TEST_CASE_FIXTURE(Device, "memory that is not what its device says is refused before anything is launched") {
  const Engine engine;
  const Compiled e(engine, axpb);
  REQUIRE(e.prepare().code == INGOT_OK);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  std::vector<float> items{1, 2, 3, 4};
  const auto launches = standin_calls("cuLaunchKernel");
  ingot_tensor bad = x.tensor();
  bad.data = items.data();
  Outcome o = e.run({&bad}, {&y.tensor()});
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("input 0 (%x)") && o.says("host memory has device type 1")));
  o = e.run({&x.tensor()}, {&bad});
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("output 0")));
  bad = x.tensor();
  bad.byte_offset = 1;
  o = e.run({&bad}, {&y.tensor()});
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("aligned")));
  bad = x.tensor();
  bad.device.type = 7;
  o = e.run({&bad}, {&y.tensor()});
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("device type 7")));
  bad = x.tensor();
  bad.device.id = 1;
  o = e.run({&bad}, {&y.tensor()});
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("device 1")));
  CHECK(standin_calls("cuLaunchKernel") == launches);
  CHECK(y.get() == poison);
  // The other way round, and scratch.
  ingot_tensor wrong = x.tensor();
  wrong.device = {1, 0};
  o = e.run({&wrong}, {&y.tensor()});
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("device type is 1")));
  const Compiled two(engine, chained);
  Array<float> m({1, 2, 3, 4}, {2, 2}), t(poison, {2, 2});
  alignas(64) static char lent[1 << 20];
  ingot_run_options lends = INGOT_RUN_OPTIONS_INIT;
  lends.scratch = lent;
  lends.scratch_bytes = sizeof lent;
  o = two.run({&m.tensor()}, {&t.tensor()}, &lends);
  CHECK((o.code == INGOT_INVALID_ARGUMENT && o.says("scratch")));
  // On the CPU neither a device tensor nor a stream means anything.
  const Compiled cpu(engine, axpb, INGOT_BACKEND_INTERPRETER);
  CHECK(cpu.run({&x.tensor()}, {&y.tensor()}).says("device type 2"));
  std::vector<float> out = poison;
  std::vector<int64_t> shape{4};
  const ingot_tensor hx = host(items, shape), hy = host(out, shape);
  const Stream stream;
  CHECK(cpu.run_on(stream.get(), {&hx}, {&hy}).code == INGOT_INVALID_ARGUMENT);
}

TEST_CASE_FIXTURE(Device, "the stream's context, then the thread's, then the primary one") {
  const Engine engine;
  const Compiled e(engine, axpb);
  CUcontext own = nullptr;
  REQUIRE(cuCtxCreate_v2(&own, 0, 0) == 0);  // and current
  {
    Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
    const Stream stream;
    const auto loads = standin_calls("cuModuleLoadData");
    REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
    CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
    CHECK(standin_calls("cuModuleLoadData") == loads + 1 + copier);
    // With another context current the stream's counts, and the thread's is as it was afterwards.
    REQUIRE(cuCtxSetCurrent(primary.context) == 0);
    x.put({2, 3, 4, 5});
    REQUIRE(e.run_on(stream.get(), {&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
    CHECK(standin_calls("cuModuleLoadData") == loads + 1 + copier);
    CUcontext current = nullptr;
    REQUIRE((cuCtxGetCurrent(&current) == 0 && current == primary.context));
    REQUIRE(engine.sync(stream.get()).code == INGOT_OK);
    CHECK(y.get() == std::vector<float>{5, 7, 9, 11});
    // The primary one needs a module of its own.
    REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
    CHECK(standin_calls("cuModuleLoadData") == loads + 2 * (1 + copier));
    // Without any context it is the primary one. (Both that are on the thread's stack go.)
    REQUIRE(cuCtxSetCurrent(nullptr) == 0);
    REQUIRE(cuCtxSetCurrent(nullptr) == 0);
    REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
    REQUIRE((cuCtxGetCurrent(&current) == 0 && current == nullptr));
    CHECK(standin_calls("cuModuleLoadData") == loads + 2 * (1 + copier));
    REQUIRE(cuCtxSetCurrent(own) == 0);
  }
  REQUIRE(cuCtxSetCurrent(primary.context) == 0);
}

TEST_CASE_FIXTURE(Device, "an index out of range is told once, by sync or by a run that waits") {
  const Engine engine;
  const Compiled e(engine, rows);
  Array<float> table({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {4, 3}), out(std::vector<float>(6, -7), {2, 3});
  Array<int64_t> index({3, -4}, {2}, {0, 64, 1});
  REQUIRE(e.run({&table.tensor(), &index.tensor()}, {&out.tensor()}).code == INGOT_OK);
  REQUIRE(engine.sync().code == INGOT_OK);
  CHECK(out.get() == std::vector<float>{10, 11, 12, 1, 2, 3});
  index.put({0, 4});
  REQUIRE(e.run({&table.tensor(), &index.tensor()}, {&out.tensor()}).code == INGOT_OK);
  const Outcome o = engine.sync();
  CHECK(o.code == INGOT_OUT_OF_RANGE);
  CHECK((o.says("is 4") && o.says("-4 to 3")));
  CHECK(engine.sync().code == INGOT_OK);
  std::vector<int64_t> host_index{-5, 0}, shape{2};
  const ingot_tensor hi = host(host_index, shape, {0, 64, 1});
  std::vector<float> items(6, -7);
  std::vector<int64_t> out_shape{2, 3};
  const ingot_tensor ho = host(items, out_shape);
  const Outcome now = e.run({&table.tensor(), &hi}, {&ho});
  CHECK((now.code == INGOT_OUT_OF_RANGE && now.says("is -5")));
  CHECK(engine.sync().code == INGOT_OK);
}

TEST_CASE_FIXTURE(Device, "a captured run replays, and what a capture forbids is NOT_READY") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  const Stream stream;
  const auto captured = [&](const auto& during) {
    REQUIRE(cuStreamBeginCapture_v2(stream.get(), 0) == 0);
    during();
    CUgraph graph = nullptr;
    REQUIRE(cuStreamEndCapture(stream.get(), &graph) == 0);  // not invalidated by anything that Ingot called
    CUgraphExec exec = nullptr;
    REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    REQUIRE(cuGraphDestroy(graph) == 0);
    return exec;
  };
  // Nothing is compiled yet.
  REQUIRE(cuGraphExecDestroy(captured(
              [&] { CHECK(e.run_on(stream.get(), {&x.tensor()}, {&y.tensor()}).code == INGOT_NOT_READY); })) == 0);
  REQUIRE(e.prepare().code == INGOT_OK);
  CUgraphExec exec = captured([&] { CHECK(e.run_on(stream.get(), {&x.tensor()}, {&y.tensor()}).code == INGOT_OK); });
  CHECK(y.get() == poison);
  for (const float first : {1.0f, 10.0f}) {
    x.put({first, 2, 3, 4});
    REQUIRE(cuGraphLaunch(exec, stream.get()) == 0);
    REQUIRE(engine.sync(stream.get()).code == INGOT_OK);
    CHECK(y.get() == std::vector<float>{2 * first + 1, 5, 7, 9});
  }
  REQUIRE(cuGraphExecDestroy(exec) == 0);
  // Host tensors, outputs to be made and scratch that was not lent; lent scratch is enough.
  std::vector<float> items{1, 2, 3, 4};
  std::vector<int64_t> shape{4};
  const ingot_tensor hx = host(items, shape);
  const Compiled two(engine, chained);
  REQUIRE(two.prepare().code == INGOT_OK);
  Array<float> m({1, 2, 3, 4}, {2, 2}), t(poison, {2, 2});
  const ingot_tensor* const ins[] = {&m.tensor()};
  uint64_t scratch_bytes = 0;
  ok(ingot_executable_scratch_size(two.get(), ins, 1, &scratch_bytes));
  REQUIRE(scratch_bytes > 0);
  Array<char> scratch(std::vector<char>(scratch_bytes), {static_cast<int64_t>(scratch_bytes)}, {0, 8, 1});
  exec = captured([&] {
    CHECK(e.run_on(stream.get(), {&hx}, {&y.tensor()}).code == INGOT_NOT_READY);
    DLManagedTensorVersioned* made = nullptr;
    const ingot_tensor* const in = &x.tensor();
    ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
    o.stream = stream.get();
    CHECK(Outcome(ingot_run_allocating(e.get(), &in, 1, &made, 1, &o)).code == INGOT_NOT_READY);
    CHECK(two.run({&m.tensor()}, {&t.tensor()}, &o).code == INGOT_NOT_READY);
    o.scratch = reinterpret_cast<void*>(scratch.at());
    o.scratch_bytes = scratch_bytes;
    CHECK(two.run({&m.tensor()}, {&t.tensor()}, &o).code == INGOT_OK);
  });
  REQUIRE(cuGraphLaunch(exec, stream.get()) == 0);
  REQUIRE(engine.sync(stream.get()).code == INGOT_OK);
  CHECK(t.get() == std::vector<float>{1, 4, 3, 10});
  REQUIRE(cuGraphExecDestroy(exec) == 0);
}

TEST_CASE_FIXTURE(Device, "outputs are made where the inputs are, and calls keep their tensors") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4}), z({5, 6, 7, 8}, {4});
  const ingot_tensor* const in = &x.tensor();
  DLManagedTensorVersioned* made = nullptr;
  const auto held = standin_held();
  ok(ingot_run_allocating(e.get(), &in, 1, &made, 1, nullptr));
  CHECK((made->tensor.device.type == 2 && made->tensor.device.id == 0));
  std::vector<float> got(4);
  REQUIRE(cuMemcpyDtoH_v2(got.data(), reinterpret_cast<CUdeviceptr>(made->tensor.data), 16) == 0);
  CHECK(got == std::vector<float>{3, 5, 7, 9});
  const auto with = standin_held();
  made->deleter(made);
  CHECK(standin_held() == with - 1);
  CHECK(held < with);
  ingot_call* call = nullptr;
  ok(ingot_call_create(e.get(), &call));
  ok(ingot_call_bind(call, &in, 1, nullptr, 0));
  ingot_tensor out{};
  ok(ingot_call_output(call, 0, &out));
  CHECK(out.device.type == 2);
  Array<float> y(poison, {4});
  ok(ingot_call_set_data(call, 1, 0, reinterpret_cast<void*>(y.at())));
  ok(ingot_call_run(call, nullptr));
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
  ok(ingot_call_set_data(call, 0, 0, reinterpret_cast<void*>(z.at())));
  ok(ingot_call_run(call, nullptr));
  CHECK(y.get() == std::vector<float>{11, 13, 15, 17});
  ingot_call_release(call);
}

TEST_CASE_FIXTURE(Past, "each of several devices runs its own tensors") {
  const Env two("STANDIN_DEVICES", "2");
  standin_reset();
  REQUIRE(cuInit(0) == 0);
  const Engine engine;
  const Compiled e(engine, axpb);
  for (int device = 0; device < 2; ++device) {
    CUcontext context = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&context, device) == 0);
    REQUIRE(cuCtxSetCurrent(context) == 0);
    {
      Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
      x.tensor().device.id = y.tensor().device.id = device;
      REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
      REQUIRE(engine.sync(nullptr, device).code == INGOT_OK);
      CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
      const Outcome wrong = engine.sync(nullptr, 2);
      CHECK((wrong.code == INGOT_INVALID_ARGUMENT && wrong.says("0 to 1")));
      x.tensor().device.id = 1 - device;
      const Outcome mixed = e.run({&x.tensor()}, {&y.tensor()});
      CHECK(mixed.code == INGOT_INVALID_ARGUMENT);
    }
    REQUIRE(cuCtxSetCurrent(nullptr) == 0);
    REQUIRE(cuDevicePrimaryCtxRelease_v2(device) == 0);
  }
}

TEST_CASE_FIXTURE(Device, "scatters, searches and gathered rows are those of the interpreter") {
  const Engine engine;
  const char* const text =
      "ingot 1.0\ngraph @r(%d: f32[R, C], %i: i32[K, C], %u: f32[K, C], %s: f32[S], %j: i64[G]) -> (f32[R, C], "
      "f32[R, C], i64[K, C], f32[G, C]) {\n  %0 = scatter %d, %i, %u {axis = 0}\n"
      "  %1 = scatter_add %d, %i, %u {axis = 0}\n  %2 = searchsorted %s, %u {side = \"right\"}\n"
      "  %3 = gather %d, %j {axis = 0}\n  return %0, %1, %2, %3\n}\n";
  const int64_t r = 5, c = 9, k = 6, s = 7, g = 4;
  std::vector<float> d, u, sorted;
  std::vector<int32_t> i;
  std::vector<int64_t> j{4, -1, 0, -5};
  for (int64_t n = 0; n < r * c; ++n) d.push_back(static_cast<float>(n) * 0.37f);
  for (int64_t n = 0; n < k * c; ++n) u.push_back(static_cast<float>((n * 7) % 13) - 5.5f);
  for (int64_t n = 0; n < k * c; ++n) i.push_back(static_cast<int32_t>((n * 5) % (2 * r)) - 5);
  for (int64_t n = 0; n < s; ++n) sorted.push_back(static_cast<float>(n) * 1.5f - 5);
  std::vector<int64_t> dc{r, c}, kc{k, c}, ss{s}, gs{g}, gc{g, c};
  const ingot_tensor ins[] = {host(d, dc), host(i, kc, {0, 32, 1}), host(u, kc), host(sorted, ss),
                              host(j, gs, {0, 64, 1})};
  std::vector<std::vector<char>> got[2];
  for (const ingot_backend backend : {INGOT_BACKEND_INTERPRETER, INGOT_BACKEND_CUDA}) {
    std::vector<float> a(d.size()), b(d.size()), w(static_cast<size_t>(g * c));
    std::vector<int64_t> v(u.size());
    const ingot_tensor outs[] = {host(a, dc), host(b, dc), host(v, kc, {0, 64, 1}), host(w, gc)};
    const Compiled e(engine, text, backend);
    const Outcome o = e.run({&ins[0], &ins[1], &ins[2], &ins[3], &ins[4]}, {&outs[0], &outs[1], &outs[2], &outs[3]});
    INFO(o.message);
    REQUIRE(o.code == INGOT_OK);
    const auto bytes = [](const auto& of) {
      const char* p = reinterpret_cast<const char*>(of.data());
      return std::vector<char>(p, p + of.size() * sizeof of[0]);
    };
    got[backend == INGOT_BACKEND_CUDA] = {bytes(a), bytes(b), bytes(v), bytes(w)};
  }
  CHECK(got[0] == got[1]);
}

TEST_CASE_FIXTURE(Device, "copies come with the executable: no run compiles or loads one, in a capture neither") {
  const Engine engine;
  const Compiled e(engine, axpb);
  REQUIRE(e.prepare().code == INGOT_OK);
  const auto loads = standin_calls("cuModuleLoadData");
  const uint64_t compiles = engine.stats().compiles;
  Array<float> both({1, 2, 3, 4, 5, 6}, {6});
  Array<char> scratch(std::vector<char>(4096), {4096}, {0, 8, 1});
  ingot_tensor head = both.tensor(), tail = both.tensor();
  int64_t four = 4;
  head.shape = tail.shape = &four;
  tail.byte_offset = 8;
  const Stream stream;
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.stream = stream.get();
  o.never_stall = 1;
  o.scratch = reinterpret_cast<void*>(scratch.at());
  o.scratch_bytes = 4096;
  REQUIRE(cuStreamBeginCapture_v2(stream.get(), 0) == 0);
  CHECK(e.run({&head}, {&tail}, &o).code == INGOT_OK);
  CUgraph graph = nullptr;
  REQUIRE(cuStreamEndCapture(stream.get(), &graph) == 0);
  REQUIRE(cuGraphDestroy(graph) == 0);
  o.scratch = nullptr;
  o.scratch_bytes = 0;
  CHECK(e.run({&head}, {&tail}, &o).code == INGOT_OK);
  REQUIRE(engine.sync(stream.get()).code == INGOT_OK);
  CHECK(both.get() == std::vector<float>{1, 2, 3, 5, 7, 9});
  CHECK(standin_calls("cuModuleLoadData") == loads);
  CHECK(engine.stats().compiles == compiles);
}

namespace {

// y = x + 1 where y lies half in x, transposed, with gaps: kept apart and copied. The same as on the CPU.
template <class T>
void copies_as_on_the_cpu(const char* dtype, ingot_dlpack_type type) {
  const std::string of = dtype;
  const Engine engine;
  const std::string text =
      "ingot 1.0\ngraph @g(%x: " + of + "[A, B, C]) -> (" + of + "[A, B, C]) {\n  %0 = add %x, 1\n  return %0\n}\n";
  const struct {
    int64_t shape[3], strides[3];
  } cases[] = {{{2, 3, 4}, {12, 4, 1}}, {{2, 3, 4}, {1, 2, 6}}, {{2, 3, 4}, {24, 8, 2}},   {{1, 3, 5}, {100, 1, 3}},
               {{4, 1, 1}, {3, 9, 9}},  {{1, 1, 1}, {1, 1, 1}}, {{30, 7, 3}, {1, 90, 30}}, {{2, 0, 3}, {1, 2, 3}}};
  for (const auto& c : cases) {
    CAPTURE(of);
    CAPTURE(c.shape[0]);
    std::vector<T> start(1024);
    for (size_t i = 0; i < start.size(); ++i) start[i] = static_cast<T>(i * 7 % 101);
    std::vector<T> got[2];
    for (const bool device : {false, true}) {
      std::vector<T> here = start;
      Array<T> there(start, {1024}, type);
      int64_t shape[] = {c.shape[0], c.shape[1], c.shape[2]}, strides[] = {c.strides[0], c.strides[1], c.strides[2]};
      void* const data = device ? reinterpret_cast<void*>(there.at()) : here.data();
      const ingot_tensor x{data, {device ? 2 : 1, 0}, 3, type, shape, nullptr, 0};
      const ingot_tensor y{data, {device ? 2 : 1, 0}, 3, type, shape, strides, sizeof(T)};
      const Compiled e(engine, text, device ? INGOT_BACKEND_CUDA : INGOT_BACKEND_INTERPRETER);
      const Outcome o = e.run({&x}, {&y});
      INFO(o.message);
      REQUIRE(o.code == INGOT_OK);
      got[device] = device ? there.get() : here;
    }
    CHECK(got[0] == got[1]);
  }
}

}  // namespace

TEST_CASE_FIXTURE(Device, "copies of items of every size, of any strides") {
  copies_as_on_the_cpu<uint8_t>("u8", {1, 8, 1});
  copies_as_on_the_cpu<uint16_t>("u16", {1, 16, 1});
  copies_as_on_the_cpu<uint32_t>("u32", {1, 32, 1});
  copies_as_on_the_cpu<uint64_t>("u64", {1, 64, 1});
  CHECK(std::string(standin_report()).empty());
}

TEST_CASE_FIXTURE(Device, "a warm run allocates no device memory and waits for nothing") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
  const char* const never[] = {"cuMemAlloc_v2",       "cuMemAllocFromPoolAsync", "cuMemFree_v2",
                               "cuStreamSynchronize", "cuStreamCreate",          "cuMemsetD8Async",
                               "cuModuleLoadData",    "cuPointerGetAttribute"};
  std::vector<unsigned long long> before;
  for (const char* entry : never) before.push_back(standin_calls(entry));
  for (int n = 0; n < 10; ++n) REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
  for (size_t n = 0; n < before.size(); ++n) {
    INFO(std::string(never[n]));
    CHECK(standin_calls(never[n]) == before[n]);
  }
  CHECK(engine.stats().compiles == 1 + copier);
}
