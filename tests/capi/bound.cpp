// Calls with tensors bound once, outputs the library makes, and memory the host lends.
#include <algorithm>
#include <set>
#include <thread>

#include "host.h"

using namespace host;

// DLPack 1.0: DLManagedTensorVersioned, as its standard lays it out.
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  ingot_tensor dl_tensor;
};

namespace {

const char* const axpy =
    "ingot 1.0\n"
    "graph @axpy(%a: f32[N], %b: f32[N]) -> (f32[N], f32[]) {\n"
    "  %d = mul %a, 2.0\n"
    "  %s = add %d, %b\n"
    "  %t = reduce_sum %s {axes = [0]}\n"
    "  return %s, %t\n"
    "}\n";

// Counts what it gives out; refuses after `budget` allocations.
struct Allocator {
  std::set<void*> live;
  int made = 0, budget = 1000;
  static void* allocate(void* user, size_t bytes, size_t alignment) {
    auto& a = *static_cast<Allocator*>(user);
    if (a.made >= a.budget) return nullptr;
    ++a.made;
    void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    a.live.insert(p);
    return p;
  }
  static void release(void* user, void* p, size_t, size_t) {
    CHECK(static_cast<Allocator*>(user)->live.erase(p) == 1);
    std::free(p);
  }
};

Call call_of(const Executable& e) {
  ingot_call* c = nullptr;
  ok(ingot_call_create(e.get(), &c));
  return Call(c);
}

}  // namespace

TEST_CASE("a call runs on the tensors bound to it, and on their data as it is then") {
  const Context c = context();
  const Executable e = compile(c, parse(c, axpy));
  const Call call = call_of(e);
  CHECK(refused(ingot_call_run(call.get(), nullptr), "bound") == INGOT_FAILED_PRECONDITION);
  Floats a({3}, {1, 2, 3}), b({3}, {10, 20, 30}), s({3}, {0, 0, 0}), t({}, {0});
  {
    // The descriptions may go once they are bound.
    const Floats gone_a({3}, {}), gone_b({3}, {}), gone_s({3}, {}), gone_t({}, {});
    ingot_tensor ta = gone_a.tensor, tb = gone_b.tensor, ts = gone_s.tensor, tt = gone_t.tensor;
    ta.data = a.data.data();
    tb.data = b.data.data();
    ts.data = s.data.data();
    tt.data = t.data.data();
    const ingot_tensor *ins[] = {&ta, &tb}, *outs[] = {&ts, &tt};
    ok(ingot_call_bind(call.get(), ins, 2, outs, 2));
  }
  for (int i = 0; i < 3; ++i) {
    a.data[0] = static_cast<float>(i);
    ok(ingot_call_run(call.get(), nullptr));
    CHECK(s.data == std::vector<float>{2.0f * static_cast<float>(i) + 10, 24, 36});
    CHECK(t.data[0] == 70 + 2.0f * static_cast<float>(i));
  }
  // Pointers are replaced one by one.
  Floats other({3}, {100, 200, 300}), to({3}, {0, 0, 0});
  ok(ingot_call_set_data(call.get(), 0, 1, other.data.data()));
  ok(ingot_call_set_data(call.get(), 1, 0, to.data.data()));
  ok(ingot_call_run(call.get(), nullptr));
  CHECK(to.data == std::vector<float>{104, 204, 306});
  CHECK(s.data[1] == 24);
  // In place, and back.
  ok(ingot_call_set_data(call.get(), 1, 0, a.data.data()));
  ok(ingot_call_run(call.get(), nullptr));
  CHECK(a.data == std::vector<float>{104, 204, 306});
  ok(ingot_call_set_data(call.get(), 0, 0, nullptr));
  CHECK(refused(ingot_call_run(call.get(), nullptr), "NULL") == INGOT_INVALID_ARGUMENT);
  ok(ingot_call_set_data(call.get(), 0, 0, a.data.data()));
  ok(ingot_call_run(call.get(), nullptr));
  CHECK(a.data == std::vector<float>{308, 608, 912});
}

