// How a run uses threads, memory and time that the host gives it.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "check.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::ValueId;
using runtime::Tensor;

namespace {

// Several kernels with intermediate buffers, each of many chunks for large inputs.
std::shared_ptr<const ir::Graph> pipeline() {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("B"), n.sym("C")});
  const ValueId column = n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({0})}});
  const ValueId y = n.op(OpCode::op_sub, {x, column});
  n.out(n.op(OpCode::op_softmax, {y}));
  n.out(n.op(OpCode::op_reduce_max, {y}, {{"axes", Attr::of_ints({0})}}));
  return n.done();
}

struct Bound {
  Array a = random_array(77, DType::f32, {300, 513});
  HostTensor x{a, Layout::compact};
  HostTensor out0{DType::f32, {300, 513}, Layout::compact}, out1{DType::f32, {513}, Layout::compact};
  const Tensor* ins[1] = {x.tensor()};
  const Tensor* outs[2] = {out0.tensor(), out1.tensor()};
  std::vector<Array> results() const { return {out0.read_raw(), out1.read_raw()}; }
};

// A parallel_for of the host: serial, last index first.
struct Backwards final : runtime::Parallel {
  std::atomic<int> calls{0};
  uint32_t width() const noexcept override { return 7; }
  void run(uint32_t tasks, Task fn, void* context) override {
    ++calls;
    for (uint32_t i = tasks; i-- > 0;) fn(context, i);
  }
};

struct Hook final : runtime::Parallel {
  std::function<void(uint32_t)> before = {};
  uint32_t width() const noexcept override { return 3; }
  void run(uint32_t tasks, Task fn, void* context) override {
    for (uint32_t i = 0; i < tasks; ++i) {
      if (before) before(i);
      fn(context, i);
    }
  }
};

}  // namespace

TEST_CASE("any parallel_for gives the bits of a serial run") {
  const auto g = pipeline();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    Bound serial, own, backwards, pool_of_two;
    e->run(serial.ins, serial.outs, {.serial = true});
    e->run(own.ins, own.outs, {});
    CHECK(own.results() == serial.results());
    Backwards host;
    e->run(backwards.ins, backwards.outs, {.parallel = &host});
    CHECK(backwards.results() == serial.results());
    CHECK(host.calls > 0);
    runtime::Pool pool(2);
    e->run(pool_of_two.ins, pool_of_two.outs, {.parallel = &pool});
    CHECK(pool_of_two.results() == serial.results());
  }
}

TEST_CASE("a run inside a task of a run") {
  const auto g = pipeline();
  for (const Way& way : main_ways()) {
    const auto e = compile(g, way);
    Bound serial, outer, inner;
    e->run(serial.ins, serial.outs, {.serial = true});
    Hook host;
    bool once = false;
    host.before = [&](uint32_t) {
      if (!std::exchange(once, true)) e->run(inner.ins, inner.outs, {});
    };
    e->run(outer.ins, outer.outs, {.parallel = &host});
    INFO(way.name);
    CHECK(once);
    CHECK(outer.results() == serial.results());
    CHECK(inner.results() == serial.results());
  }
}

TEST_CASE("a pool runs every index once, however often and from however many threads it is used") {
  runtime::Pool pool(4);
  std::atomic<int> bad{0};
  const auto use = [&] {
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> seen[33] = {};
      pool.run(33, [](void* context, uint32_t i) { ++static_cast<std::atomic<int>*>(context)[i]; }, seen);
      for (const auto& s : seen) bad += s != 1;
    }
  };
  std::thread other(use);
  use();
  other.join();
  CHECK(bad == 0);
}

TEST_CASE("a cancelled run stops with CANCELLED, and the next one is right") {
  const auto g = pipeline();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    Bound serial, b;
    e->run(serial.ins, serial.outs, {.serial = true});
    std::atomic<uint32_t> cancel{1};
    const auto code = [&](const engine::RunOptions& o) {
      try {
        e->run(b.ins, b.outs, o);
        return Code::ok;
      } catch (const Error& error) {
        return error.code();
      }
    };
    CHECK(code({.serial = true, .cancel = &cancel}) == Code::cancelled);
    CHECK(code({.cancel = &cancel}) == Code::cancelled);
    cancel = 0;
    Hook host;
    host.before = [&](uint32_t i) {
      if (i == 1) cancel = 1;
    };
    CHECK(code({.parallel = &host, .cancel = &cancel}) == Code::cancelled);
    CHECK_FALSE(b.out0.strayed());
    cancel = 0;
    CHECK(code({.cancel = &cancel}) == Code::ok);
    CHECK(b.results() == serial.results());
  }
}

TEST_CASE("lent scratch is used where it suffices") {
  const auto g = pipeline();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    Bound serial, b;
    e->run(serial.ins, serial.outs, {.serial = true});
    const uint64_t need = e->executor().scratch_size(b.ins, 1);
    std::vector<uint8_t> memory(need + 256, 0x5a);
    auto* const lent = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    e->run(b.ins, b.outs, {.serial = true, .scratch = lent, .scratch_bytes = need});
    CHECK(b.results() == serial.results());
    CHECK(std::all_of(lent + need, memory.data() + memory.size(), [](uint8_t v) { return v == 0x5a; }));
    if (need > 0) CHECK(std::any_of(lent, lent + need, [](uint8_t v) { return v != 0x5a; }));
    // Too little of it: the library's own is used.
    std::fill(memory.begin(), memory.end(), uint8_t{0x5a});
    if (need > 0) {
      e->run(b.ins, b.outs, {.serial = true, .scratch = lent, .scratch_bytes = need - 1});
      CHECK(b.results() == serial.results());
      CHECK(std::all_of(memory.begin(), memory.end(), [](uint8_t v) { return v == 0x5a; }));
    }
  }
}

TEST_CASE("a forked child runs what its parent has run on threads") {
  const auto g = pipeline();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way, make_context(4));
    Bound parent, child;
    e->run(parent.ins, parent.outs, {});
    const std::vector<Array> want = parent.results();
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      e->run(child.ins, child.outs, {});
      _exit(child.results() == want ? 0 : 1);
    }
    REQUIRE(pid > 0);
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    Bound again;
    e->run(again.ins, again.outs, {});
    CHECK(again.results() == want);
  }
}

TEST_CASE("other sizes and layouts of one executable compile nothing") {
  const auto context = make_context();
  const auto g = pipeline();
  for (const Way& way : main_ways()) {
    INFO(way.name);
    const auto e = compile(g, way, context);
    e->prepare();
    const uint64_t compiles = context->counters().compiles, misses = context->counters().misses;
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 1}, {5, 1}, {1, 700}, {64, 64}, {0, 3}, {3, 0}})
      for (const Layout layout : {Layout::compact, Layout::negative, Layout::unaligned})
        run(*e, std::vector{random_array(1, DType::f32, shape)}, layout);
    CHECK(context->counters().compiles == compiles);
    CHECK(context->counters().misses == misses);
  }
}
