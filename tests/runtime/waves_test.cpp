// Steps of a plan that need nothing of each other run together: once started, with the bits, failures and scratch that
// running them one by one would have.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "check.h"
#include "evaluate.h"
#include "jit/interp/interp.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::ValueId;
using loop::RefKind;
using runtime::Tensor;

namespace {

// A parallel_for of the host, on threads of its own: the tasks of a call begin together.
struct Host final : runtime::Parallel {
  explicit Host(uint32_t threads) : threads_(threads) {}
  int calls = 0;
  std::function<void()> before = {};
  uint32_t width() const noexcept override { return threads_; }
  void run(uint32_t tasks, Task fn, void* context) override {
    ++calls;
    if (before) before();
    std::vector<std::thread> others;
    for (uint32_t i = 1; i < tasks; ++i) others.emplace_back([=] { fn(context, i); });
    fn(context, 0);
    for (std::thread& t : others) t.join();
  }

 private:
  const uint32_t threads_;
};

struct Tensors {
  std::vector<std::unique_ptr<HostTensor>> held;
  std::vector<const Tensor*> pointers;
  void add(std::unique_ptr<HostTensor> t) {
    pointers.push_back(t->tensor());
    held.push_back(std::move(t));
  }
};

// Inputs of a graph, and fresh outputs for each run.
struct Case {
  std::vector<Array> inputs, want;
  Tensors in;
  explicit Case(const ir::Graph& g, std::vector<Array> arrays) : inputs(std::move(arrays)), want(evaluate(g, inputs)) {
    for (const Array& a : inputs) in.add(std::make_unique<HostTensor>(a, Layout::compact));
  }
  Tensors outputs() const {
    Tensors out;
    for (const Array& a : want) out.add(std::make_unique<HostTensor>(a.dtype, a.shape, Layout::compact));
    return out;
  }
  // Empty if a run gives what is wanted.
  std::string run(engine::Executable& e, const engine::RunOptions& options) const {
    Tensors out = outputs();
    e.run(in.pointers, out.pointers, options);
    for (size_t i = 0; i < want.size(); ++i)
      if (std::string text = difference(want[i], out.held[i]->read_raw()); !text.empty())
        return cat("output ", i, ": ", text);
    return {};
  }
};

// `count` tensors of sizes of their own, each with a mean over all of it that a second kernel takes off: two kernels a
// tensor, with a buffer between them, and nothing between the tensors.
std::shared_ptr<const ir::Graph> many(size_t count) {
  Net n;
  for (size_t i = 0; i < count; ++i) {
    const ValueId x = n.in(cat("x", i), DType::f32, {n.sym(cat("N", i)), n.sym(cat("M", i))});
    const ValueId rows = n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({1})}});
    const ValueId columns = n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({0})}});
    const ValueId all = n.op(OpCode::op_mul, {n.op(OpCode::op_reduce_max, {rows}), n.op(OpCode::op_exp, {columns})});
    n.out(n.op(OpCode::op_sub, {x, all}));
  }
  return n.done();
}

Case case_of(const ir::Graph& g, int64_t rows, int64_t columns) {
  std::vector<Array> inputs;
  for (size_t i = 0; i < g.inputs().size(); ++i)
    inputs.push_back(
        random_array(i, DType::f32, {rows + static_cast<int64_t>(i % 5), columns + static_cast<int64_t>(i)}));
  return Case(g, std::move(inputs));
}

// Looks at what another body is given, and may end the run.
class Watched final : public jit::Body {
 public:
  Watched(const jit::Program& p, std::atomic<uint32_t>& cancel, std::atomic<int>& sweeps, std::atomic<int>& bad)
      : body_(jit::interpreter(p)), cancel_(cancel), sweeps_(sweeps), bad_(bad) {}
  void sweep(unsigned index, const jit::Frame& f) const noexcept override {
    cancel_ = 1;
    ++sweeps_;
    bad_ += reinterpret_cast<uintptr_t>(f.scratch) % 64 != 0;
    body_->sweep(index, f);
  }
  void row(const jit::Frame& f) const noexcept override { body_->row(f); }
  bool compiled() const noexcept override { return false; }
  size_t scratch_bytes() const noexcept override { return body_->scratch_bytes() + 1; }

