// Whose memory, code and contexts live how long.
#include <pthread.h>

#include <memory>

#include "fixture.h"

using namespace launch;

namespace {

ingot_context* context_with(const ingot_context_options& options) {
  ingot_context* c = nullptr;
  ok(ingot_context_create(&options, &c));
  return c;
}

ingot_executable* compiled(ingot_context* c, const std::string& text) {
  ingot_graph* g = nullptr;
  ok(ingot_graph_parse(c, text.data(), text.size(), &g));
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = INGOT_BACKEND_CUDA;
  ingot_executable* e = nullptr;
  ok(ingot_compile(c, g, &o, &e));
  ingot_graph_release(g);
  return e;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "the context's allocator, which makes host memory, is asked for none on a device") {
  int asked = 0;
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.allocator_user = &asked;
  o.allocate = [](void* user, size_t bytes, size_t alignment) {
    ++*static_cast<int*>(user);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  o.deallocate = [](void*, void* p, size_t, size_t) { std::free(p); };
  ingot_context* const c = context_with(o);
  ingot_executable* const e = compiled(c, chained);
  Array<float> m({1, 2, 3, 4}, {2, 2}), t(poison, {2, 2});
  const ingot_tensor *in = &m.tensor(), *out = &t.tensor();
  ok(ingot_run(e, &in, 1, &out, 1, nullptr));
  CHECK(t.get() == std::vector<float>{1, 4, 3, 10});
  CHECK(asked == 0);
  // The run's makes device memory; what it makes is looked at.
  ingot_run_options r = INGOT_RUN_OPTIONS_INIT;
  r.allocator_user = &asked;
  r.allocate = o.allocate;
  r.deallocate = o.deallocate;
  const Outcome wrong(ingot_run(e, &in, 1, &out, 1, &r));
  CHECK((wrong.code == INGOT_INVALID_ARGUMENT && wrong.says("allocator")));
  CHECK(asked == 1);
  ingot_executable_release(e);
  ingot_context_release(c);
}

TEST_CASE_FIXTURE(Past, "an output that the library made outlives all that made it") {
  const auto held = standin_held();
  DLManagedTensorVersioned* made = nullptr;
  {
    const Primary primary;
    const Engine engine;
    const Compiled e(engine, axpb);
    Array<float> x({1, 2, 3, 4}, {4});
    const ingot_tensor* const in = &x.tensor();
    ok(ingot_run_allocating(e.get(), &in, 1, &made, 1, nullptr));
    REQUIRE(engine.sync().code == INGOT_OK);
  }
  {
    const Primary again;
    std::vector<float> got(4);
    REQUIRE(cuMemcpyDtoH_v2(got.data(), reinterpret_cast<CUdeviceptr>(made->tensor.data), 16) == 0);
    CHECK(got == std::vector<float>{3, 5, 7, 9});
  }
  made->deleter(made);
  CHECK(standin_held() == held);
}

TEST_CASE_FIXTURE(Device, "a release waits for what is enqueued, however little the memory cache holds") {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.memory_cache_bytes = 1;
  ingot_context* const c = context_with(o);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  const ingot_tensor *in = &x.tensor(), *out = &y.tensor();
  const Stream stream;
  ingot_run_options r = INGOT_RUN_OPTIONS_INIT;
  r.stream = stream.get();
  ingot_executable* const e = compiled(c, axpb);
  ok(ingot_run(e, &in, 1, &out, 1, &r));
  ingot_executable_release(e);
  // An output in a part of an input is copied by a kernel that nobody else holds.
  Array<float> both({1, 2, 3, 4, 5, 6}, {6});
  ingot_tensor head = both.tensor(), tail = both.tensor();
  int64_t four = 4;
  head.shape = tail.shape = &four;
  tail.byte_offset = 8;
  const ingot_tensor *from = &head, *to = &tail;
  ingot_executable* const f = compiled(c, axpb);
  ok(ingot_run(f, &from, 1, &to, 1, &r));
  ok(ingot_context_trim(c, 0));
  ok(ingot_context_sync(c, 2, 0, stream.get()));
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
  CHECK(both.get() == std::vector<float>{1, 2, 3, 5, 7, 9});
  CHECK(std::string(standin_report()).empty());
  ingot_executable_release(f);
  ingot_context_release(c);
}

TEST_CASE_FIXTURE(Past, "a CUDA context may go before the executables that ran in it") {
  const Engine engine;
  std::unique_ptr<Compiled> old;
  for (int round = 0; round < 4; ++round) {
    CUcontext own = nullptr;
    REQUIRE(cuCtxCreate_v2(&own, 0, 0) == 0);
    {
      auto fresh = std::make_unique<Compiled>(engine, rows);
      Array<float> table({0, 1, 2, 3, 4, 5}, {2, 3}), out(std::vector<float>(3, -7), {1, 3});
      Array<int64_t> index({1}, {1}, {0, 64, 1});
      REQUIRE(fresh->run({&table.tensor(), &index.tensor()}, {&out.tensor()}).code == INGOT_OK);
      old.reset();  // it ran in a context that is gone, and gives back nothing of this one's
      REQUIRE(fresh->run({&table.tensor(), &index.tensor()}, {&out.tensor()}).code == INGOT_OK);
      REQUIRE(engine.sync().code == INGOT_OK);
      CHECK(out.get() == std::vector<float>{4, 5, 6});
      old = std::move(fresh);
    }
    REQUIRE(cuCtxDestroy_v2(own) == 0);
  }
}

TEST_CASE_FIXTURE(Device, "cubins are resident while cached or used, and pinned while used") {
  const Engine engine;
  CHECK(engine.stats().code_resident == 0);
  {
    const Compiled e(engine, axpb);
    CHECK(engine.stats().code_resident == 0);  // planned alone
    REQUIRE(e.prepare().code == INGOT_OK);
    const ingot_stats one = engine.stats();
    CHECK(one.code_resident > 0);
    CHECK(one.code_pinned == one.code_resident);
    CHECK((one.memory_cache_bytes > 0 && one.memory_cache_entries > 0));
    // The same code once more is no more of it, in another CUDA context neither.
    const Compiled same(engine, axpb), other(engine, chained);
    REQUIRE(same.prepare().code == INGOT_OK);
    CHECK(engine.stats().code_resident == one.code_resident);
    REQUIRE(other.prepare().code == INGOT_OK);
    CHECK(engine.stats().code_resident > one.code_resident);
    ok(ingot_context_trim(engine.get(), 0));
    const ingot_stats used = engine.stats();
    CHECK(used.memory_cache_bytes == 0);
    CHECK(used.code_resident == used.code_pinned);
    CHECK(used.code_resident > one.code_resident);
  }
  CHECK(engine.stats().code_resident == 0);
  {
    const Compiled e(engine, axpb);
    REQUIRE(e.prepare().code == INGOT_OK);
  }
  const ingot_stats idle = engine.stats();
  CHECK((idle.code_resident > 0 && idle.code_pinned == 0));  // cached, and trim may have it
  ok(ingot_context_trim(engine.get(), 0));
  CHECK(engine.stats().code_resident == 0);
}

TEST_CASE_FIXTURE(Device, "a host's thread with a small stack may compile, with threads of the library's or without") {
  for (const uint32_t no_threads : {0u, 1u}) {
    CAPTURE(no_threads);
    struct Job {
      uint32_t no_threads;
      CUcontext context;
      ingot_code code = 0;
    } job{no_threads, primary.context};
    const auto run = [](void* user) -> void* {
      Job& j = *static_cast<Job*>(user);
      cuCtxSetCurrent(j.context);
      ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
      o.no_disk_cache = 1;
      o.no_threads = j.no_threads;
      ingot_context* const c = context_with(o);
      ingot_executable* const e = compiled(c, axpb);
      j.code = Outcome(ingot_executable_prepare(e, nullptr, 0, nullptr, nullptr)).code;
      ingot_executable_release(e);
      ingot_context_release(c);
      return nullptr;
    };
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &attributes, run, &job) == 0);
    pthread_attr_destroy(&attributes);
    pthread_join(thread, nullptr);
    CHECK(job.code == INGOT_OK);
  }
}

TEST_CASE_FIXTURE(Device, "outputs that a call is bound without lie where its inputs do") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4});
  ingot_tensor managed = x.tensor(), here = x.tensor();
  managed.device.type = 13;
  here.device = {1, 0};
  ingot_call* call = nullptr;
  ok(ingot_call_create(e.get(), &call));
  for (const auto& [tensor, type] : {std::pair{&managed, 2}, std::pair{&here, 1}}) {
    const ingot_tensor* const in = tensor;
    ok(ingot_call_bind(call, &in, 1, nullptr, 0));
    ingot_tensor out{};
    ok(ingot_call_output(call, 0, &out));
    CHECK(out.device.type == type);
  }
  ingot_call_release(call);
}

TEST_CASE_FIXTURE(Device, "runs that must not stall ask the background once, not each of them") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.never_stall = 1;
  while (e.run({&x.tensor()}, {&y.tensor()}, &o).code != INGOT_OK) {
  }
  const ingot_stats s = engine.stats();
  CHECK(s.compiles == 1 + copier);
  CHECK(s.misses + s.memory_hits <= 2 * (1 + copier));
}
