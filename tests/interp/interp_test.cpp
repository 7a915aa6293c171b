// The interpreter's own decisions: conditional slow arms, reuse of strips, stores in place of loads.
#include "jit/interp/interp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "jit/interp/compile.h"
#include "jit/interp/ops.h"
#include "jit/strip/launch.h"
#include "loop/expr.h"
#include "random_launch.h"

using namespace ingot;
using loop::Builder;
using loop::DType;
using loop::Prim;
using loop::Val;
using loop::ViewKind;

namespace {

uint16_t view(Builder& b, ViewKind kind, DType type, loop::AxisSet axes) {
  return b.add_view({.kind = kind, .storage = type, .tensor = b.add_tensor(), .axes = axes, .boxes = {}, .fill = 0});
}
Val load(Builder& b, DType type, loop::AxisSet axes) { return {b, b.load(view(b, ViewKind::load, type, axes))}; }
void store(Builder& b, Val v, loop::AxisSet axes) { b.store(view(b, ViewKind::store, v.type(), axes), v.id()); }

jit::Program program(Builder& b) {
  jit::Program p;
  p.kernel = b.finish();
  p.schedule = loop::schedule(p.kernel);
  return p;
}

void run(const jit::Program& p, const jit::Body& body, std::vector<int64_t> sizes,
         const std::vector<jit::ViewArg>& args) {
  jit::Launch launch;
  launch.prepare(p, sizes.data(), args.data());
  std::vector<char> scratch(launch.scratch_bytes(body) + 64);
  char* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  jit::Fault fault;
  for (int64_t c = 0; c < launch.chunks(); ++c) launch.run_chunk(body, c, aligned, fault);
}

jit::ViewArg linear(std::vector<float>& v) {
  jit::ViewArg a;
  a.base = reinterpret_cast<char*>(v.data());
  a.stride[0] = 4;
  return a;
}

}  // namespace

TEST_CASE("both tables give the same bits on random kernels") {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  for (uint32_t seed = 1; seed <= 600; ++seed)
    for (const auto shape : {test::Shape::pointwise, test::Shape::folds, test::Shape::dot, test::Shape::row_lanes}) {
      test::Bound bound = test::random_launch(seed, shape, 1500);
      const auto body = jit::interp::interpreter_with(bound.program, jit::interp::ops_baseline());
      const std::string text = test::difference(bound, *body, seed);
      INFO("seed ", seed, text);
      CHECK(text.empty());
    }
#endif
}

TEST_CASE("a slow arm that no lane takes is skipped, and one that a lane takes is not") {
  Builder b(1, 0);
  const Val x = load(b, DType::f32, 1);
  Val slow = x;
  for (int i = 0; i < 10; ++i) slow = sqrt(slow) + static_cast<double>(i);
  store(b, rare(loop::lt(x, 0.0), x * 2.0, -slow), 1);
  const jit::Program p = program(b);
  const jit::interp::Code code = jit::interp::compile_sweep(p.kernel, p.schedule, 0, jit::interp::ops_baseline());
  size_t guards = 0, guarded = 0;
  for (size_t i = 0; i < code.varying.size(); ++i)
    if (!code.varying[i].fn) {
      ++guards;
      guarded += code.varying[i].out - i - 1;
    }
  CHECK(guards == 1);
  CHECK(guarded == 22);  // ten roots, ten sums, the last one made canonical, the sign

  std::vector<float> in(3000), out(3000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  for (const bool some : {false, true}) {
    if (some) in[2100] = -1;
    run(p, *jit::interpreter(p), {3000}, {linear(in), linear(out)});
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] > 0) CHECK(out[i] == in[i] * 2);
      else CHECK(out[i] != out[i]);
  }
}

TEST_CASE("two stores that swap their tensors in place") {
  Builder b(1, 0);
  const Val x = load(b, DType::f32, 1), y = load(b, DType::f32, 1);
  store(b, y, 1);
  store(b, x, 1);
  const jit::Program p = program(b);
  // Views are numbered as they were added: x, y, then what holds y and what holds x.
  for (const size_t n : {size_t{5}, size_t{1024}, size_t{5000}}) {
    std::vector<float> u(n), v(n);
    for (size_t i = 0; i < n; ++i) u[i] = static_cast<float>(i), v[i] = -static_cast<float>(i) - 1;
    run(p, *jit::interpreter(p), {static_cast<int64_t>(n)}, {linear(u), linear(v), linear(u), linear(v)});
    bool right = true;
    for (size_t i = 0; i < n; ++i) right &= v[i] == static_cast<float>(i) && u[i] == -static_cast<float>(i) - 1;
    CHECK(right);
  }
}

TEST_CASE("a dot product of computed operands follows the chains of fma") {
  Builder b(2, 1);
  const Val x = load(b, DType::f32, 5), y = load(b, DType::f32, 6);
  store(b, (x * 3.0).bin(Prim::fold_dot, y + 1.0), 3);
  const jit::Program p = program(b);
  const size_t m = 3, n = 70, k = 600;
  std::vector<float> u(m * k), v(k * n), out(m * n);
  for (size_t i = 0; i < u.size(); ++i) u[i] = static_cast<float>(i % 101) * 0.37f - 11;
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 89) * 0.11f - 3;
  jit::ViewArg a = linear(u), c = linear(v), o = linear(out);
  a.stride[0] = 4 * k, a.stride[1] = 0, a.stride[2] = 4;
  c.stride[0] = 0, c.stride[1] = 4, c.stride[2] = 4 * n;
  o.stride[0] = 4 * n, o.stride[1] = 4;
  run(p, *jit::interpreter(p), {m, n, k}, {a, c, o});
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      float sum = -0.0f;
      for (size_t k0 = 0; k0 < k; k0 += 256) {
        float chain = -0.0f;
        for (size_t e = k0; e < std::min(k, k0 + 256); ++e)
          chain = std::fma(u[i * k + e] * 3.0f, v[e * n + j] + 1.0f, chain);
        sum = sum + chain;
      }
      CHECK(out[i * n + j] == sum);
    }
}

TEST_CASE("long chains need few strips") {
  Builder b(1, 0);
  const Val x = load(b, DType::f32, 1);
  Val y = x;
  for (int i = 0; i < 200; ++i) y = fma(y, x, static_cast<double>(i));
  store(b, y, 1);
  const jit::Program p = program(b);
  const jit::interp::Code code = jit::interp::compile_sweep(p.kernel, p.schedule, 0, jit::interp::ops_baseline());
  CHECK(code.strips <= 2);
  CHECK(code.lanes == loop::strip_lanes);
}