TEST_CASE("outputs without tensors are compact, and their shapes can be asked for") {
  const Context c = context();
  const Executable e = compile(c, parse(c, axpy));
  const Call call = call_of(e);
  ingot_tensor out;
  CHECK(refused(ingot_call_output(call.get(), 0, &out), "bound") == INGOT_FAILED_PRECONDITION);
  Floats a({4}, {1, 2, 3, 4}), b({4}, {1, 1, 1, 1});
  const ingot_tensor* ins[] = {&a.tensor, &b.tensor};
  ok(ingot_call_bind(call.get(), ins, 2, nullptr, 0));
  ok(ingot_call_output(call.get(), 0, &out));
  CHECK(out.ndim == 1);
  CHECK(out.shape[0] == 4);
  CHECK(out.data == nullptr);
  CHECK(out.dtype.bits == 32);
  CHECK(refused(ingot_call_output(call.get(), 2, &out), "2") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_call_run(call.get(), nullptr), "output 0") == INGOT_INVALID_ARGUMENT);
  std::vector<float> s(4), t(1);
  ok(ingot_call_set_data(call.get(), 1, 0, s.data()));
  ok(ingot_call_set_data(call.get(), 1, 1, t.data()));
  ok(ingot_call_run(call.get(), nullptr));
  CHECK(s == std::vector<float>{3, 5, 7, 9});
  CHECK(t[0] == 24);
  CHECK(refused(ingot_call_set_data(call.get(), 1, 2, s.data()), "output 2") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_call_set_data(call.get(), 0, 2, s.data()), "input 2") == INGOT_INVALID_ARGUMENT);
  // A bind that fails leaves what was bound.
  Floats wrong({3}, {1, 1, 1});
  const ingot_tensor* mixed[] = {&a.tensor, &wrong.tensor};
  CHECK(refused(ingot_call_bind(call.get(), mixed, 2, nullptr, 0), "N") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_call_bind(call.get(), ins, 1, nullptr, 0), "1 input") == INGOT_INVALID_ARGUMENT);
  const ingot_tensor* short_out[] = {&wrong.tensor, &wrong.tensor};
  CHECK(refused(ingot_call_bind(call.get(), ins, 2, short_out, 2), "output 0") == INGOT_INVALID_ARGUMENT);
  s.assign(4, 0);
  ok(ingot_call_run(call.get(), nullptr));
  CHECK(s == std::vector<float>{3, 5, 7, 9});
  // Another size.
  Floats a2({2}, {1, 2}), b2({2}, {1, 1});
  const ingot_tensor* small[] = {&a2.tensor, &b2.tensor};
  ok(ingot_call_bind(call.get(), small, 2, nullptr, 0));
  ok(ingot_call_output(call.get(), 0, &out));
  CHECK(out.shape[0] == 2);
}

