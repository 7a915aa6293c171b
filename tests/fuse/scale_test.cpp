// Large graphs: planning takes work in proportion to their size and no deep stack.
#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "check.h"

namespace {
// Allocations stand for work: they are counted exactly, while time is not.
std::atomic<uint64_t> allocations{0};
}  // namespace

// Not inlined: the compiler would take malloc() and free() for a mismatch.
[[gnu::noinline]] void* operator new(size_t n) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t n, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(n ? n : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

using namespace ingot;
using namespace ingot::oracle;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

std::shared_ptr<const ir::Graph> chain(int length) {
  Net n;
  ValueId y = n.in("x", DType::f32, {n.sym("N")});
  for (int i = 0; i < length; ++i) y = n.op(i % 2 ? OpCode::op_tanh : OpCode::op_neg, {y});
  n.out(y);
  return n.done();
}

std::shared_ptr<const ir::Graph> chains(int count, int length) {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("N")});
  for (int c = 0; c < count; ++c) {
    ValueId y = n.op(OpCode::op_mul, {x, n.g->scalar(DType::f32, c + 1.5)});
    for (int i = 1; i < length; ++i) y = n.op(i % 3 ? OpCode::op_abs : OpCode::op_sqrt, {y});
    n.out(y);
  }
  return n.done();
}

// One value that all later ops read, and residuals: what planners tend to be quadratic in.
std::shared_ptr<const ir::Graph> shared_operand(int length) {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("N")});
  const ValueId e = n.op(OpCode::op_exp, {x});
  ValueId y = e;
  for (int i = 0; i < length; ++i)
    y = n.op(OpCode::op_max, {n.op(OpCode::op_mul, {y, n.g->scalar(DType::f32, 0.5)}), e});
  n.out(y);
  return n.done();
}

std::shared_ptr<const ir::Graph> many_outputs(int count) {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("N")});
  for (int i = 0; i < count; ++i) n.out(n.op(OpCode::op_add, {x, n.g->scalar(DType::f32, i + 0.25)}));
  return n.done();
}

uint64_t work(const std::shared_ptr<const ir::Graph>& g) {
  const uint64_t before = allocations;
  compile(g, {"", engine::Backend::interpreter, true, ""});
  return allocations - before;
}

void on_small_stack(const std::function<void()>& f) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 256 * 1024);
  pthread_t thread;
  const auto entry = [](void* arg) -> void* {
    (*static_cast<const std::function<void()>*>(arg))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attr, entry, const_cast<std::function<void()>*>(&f)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
}

}  // namespace

TEST_CASE("planning takes near linear work") {
  // Four times the ops; logarithmic factors and growing tables are allowed for.
  CHECK(work(chain(40000)) < 6 * work(chain(10000)));
  CHECK(work(chains(200, 100)) < 6 * work(chains(50, 100)));
  CHECK(work(shared_operand(8000)) < 6 * work(shared_operand(2000)));
  CHECK(work(many_outputs(4000)) < 6 * work(many_outputs(1000)));
}

TEST_CASE("100,000 chained ops on a thread with a stack of 256 KiB") {
  std::string fault;
  on_small_stack([&] {
    try {
      const auto g = chain(100000);
      const auto e = compile(g, {"", engine::Backend::interpreter, true, ""});
      const std::vector<Array> out = run(*e, std::vector{floats({2}, {1, 2})});
      // tanh from 1 and from 2, with a sign that comes back after an even number of changes.
      for (const uint64_t bits : out[0].bits)
        if (const float v = from_bits<float>(bits); !(v > 0.0054f && v < 0.0056f))
          fault = cat("result ", static_cast<double>(v));
    } catch (const Error& e) {
      fault = e.message();
    }
  });
  INFO(fault);
  CHECK(fault.empty());
}

TEST_CASE("500 parallel chains of 100 ops") {
  const auto e = compile(chains(500, 100), {"", engine::Backend::interpreter, true, ""});
  CHECK(e->plan().steps.size() <= 500);
  const std::vector<Array> out = run(*e, std::vector{floats({1}, {16})});
  CHECK(from_bits<float>(out[0].bits[0]) == 1.0f);  // roots of 24 go to 1
}

TEST_CASE("reused values are computed once: 64 levels of max(y, y/2)") {
  const auto levels = [](int count) {
    Net n;
    ValueId y = n.in("x", DType::f32, {n.sym("N")});
    for (int i = 0; i < count; ++i)
      y = n.op(OpCode::op_max, {y, n.op(OpCode::op_mul, {y, n.g->scalar(DType::f32, 0.5)})});
    n.out(y);
    return compile(n.done(), {"", engine::Backend::interpreter, true, ""});
  };
  const auto few = levels(32), many = levels(64);
  REQUIRE(many->plan().steps.size() == 1);
  CHECK(many->plan().steps[0].kernel.nodes.size() <= 2 * few->plan().steps[0].kernel.nodes.size());
  CHECK(from_bits<float>(run(*many, std::vector{floats({1}, {3})})[0].bits[0]) == 3.0f);
}
