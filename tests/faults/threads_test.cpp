// One executable used by several threads, and a floating-point environment that is not the usual one.
#include <doctest/doctest.h>
#include <xmmintrin.h>

#include <cfenv>
#include <cmath>
#include <thread>

#include "check.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

std::shared_ptr<const ir::Graph> guarded_division() {
  Net net;
  const ir::DimId n = net.sym("N");
  const ValueId d = net.in("", DType::f32, {n}), s = net.in("", DType::f32, {n}), c = net.in("", DType::f32, {n});
  const ValueId none = net.op(OpCode::op_eq, {c, net.g->scalar(DType::f32, 0.0)});
  net.out(net.op(OpCode::op_select, {none, d, net.op(OpCode::op_div, {s, c})}));
  // An intermediate buffer each run needs for itself.
  net.out(net.op(OpCode::op_sub, {d, net.op(OpCode::op_reduce_max, {s}, {})}));
  return net.done();
}

constexpr uint32_t flushing = 0x8040;   // FTZ and DAZ
constexpr uint32_t all_traps = 0x1f80;  // masks; cleared, every exception traps

// MXCSR as a hostile host may have it; the rest of the test must not compute with floats meanwhile.
class Mxcsr {
 public:
  explicit Mxcsr(uint32_t value) : saved_(_mm_getcsr()) { _mm_setcsr(value); }
  ~Mxcsr() { _mm_setcsr(saved_); }

 private:
  uint32_t saved_;
};

}  // namespace

TEST_CASE("one executable, eight threads") {
  const auto g = guarded_division();
  std::vector<Array> inputs;
  for (uint64_t i = 0; i < 3; ++i) inputs.push_back(random_array(i, DType::f32, {200000}));
  for (size_t i = 0; i < inputs[2].bits.size(); i += 7) inputs[2].bits[i] = 0;
  for (const Way& way : main_ways()) {
    const auto e = compile(g, way);
    const std::vector<Array> want = run(*e, inputs);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i)
          if (run(*e, inputs, Layout::compact, Layout::compact, t % 2 == 0) != want) ++wrong;
      });
    for (std::thread& t : threads) t.join();
    INFO(way.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("compiling and running under any MXCSR gives the same bits and leaves it alone") {
  Net net;
  const ir::DimId b = net.sym("B"), c = net.sym("C");
  const ValueId x = net.in("", DType::f32, {b, c}), one = net.in("", DType::f32, {});
  net.out(net.op(OpCode::op_mul, {x, one}));  // denormals survive
  net.out(net.op(OpCode::op_tanh, {net.op(OpCode::op_div, {x, net.g->scalar(DType::f32, 3.0)})}));
  net.out(net.op(OpCode::op_softmax, {x}));
  net.out(
      net.op(OpCode::op_div, {net.op(OpCode::op_exp, {net.g->scalar(DType::f32, 0.3)}), x}));  // folded, and by zero
  net.out(
      net.op(OpCode::op_layer_norm,
             {net.op(OpCode::op_cast, {x}, {{"to", ir::Attr::of_dtype(DType::f64)}}), net.g->scalar(DType::f64, 0.1)},
             {{"epsilon", ir::Attr::of_float(0.1)}}));
  const auto g = net.done();
  std::vector<Array> inputs = {random_array(3, DType::f32, {300, 257}), floats({}, {1})};
  inputs[0].bits[0] = to_bits(0.1875f * 0x1p-124f);
  inputs[0].bits[1] = 0;
  for (const Way& way : main_ways()) {
    const std::vector<Array> want = run(*compile(g, way), inputs);
    CHECK(from_bits<float>(want[0].bits[0]) == 0.1875f * 0x1p-124f);
    for (const uint32_t mxcsr : {0x1f80u | flushing, 0x1f80u | 0x4000u /* upward */, 0x1f80u | 0x6000u /* to zero */,
                                 all_traps & 0u, flushing | 0x2000u}) {
      std::vector<Array> got;
      std::string fault;
      uint32_t after = 0;
      {
        const Mxcsr hostile(mxcsr);
        try {
          got = run(*compile(g, way, make_context(3)), inputs, Layout::compact, Layout::compact, true);
        } catch (const Error& e) {
          fault = e.message();
        }
        after = _mm_getcsr();
      }
      INFO(way.name, " under ", mxcsr, ": ", fault);
      CHECK(after == mxcsr);
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        const std::string text = difference(want[i], got[i]);
        INFO("output ", i, ": ", text);
        CHECK(text.empty());
      }
    }
  }
}

TEST_CASE("sticky flags of the caller survive a run that raises others") {
  Net net;
  net.out(net.op(OpCode::op_div, {net.in("", DType::f32, {net.sym("N")}), net.g->scalar(DType::f32, 0.0)}));
  const auto g = net.done();
  for (const Way& way : main_ways()) {
    const auto e = compile(g, way);
    const std::vector<Array> x = {floats({3}, {1, 2, 3})};
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_UNDERFLOW);
    run(*e, x);
    INFO(way.name);
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == FE_UNDERFLOW);
    std::feclearexcept(FE_ALL_EXCEPT);
  }
}

TEST_CASE("the host's worker threads get their MXCSR back") {
  // A parallel_for whose threads have a mode of their own.
  struct Strict final : runtime::Parallel {
    std::atomic<int> changed{0};
    uint32_t width() const noexcept override { return 4; }
    void run(uint32_t tasks, Task fn, void* context) override {
      std::vector<std::thread> threads;
      for (uint32_t i = 0; i < tasks; ++i)
        threads.emplace_back([=, this] {
          _mm_setcsr(0x1f80 | flushing);
          fn(context, i);
          if (_mm_getcsr() != (0x1f80 | flushing)) ++changed;
        });
      for (std::thread& t : threads) t.join();
    }
  } strict;
  Net net;
  const ValueId x = net.in("", DType::f32, {net.sym("N")});
  net.out(net.op(OpCode::op_mul, {x, net.g->scalar(DType::f32, 0.5)}));
  const auto g = net.done();
  std::vector<float> in(300000, 0x1p-127f), out(300000);
  int64_t shape[] = {300000};
  const runtime::Tensor from{in.data(), {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0},
      to{out.data(), {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0};
  const runtime::Tensor *ins[] = {&from}, *outs[] = {&to};
  for (const Way& way : main_ways()) {
    compile(g, way)->run(ins, outs, {.parallel = &strict});
    INFO(way.name);
    CHECK(strict.changed == 0);
    CHECK(std::all_of(out.begin(), out.end(), [](float v) { return v == 0x1p-128f; }));
  }
}