TEST_CASE("clones run on their own, each on a thread") {
  const Context c = context();
  const Executable e = compile(c, parse(c, axpy));
  const Call first = call_of(e);
  Floats a({64}, std::vector<float>(64, 1)), b({64}, std::vector<float>(64, 2));
  const ingot_tensor* ins[] = {&a.tensor, &b.tensor};
  ok(ingot_call_bind(first.get(), ins, 2, nullptr, 0));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    ingot_call* clone = nullptr;
    ok(ingot_call_clone(first.get(), &clone));
    threads.emplace_back([&wrong, own = Call(clone), i] {
      std::vector<float> mine(64, static_cast<float>(i)), s(64), t(1);
      for (ingot_status* st :
           {ingot_call_set_data(own.get(), 0, 0, mine.data()), ingot_call_set_data(own.get(), 1, 0, s.data()),
            ingot_call_set_data(own.get(), 1, 1, t.data())})
        wrong += st != nullptr;
      for (int round = 0; round < 500; ++round) {
        wrong += ingot_call_run(own.get(), nullptr) != nullptr;
        wrong += s[63] != 2.0f * static_cast<float>(i) + 2;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("dim inputs are read when they are bound") {
  const Context c = context();
  const Executable e = compile(c, parse(c,
                                        "ingot 1.0\ngraph @g(%k: dim K) -> (f32[K]) {\n  %h = constant 1.5 : f32\n  %0 "
                                        "= broadcast %h {shape = [K]}\n  return %0\n}\n"));
  const Call call = call_of(e);
  int64_t k = 3;
  const ingot_tensor t{&k, {1, 0}, 0, {0, 64, 1}, nullptr, nullptr, 0};
  const ingot_tensor* ins[] = {&t};
  ok(ingot_call_bind(call.get(), ins, 1, nullptr, 0));
  k = 99;  // no longer looked at
  std::vector<float> out(4, -1);
  ok(ingot_call_set_data(call.get(), 1, 0, out.data()));
  ok(ingot_call_run(call.get(), nullptr));
  CHECK(out == std::vector<float>{1.5, 1.5, 1.5, -1});
  CHECK(refused(ingot_call_set_data(call.get(), 0, 0, nullptr), "NULL") == INGOT_INVALID_ARGUMENT);
  int64_t four = 4;  // another extent than the output was bound for
  ok(ingot_call_set_data(call.get(), 0, 0, &four));
  CHECK(refused(ingot_call_run(call.get(), nullptr), "expected K = 4") == INGOT_INVALID_ARGUMENT);
}

TEST_CASE("outputs that the library makes") {
  const Context c = context();
  const Executable e = compile(c, parse(c, axpy));
  Floats a({3}, {1, 2, 3}), b({3}, {0, 0, 1});
  const ingot_tensor* ins[] = {&a.tensor, &b.tensor};
  DLManagedTensorVersioned* outs[2] = {};
  ok(ingot_run_allocating(e.get(), ins, 2, outs, 2, nullptr));
  CHECK(outs[0]->major == 1);
  CHECK(outs[0]->dl_tensor.ndim == 1);
  CHECK(outs[0]->dl_tensor.shape[0] == 3);
  CHECK(reinterpret_cast<uintptr_t>(outs[0]->dl_tensor.data) % 64 == 0);
  const auto* s = static_cast<const float*>(outs[0]->dl_tensor.data);
  CHECK(std::vector<float>(s, s + 3) == std::vector<float>{2, 4, 7});
  CHECK(*static_cast<const float*>(outs[1]->dl_tensor.data) == 13);
  for (DLManagedTensorVersioned* o : outs) o->deleter(o);

  Allocator mine;
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.allocate = Allocator::allocate;
  CHECK(refused(ingot_run_allocating(e.get(), ins, 2, outs, 2, &o), "deallocate") == INGOT_INVALID_ARGUMENT);
  o.deallocate = Allocator::release;
  o.allocator_user = &mine;
  ok(ingot_run_allocating(e.get(), ins, 2, outs, 2, &o));
  CHECK(mine.live.size() == 2);
  for (DLManagedTensorVersioned* out : outs) out->deleter(out);
  CHECK(mine.live.empty());
  // No memory for the second: the first is given back.
  mine.budget = mine.made + 1;
  DLManagedTensorVersioned* untouched[2] = {nullptr, nullptr};
  CHECK(outcome(ingot_run_allocating(e.get(), ins, 2, untouched, 2, &o)).code == INGOT_OUT_OF_MEMORY);
  CHECK(untouched[0] == nullptr);
  CHECK(mine.live.empty());
  CHECK(refused(ingot_run_allocating(e.get(), ins, 2, outs, 1, nullptr), "1") == INGOT_INVALID_ARGUMENT);
  CHECK(refused(ingot_run_allocating(e.get(), ins, 2, nullptr, 2, nullptr), "outputs") == INGOT_INVALID_ARGUMENT);

  Floats none({0}, {});
  const ingot_tensor* empty[] = {&none.tensor, &none.tensor};
  ok(ingot_run_allocating(e.get(), empty, 2, outs, 2, nullptr));
  CHECK(outs[0]->dl_tensor.shape[0] == 0);
  CHECK(*static_cast<const float*>(outs[1]->dl_tensor.data) == 0);
  for (DLManagedTensorVersioned* out : outs) out->deleter(out);
}

TEST_CASE("scratch comes from the run's allocator, else the context's, and goes back after the run") {
  // Two reductions over different axes: an intermediate value goes through memory.
  const char* text =
      "ingot 1.0\n"
      "graph @g(%x: f32[B, C]) -> (f32[B]) {\n"
      "  %0 = reduce_sum %x {axes = [0]}\n"
      "  %1 = sub %x, %0\n"
      "  %2 = reduce_max %1 {axes = [1]}\n"
      "  return %2\n"
      "}\n";
  Allocator contexts, runs;
  ingot_context_options co = INGOT_CONTEXT_OPTIONS_INIT;
  co.allocate = Allocator::allocate;
  co.deallocate = Allocator::release;
  co.allocator_user = &contexts;
  const Context c = context(co);
  const Executable e = compile(c, parse(c, text));
  Floats x({2, 3}, {1, 2, 3, 4, 5, 6}), out({2}, {0, 0});
  const ingot_tensor* ins[] = {&x.tensor};
  uint64_t scratch = 0;
  ok(ingot_executable_scratch_size(e.get(), ins, 1, &scratch));
  REQUIRE(scratch > 0);
  ok(run(e, {&x.tensor}, {&out.tensor}));
  CHECK(out.data == std::vector<float>{-4, -1});
  CHECK(contexts.made == 1);
  CHECK(contexts.live.empty());
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.allocate = Allocator::allocate;
  o.deallocate = Allocator::release;
  o.allocator_user = &runs;
  ok(run(e, {&x.tensor}, {&out.tensor}, &o));
  CHECK(runs.made == 1);
  CHECK(runs.live.empty());
  CHECK(contexts.made == 1);
  runs.budget = 0;
  CHECK(outcome(run(e, {&x.tensor}, {&out.tensor}, &o)).code == INGOT_OUT_OF_MEMORY);
  alignas(64) char lent[4096];
  REQUIRE(scratch <= sizeof lent);
  o.scratch = lent;
  o.scratch_bytes = sizeof lent;
  ok(run(e, {&x.tensor}, {&out.tensor}, &o));
}

TEST_CASE("tiny runs of one shape, over and over, read and write where the tensors lie at the time") {
  // Sixteen floats are whole vectors: from the second run on nothing but the kernel is called.
  const Context c = context();
  const Executable e = compile(c, parse(c,
                                        "ingot 1.0\ngraph @g(%a: f32[N], %b: f32[N]) -> (f32[N]) {\n"
                                        "  %d = mul %a, 2.0\n  %s = add %d, %b\n  return %s\n}\n"));
  const Call call = call_of(e);
  for (int round = 0; round < 6; ++round) {
    const auto at = static_cast<float>(round);
    Floats a({16}, std::vector<float>(16, at)), b({16}, std::vector<float>(16, 10 * at)),
        y({16}, std::vector<float>(16));
    ok(run(e, {&a.tensor, &b.tensor}, {&y.tensor}));
    CHECK(y.data == std::vector<float>(16, 12 * at));
    if (round == 0) {
      const ingot_tensor *ins[] = {&a.tensor, &b.tensor}, *outs[] = {&y.tensor};
      ok(ingot_call_bind(call.get(), ins, 2, outs, 1));
    }
    ok(ingot_call_set_data(call.get(), 0, 0, b.data.data()));
    ok(ingot_call_set_data(call.get(), 0, 1, a.data.data()));
    ok(ingot_call_set_data(call.get(), 1, 0, y.data.data()));
    for (int again = 0; again < 3; ++again) {
      std::fill(y.data.begin(), y.data.end(), -1.0f);
      ok(ingot_call_run(call.get(), nullptr));
      CHECK(y.data == std::vector<float>(16, 21 * at));
    }
    // In place, and the output in the place of the other input.
    ok(run(e, {&a.tensor, &b.tensor}, {&a.tensor}));
    CHECK(a.data == std::vector<float>(16, 12 * at));
    ok(run(e, {&a.tensor, &b.tensor}, {&b.tensor}));
    CHECK(b.data == std::vector<float>(16, 34 * at));
  }
}