 private:
  std::shared_ptr<const jit::Body> body_;
  std::atomic<uint32_t>& cancel_;
  std::atomic<int>& sweeps_;
  std::atomic<int>& bad_;
};

// One task after the other, the last one first: it finds all the work.
struct Backwards final : runtime::Parallel {
  uint32_t width() const noexcept override { return 3; }
  void run(uint32_t tasks, Task fn, void* context) override {
    while (tasks-- > 0) fn(context, tasks);
  }
};

// How many calls of bodies a run on several threads makes: until one of them has asked for its end, or all.
int sweeps(engine::Executable& e, const Case& c, bool cancels, runtime::Parallel& host) {
  std::atomic<uint32_t> cancel{0};
  std::atomic<int> count{0}, bad{0};
  std::vector<std::unique_ptr<Watched>> held;
  std::vector<const jit::Body*> bodies;
  const runtime::ExecutorPlan& plan = e.executor().plan();
  for (const runtime::StepSpec& step : plan.steps) {
    held.push_back(std::make_unique<Watched>(*step.program, cancel, count, bad));
    bodies.push_back(held.back().get());
  }
  const runtime::Executor executor(plan);
  Tensors out = c.outputs();
  Code code = Code::ok;
  try {
    executor.run(c.in.pointers, out.pointers, bodies, {.parallel = &host, .cancel = cancels ? &cancel : nullptr});
  } catch (const Error& error) {
    code = error.code();
  }
  CHECK(code == (cancels ? Code::cancelled : Code::ok));
  CHECK(bad == 0);
  return count;
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return cat(static_cast<int>(e.code()), " ", e.message());
  }
  return "none";
}

}  // namespace

TEST_CASE("steps that need nothing of each other give the same bits on any number of threads, fused or not") {
  const auto g = many(23);
  const Case c = case_of(*g, 70, 150);
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    CHECK(c.run(*e, {.serial = true}) == "");
    for (const uint32_t threads : {2, 3, 8}) {
      runtime::Pool pool(threads);
      Host host(threads);
      for (int again = 0; again < 3; ++again) {
        CHECK(c.run(*e, {.parallel = &pool}) == "");
        CHECK(c.run(*e, {.parallel = &host}) == "");
        CHECK(c.run(*e, {.serial = true}) == "");
      }
    }
  }
}

TEST_CASE("the parallel_for is called once for all that can run together") {
  // One kernel a tensor.
  Net n;
  const ValueId rate = n.in("rate", DType::f32, {});
  for (int i = 0; i < 100; ++i) {
    const ValueId p = n.in("", DType::f32, {n.sym(cat("N", i))}), v = n.in("", DType::f32, {n.sym(cat("N", i))});
    n.out(n.op(OpCode::op_sub, {p, n.op(OpCode::op_mul, {rate, n.op(OpCode::op_tanh, {v})})}));
  }
  const auto g = n.done();
  std::vector<Array> inputs{floats({}, {0.5f})};
  for (int64_t i = 0; i < 200; ++i)
    inputs.push_back(random_array(static_cast<uint64_t>(i), DType::f32, {1000 + i / 2}));
  const Case c(*g, inputs);
  for (const Way& way : main_ways()) {
    if (!way.fuse) continue;
    INFO(way.name);
    const auto context = make_context(1);
    const auto e = compile(g, way, context);
    for (int run = 0; run < 3; ++run) {
      Host host(2);
      const auto before = context->tallies()->sum();
      CHECK(c.run(*e, {.parallel = &host}) == "");
      const auto after = context->tallies()->sum();
      CHECK(host.calls == 1);
      CHECK(after.forks - before.forks == 1);
      CHECK(after.launches - before.launches == 100);
    }
    const auto before = context->tallies()->sum();
    CHECK(c.run(*e, {.serial = true}) == "");
    CHECK(context->tallies()->sum().forks == before.forks);
  }
}

TEST_CASE("little work stays on the thread of the caller") {
  const auto g = many(4);
  const Case c = case_of(*g, 3, 20);
  for (const Way& way : main_ways()) {
    const auto e = compile(g, way);
    Host host(4);
    CHECK(c.run(*e, {.parallel = &host}) == "");
    CHECK(host.calls == 0);
  }
}

