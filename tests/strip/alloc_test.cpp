// The warm path allocates nothing: counted at operator new, for this whole executable.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "jit/interp/interp.h"
#include "random_launch.h"

namespace {
std::atomic<long> allocations{0};
}

void* operator new(size_t size) {
  ++allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

using namespace ingot;

TEST_CASE("preparing again and running allocate nothing") {
  for (uint32_t seed = 1; seed <= 100; ++seed)
    for (const auto shape : {test::Shape::pointwise, test::Shape::folds, test::Shape::dot, test::Shape::row_lanes}) {
      const test::Bound bound = test::random_launch(seed, shape, 500);
      const auto body = jit::interpreter(bound.program);
      jit::Launch launch;
      launch.prepare(bound.program, bound.sizes.data(), bound.args.data());
      const test::Guarded scratch((launch.scratch_bytes(*body) + 63) / 64 * 64, true, 0);
      const long before = allocations;
      launch.prepare(bound.program, bound.sizes.data(), bound.args.data());
      jit::Fault fault;
      for (int64_t c = 0; c < launch.chunks(); ++c) launch.run_chunk(*body, c, scratch.data(), fault);
      CHECK(allocations == before);
    }
}
