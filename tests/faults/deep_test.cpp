// Graphs as deep as hosts make them by loops: built, planned, run and released on a thread with a small stack.
#include <pthread.h>

#include <cmath>

#include "patterns.h"

using namespace ingot;
using namespace ingot::faults;

namespace {

constexpr int depth = 100000;

std::shared_ptr<const ir::Graph> sines() {
  Net net;
  ValueId v = net.in("x", DType::f32, {net.sym("N")});
  for (int i = 0; i < depth; ++i) v = net.op(OpCode::op_sin, {v});
  net.out(v);
  return net.done();
}

// Runs `body` on a thread with 256 KiB of stack; what it throws ends the test program.
void on_small_stack(void (*body)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, size_t{256} << 10) == 0);
  pthread_t thread;
  const auto start = [](void* f) -> void* {
    reinterpret_cast<void (*)()>(f)();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, reinterpret_cast<void*>(body)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("a hundred thousand sines in a chain, on a stack of 256 KiB") {
  on_small_stack([] {
    const auto e = compile(sines(), main_ways()[1]);
    const Array got = run(*e, std::vector{floats({2}, {1, 2})})[0];
    // sin(x) is x - x^3/6 near 0, so that after n steps x is about sqrt(3 / n), whatever it was at first.
    for (const uint64_t bits : got.bits) CHECK(std::abs(from_bits<float>(bits) - 0.005477f) < 2e-5f);
  });
}

TEST_CASE("the same chain released without a run") {
  on_small_stack([] { CHECK(compile(sines(), main_ways()[1]) != nullptr); });
}