TEST_CASE("of several steps that fail, the first of the plan is told, on any number of threads") {
  // Each output gathers by indices of its own; which of them fail, and in which wave, differs.
  Net n;
  const ir::DimId size = n.sym("N"), extent = n.sym("E");
  const ValueId table = n.in("table", DType::f32, {extent});
  constexpr int outputs = 7;
  for (int i = 0; i < outputs; ++i) {
    ValueId index = n.in(cat("i", i), DType::i32, {size});
    const ValueId direct = n.op(OpCode::op_gather, {table, index}, {{"axis", Attr::of_int(0)}});
    if (i % 3 == 0) {
      // Behind two more waves.
      const ValueId most = n.op(OpCode::op_reduce_max, {n.op(OpCode::op_mul, {direct, direct})});
      const ValueId later = n.op(OpCode::op_exp, {n.op(OpCode::op_sub, {most, most})});
      const ValueId one = n.op(OpCode::op_cast, {later}, {{"to", Attr::of_dtype(DType::i32)}});
      index = n.op(OpCode::op_add, {index, n.op(OpCode::op_mul, {one, n.g->scalar(DType::i32, 2.0)})});
      n.out(n.op(OpCode::op_gather, {table, index}, {{"axis", Attr::of_int(0)}}));
    } else {
      n.out(direct);
    }
  }
  const auto g = n.done();
  std::mt19937 random(5);
  std::set<std::string> messages;
  for (int round = 0; round < 12; ++round) {
    Tensors in, out;
    in.add(std::make_unique<HostTensor>(random_array(1, DType::f32, {50}), Layout::compact));
    for (int i = 0; i < outputs; ++i) {
      std::vector<int32_t> index(90000);
      for (int32_t& x : index) x = static_cast<int32_t>(random() % 40);
      if (random() % 2) index[random() % index.size()] = 60 + i;  // fails at once
      if (random() % 2) index[random() % index.size()] = 48;      // fails where two are added
      in.add(std::make_unique<HostTensor>(array(DType::i32, {90000}, index), Layout::compact));
      out.add(std::make_unique<HostTensor>(DType::f32, std::vector<int64_t>{90000}, Layout::compact));
    }
    for (const Way& way : main_ways()) {
      INFO(way.name, ", round ", round);
      const auto e = compile(g, way);
      const std::string want = message([&] { e->run(in.pointers, out.pointers, {.serial = true}); });
      messages.insert(want);
      for (const uint32_t threads : {2, 3, 8}) {
        runtime::Pool pool(threads);
        Host host(threads);
        CHECK(message([&] { e->run(in.pointers, out.pointers, {.parallel = &pool}); }) == want);
        CHECK(message([&] { e->run(in.pointers, out.pointers, {.parallel = &host}); }) == want);
      }
    }
  }
  CHECK(messages.size() >= 5);
}

TEST_CASE("steps that run together are cancelled together") {
  const auto g = many(40);
  const Case c = case_of(*g, 100, 400);
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    Host counting(3);
    CHECK(c.run(*e, {.parallel = &counting}) == "");
    counting.calls = 0;
    CHECK(c.run(*e, {.parallel = &counting}) == "");
    CHECK(counting.calls >= 2);
    for (int after = 0; after < counting.calls; ++after) {
      std::atomic<uint32_t> cancel{0};
      Host host(3);
      host.before = [&] { cancel = host.calls > after; };
      const std::string text = message([&] { c.run(*e, {.parallel = &host, .cancel = &cancel}); });
      CHECK(text.starts_with(std::to_string(static_cast<int>(Code::cancelled))));
      CHECK(host.calls == after + 1);
      CHECK(c.run(*e, {.parallel = &host}) == "");
    }
  }
  // Inside of a wave: each thread ends the chunk that it has.
  const auto e = compile(g, main_ways()[0]);
  Host threads(3);
  const int all = sweeps(*e, c, false, threads);
  CHECK(sweeps(*e, c, true, threads) < all / 4);
  Backwards backwards;
  CHECK(sweeps(*e, c, false, backwards) == all);
}

TEST_CASE("outputs in the memory of inputs that other steps read are right on threads") {
  // Of each input one step reads a part, in a space of its own; a later one of the plan makes all of an output that may
  // lie in the input. Nothing else keeps them from running at once.
  Net n;
  const ir::DimId size = n.sym("N");
  std::vector<ValueId> x;
  for (int i = 0; i < 6; ++i) x.push_back(n.in(cat("x", i), DType::f32, {size}));
  for (const ValueId v : x)
    n.out(n.op(OpCode::op_tanh,
               {n.op(OpCode::op_slice, {v}, {{"starts", Attr::of_ints({7})}, {"limits", Attr::of_ints({140000})}})}));
  for (const ValueId v : x) n.out(n.op(OpCode::op_exp, {v}));
  const auto g = n.done();
  std::vector<Array> inputs;
  for (uint64_t i = 0; i < 6; ++i) inputs.push_back(random_array(i, DType::f32, {150000}));
  const std::vector<Array> want = evaluate(*g, inputs);
  for (const Way& way : all_ways()) {
    const auto e = compile(g, way);
    for (const bool in_place : {false, true, true, false, true}) {
      Tensors in, out;
      for (const Array& a : inputs) in.add(std::make_unique<HostTensor>(a, Layout::compact));
      for (const Array& a : want) out.add(std::make_unique<HostTensor>(a.dtype, a.shape, Layout::compact));
      std::vector<const Tensor*> outs = out.pointers;
      if (in_place) std::copy(in.pointers.begin(), in.pointers.end(), outs.begin() + 6);
      Host host(3);
      e->run(in.pointers, outs, {.parallel = &host});
      INFO(way.name, ", in place ", in_place);
      if (way.fuse) CHECK((in_place ? host.calls >= 2 : host.calls == 1));
      for (size_t i = 0; i < want.size(); ++i) {
        const HostTensor& got = *(in_place && i >= 6 ? in.held[i - 6] : out.held[i]);
        INFO("output ", i);
        CHECK(difference(want[i], got.read_raw()) == "");
      }
    }
  }
}

namespace {

// What slots by lifetime take: the steps of a plan in levels, and each buffer, as it comes, in any slot that is free.
uint64_t coloured(const runtime::ExecutorPlan& plan, const std::function<int64_t(ir::DimId)>& extent) {
  const size_t n = plan.buffers.size();
  std::vector<size_t> level(plan.steps.size(), 0), first(n, 0), last(n, 0), bytes;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const runtime::StepSpec& step = plan.steps[s];
    for (size_t v = 0; v < step.views.size(); ++v)
      for (size_t p = 0; p < s; ++p)
        for (size_t u = 0; u < plan.steps[p].views.size(); ++u)
          if (!step.stores(v) && plan.steps[p].stores(u) && plan.steps[p].views[u].ref == step.views[v].ref)
            level[s] = std::max(level[s], level[p] + 1);
    for (size_t v = 0; v < step.views.size(); ++v)
      if (const auto& ref = step.views[v].ref; ref.kind == RefKind::buffer) {
        if (step.stores(v)) first[ref.index] = level[s];
        last[ref.index] = std::max(last[ref.index], level[s]);
      }
  }
  for (const runtime::BufferSpec& b : plan.buffers) {
    size_t size = ir::item_size(b.dtype);
    for (const ir::DimId d : b.shape) size *= static_cast<size_t>(extent(d));
    bytes.push_back((size + 63) / 64 * 64);
  }
  struct Slot {
    size_t bytes, free_from;
  };
  std::vector<Slot> slots;
  for (size_t wave = 0; wave <= plan.steps.size(); ++wave)
    for (size_t b = 0; b < n; ++b) {
      if (first[b] != wave) continue;
      const auto at = std::ranges::find_if(slots, [&](const Slot& s) { return s.free_from <= wave; });
      if (at == slots.end()) {
        slots.push_back({bytes[b], last[b] + 1});
      } else {
        at->bytes = std::max(at->bytes, bytes[b]);
        at->free_from = last[b] + 1;
      }
    }
  uint64_t total = 0;
  for (const Slot& s : slots) total += s.bytes;
  return total;
}

}  // namespace

TEST_CASE("waves take no more scratch than slots by lifetime") {
  // Chains of several lengths and sizes beside one another.
  Net n;
  for (int i = 0; i < 9; ++i) {
    ValueId x = n.in(cat("x", i), DType::f32, {n.num(100 + 60 * (i % 4)), n.num(40)});
    for (int k = 0; k < 3 + i % 3; ++k) {
      const ValueId sums =
          n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({k % 2})}, {"keepdims", Attr::of_bool(true)}});
      x = n.op(OpCode::op_tanh, {n.op(OpCode::op_sub, {x, sums})});
    }
    n.out(x);
  }
  const auto g = n.done();
  std::vector<Array> inputs;
  for (int i = 0; i < 9; ++i)
    inputs.push_back(random_array(static_cast<uint64_t>(i), DType::f32, {100 + 60 * (i % 4), 40}));
  const Case c(*g, inputs);
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const auto e = compile(g, way, make_context(4));
    const runtime::ExecutorPlan& plan = e->executor().plan();
    const uint64_t most = coloured(plan, [&](ir::DimId d) { return plan.dims.as_constant(d).value(); });
    const uint64_t need = e->executor().scratch_size(c.in.pointers, 4);
    CHECK(need <= most);
    CHECK(need > 0);
    // That much is enough, on one thread and on several.
    std::vector<uint8_t> memory(need + 64);
    auto* const lent = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    runtime::Pool pool(3);
    CHECK(c.run(*e, {.serial = true, .scratch = lent, .scratch_bytes = need}) == "");
    CHECK(c.run(*e, {.parallel = &pool, .scratch = lent, .scratch_bytes = need}) == "");
    CHECK(std::ranges::any_of(memory, [](uint8_t b) { return b != 0; }));
  }
}

TEST_CASE("more steps at once than are remembered") {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("N")});
  std::vector<ValueId> made;
  for (int i = 0; i < 2500; ++i)
    made.push_back(n.op(OpCode::op_reduce_sum, {n.op(OpCode::op_mul, {x, n.g->scalar(DType::f32, 1.0 + i)})}));
  for (const ValueId v : made) n.out(v);
  const auto g = n.done();
  const Case c(*g, {random_array(9, DType::f32, {300})});
  for (const Way& way : main_ways()) {
    if (way.backend != engine::Backend::interpreter) continue;
    INFO(way.name);
    const auto e = compile(g, way);
    runtime::Pool pool(3);
    CHECK(c.run(*e, {.parallel = &pool}) == "");
    CHECK(c.run(*e, {.serial = true}) == "");
  }
}

TEST_CASE("a long row is shared by threads, with the bits of one thread, and can be cancelled") {
  Net n;
  const ir::DimId b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {b, c}), y = n.in("y", DType::f32, {b, c});
  const ValueId d = n.op(OpCode::op_sub, {x, y});
  n.out(n.op(OpCode::op_reduce_mean, {n.op(OpCode::op_mul, {d, d})}));
  n.out(n.op(OpCode::op_softmax, {x}));
  n.out(n.op(OpCode::op_layer_norm, {y, n.g->scalar(DType::f32, 0.5)}));
  n.out(n.op(OpCode::op_reduce_max, {x}, {{"axes", Attr::of_ints({1})}}));
  const auto g = n.done();
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 300001}, {3, 70001}, {2, 65536}}) {
    const Case k(*g, {random_array(1, DType::f32, {rows, columns}), random_array(2, DType::f32, {rows, columns})});
    for (const Way& way : main_ways()) {
      INFO(way.name, ", ", rows, " x ", columns);
      const auto e = compile(g, way);
      CHECK(k.run(*e, {.serial = true}) == "");
      for (const uint32_t threads : {2, 3, 8}) {
        runtime::Pool pool(threads);
        CHECK(k.run(*e, {.parallel = &pool}) == "");
      }
    }
  }
  // One row, one fold: cancelled between its pieces, of 4 calls each, which take up to 16 strips.
  Net one;
  one.out(one.op(OpCode::op_reduce_sum, {one.in("x", DType::f32, {one.sym("N")})}));
  const auto sum = one.done();
  const Case s(*sum, {random_array(3, DType::f32, {2000000})});
  const auto e = compile(sum, main_ways()[0]);
  Host threads(3);
  CHECK(sweeps(*e, s, false, threads) == 124);
  CHECK(sweeps(*e, s, true, threads) <= 3 * 4);
}
