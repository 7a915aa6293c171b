// Known faults of ops that decompose: which index an extreme has, statistics of large means, masked rows, quantisation
// at its edges. The right values are literals.
#include <doctest/doctest.h>

#include <limits>

#include "check.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

namespace {

constexpr float nan32 = std::numeric_limits<float>::quiet_NaN(), inf32 = std::numeric_limits<float>::infinity();

NamedAttr axes(std::vector<int64_t> v) { return {"axes", Attr::of_ints(std::move(v))}; }
NamedAttr axis(int64_t v) { return {"axis", Attr::of_int(v)}; }

void expect(Net& net, const std::vector<Array>& inputs, const std::vector<Array>& want) {
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const std::vector<Array> got = run(*compile(g, way), inputs, Layout::compact, Layout::compact, way.threads);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string text = difference(want[i], got[i]);
      INFO(way.name, ", output ", i, ": ", text);
      CHECK(text.empty());
    }
  }
}

Array index(int64_t i) { return {DType::i64, {}, {static_cast<uint64_t>(i)}}; }

template <class T>
void expect_arguments(DType type, const std::vector<T>& x, int64_t most, int64_t least) {
  Net net;
  const ValueId v = net.in("x", type, {net.sym("N")});
  net.out(net.op(OpCode::op_argmax, {v}));
  net.out(net.op(OpCode::op_argmin, {v}));
  expect(net, {array(type, {static_cast<int64_t>(x.size())}, x)}, {index(most), index(least)});
}

}  // namespace

TEST_CASE("argmax and argmin: the first NaN wins, else the first occurrence") {
  expect_arguments<float>(DType::f32, {2, nan32, 7, 4, 1}, 1, 1);
  expect_arguments<float>(DType::f32, {nan32, 2, 7, 4, 1}, 0, 0);
  expect_arguments<float>(DType::f32, {2, 4, 7, 1, nan32}, 4, 4);
  expect_arguments<float>(DType::f32, {2, nan32, 7, nan32}, 1, 1);
  expect_arguments<float>(DType::f32, {3, 1, 1, 2}, 0, 1);
  expect_arguments<float>(DType::f32, {-inf32, -inf32, -inf32}, 0, 0);
  expect_arguments<float>(DType::f32, {inf32, inf32}, 0, 0);
  expect_arguments<float>(DType::f32, {0.0f, -0.0f, 0.0f}, 0, 0);  // equal zeros
  expect_arguments<double>(DType::f64, {1, 3, 3, std::numeric_limits<double>::quiet_NaN()}, 3, 3);
  expect_arguments<int32_t>(DType::i32, {INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX}, 2, 0);
  expect_arguments<int64_t>(DType::i64, {INT64_MAX, INT64_MIN, INT64_MAX}, 0, 1);
  expect_arguments<uint8_t>(DType::u8, {255, 0, 255, 0}, 0, 1);
  expect_arguments<uint8_t>(DType::boolean, {0, 1, 0, 1}, 1, 0);
  expect_arguments<uint8_t>(DType::boolean, {0, 0}, 0, 0);
}

TEST_CASE("argmax does not depend on how a row is split into lanes") {
  for (const int64_t n : {1, 7, 17, 64, 1027, 70001}) {
    Net net;
    const ValueId v = net.in("x", DType::f32, {net.sym("M"), net.sym("N")});
    net.out(net.op(OpCode::op_argmax, {v}, {axis(1)}));
    net.out(net.op(OpCode::op_argmin, {v}, {axis(1), {"keepdims", Attr::of_bool(true)}}));
    net.out(net.op(OpCode::op_argmax, {v}, {axis(0)}));
    // A row of ties but for its ends, a constant row, and one whose only NaN is the last but one.
    std::vector<float> x(static_cast<size_t>(3 * n), 5);
    const auto size = static_cast<size_t>(n);
    x[0] = 4;
    x[size - 1] = n > 1 ? 4 : 5;
    if (n > 2) x[3 * size - 2] = nan32;
    std::vector<int64_t> most{n > 2 ? 1 : 0, 0, n > 2 ? n - 2 : 0}, least{0, 0, n > 2 ? n - 2 : 0}, columns(size, 0);
    columns[0] = 1;
    if (n > 1) columns[size - 1] = 1;
    else columns[0] = 0;
    if (n > 2) columns[size - 2] = 2;
    if (n == 1) x[0] = 5;
    expect(net, {floats({3, n}, x)},
           {array(DType::i64, {3}, most), array(DType::i64, {3, 1}, least), array(DType::i64, {n}, columns)});
  }
}

TEST_CASE("argmax of nothing is refused: when the graph is built, or in the run where it is known only then") {
  Net fixed;
  const ValueId none = fixed.in("x", DType::f32, {fixed.num(3), fixed.num(0)});
  CHECK_THROWS_WITH_AS(fixed.op(OpCode::op_argmax, {none}),
                       "argmax: %x: f32[3, 0] has nothing along axis 1: no index is that of its maximum", Error);
  CHECK(fixed.g->value(fixed.op(OpCode::op_argmin, {none}, {axis(0)})).shape.size() == 1);
  Net net;
  net.out(net.op(OpCode::op_argmin, {net.in("x", DType::f32, {net.sym("M"), net.sym("N")})}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const auto e = compile(g, way);
    CHECK(run(*e, std::vector{floats({0, 2}, {})})[0].bits.empty());
    try {
      run(*e, std::vector{floats({2, 0}, {})});
      FAIL_CHECK("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid_argument);
      INFO(error.message());
      CHECK(std::string(error.message()).find("N") != std::string::npos);
    }
  }
}

TEST_CASE("variance of large means, of one element and of none") {
  const auto net_of = [](int64_t ddof) {
    Net net;
    const ValueId x = net.in("x", DType::f32, {net.sym("M"), net.sym("N")});
    const NamedAttr by{"ddof", Attr::of_int(ddof)};
    net.out(net.op(OpCode::op_reduce_var, {x}, {axes({1}), by}));
    net.out(net.op(OpCode::op_reduce_std, {x}, {axes({1}), by}));
    return net;
  };
  const auto two = [](float a, float b) { return std::vector{floats({1}, {a}), floats({1}, {b})}; };
  // E[x^2] - E[x]^2 in f32 gives 0, or less than 0, here.
  Net zero = net_of(0);
  expect(zero, {floats({1, 4}, {40000, 40001, 40002, 40003})}, two(1.25f, 1.1180340f));
  Net many = net_of(0);
  expect(many, {floats({1, 256}, std::vector<float>(256, 1234.0f))}, two(0, 0));
  // The mean is rounded to 10000003; (9 + 4 + 0 + 16) / 4, where x * (x - mean) would be off by the mean itself.
  Net rounded = net_of(0);
  expect(rounded, {floats({1, 4}, {10000000, 10000001, 10000003, 10000007})}, two(7.25f, 2.6925824f));
  Net corrected = net_of(1);
  expect(corrected, {floats({1, 3}, {1, 2, 3})}, two(1, 1));
  for (const int64_t ddof : {1, 2}) {
    Net one = net_of(ddof);
    expect(one, {floats({1, 1}, {7})}, two(nan32, nan32));  // 0 / 0
    Net none = net_of(ddof);
    expect(none, {floats({1, 0}, {})}, two(nan32, nan32));
  }
}

TEST_CASE("log-sum-exp and log_softmax of infinities, of large values and of masked rows") {
  Net net;
  const ValueId x = net.in("x", DType::f32, {net.sym("M"), net.sym("N")});
  net.out(net.op(OpCode::op_reduce_logsumexp, {x}, {axes({1})}));
  expect(net, {floats({6, 2}, {-inf32, -inf32, 0, -inf32, inf32, 0, inf32, -inf32, nan32, 1, 1000, -inf32})},
         {floats({6}, {-inf32, 0, inf32, inf32, nan32, 1000})});
  Net none;
  none.out(
      none.op(OpCode::op_reduce_logsumexp, {none.in("x", DType::f32, {none.sym("M"), none.sym("N")})}, {axes({1})}));
  expect(none, {floats({2, 0}, {})}, {floats({2}, {-inf32, -inf32})});
  Net log;
  log.out(log.op(OpCode::op_log_softmax, {log.in("x", DType::f32, {log.sym("M"), log.sym("N")})}));
  expect(log, {floats({4, 2}, {0, -inf32, -inf32, -inf32, 0, 1e14f, inf32, 0})},
         {floats({4, 2}, {0, -inf32, nan32, nan32, -1e14f, 0, nan32, nan32})});
}

TEST_CASE("norms over groups, instances and batches keep small differences of large values") {
  // [40000, 40001, 40002, 40003] in each group: what layer_norm makes of it.
  const float y[] = {-1.3416355f, -0.4472118f, 0.4472118f, 1.3416355f};
  Net net;
  const ValueId x = net.in("x", DType::f32, {net.sym("N"), net.num(4), net.num(2)});
  net.out(net.op(OpCode::op_group_norm, {x}, {{"groups", Attr::of_int(2)}}));
  const std::vector<float> in = {40000, 40001, 40002, 40003, 40000, 40001, 40002, 40003};
  expect(net, {floats({1, 4, 2}, in)}, {floats({1, 4, 2}, {y[0], y[1], y[2], y[3], y[0], y[1], y[2], y[3]})});
  Net instance;
  instance.out(instance.op(OpCode::op_instance_norm,
                           {instance.in("x", DType::f32, {instance.sym("N"), instance.num(2), instance.num(4)})}));
  expect(instance, {floats({1, 2, 4}, in)}, {floats({1, 2, 4}, {y[0], y[1], y[2], y[3], y[0], y[1], y[2], y[3]})});
  Net batch;
  const DimId c = batch.sym("C");
  const auto parameter = [&](const char* name) { return batch.in(name, DType::f32, {c}); };
  const ValueId value = batch.in("x", DType::f32, {batch.sym("N"), c}), mean = parameter("mean"),
                var = parameter("var"), scale = parameter("scale"), bias = parameter("bias");
  batch.out(batch.op(OpCode::op_batch_norm, {value, mean, var, scale, bias}, {{"epsilon", Attr::of_float(0.0)}}));
  expect(batch,
         {floats({2, 2}, {40001, 4, 39999, nan32}), floats({2}, {40000, 2}), floats({2}, {4, 0.25f}),
          floats({2}, {1, 2}), floats({2}, {0.5f, 0})},
         {floats({2, 2}, {1, 8, 0, nan32})});
}

TEST_CASE("quantize saturates, rounds to even and takes NaN for the zero point") {
  for (const DType to : {DType::i8, DType::u8}) {
    Net net;
    const ValueId x = net.in("x", DType::f32, {net.sym("N")}), scale = net.in("scale", DType::f32, {});
    const ValueId zero = net.in("zero", to, {});
    net.out(net.op(OpCode::op_quantize, {x, scale, zero}, {{"dtype", Attr::of_dtype(to)}}));
    const std::vector<float> in = {0, 1.25f, 3.75f, -1.25f, 1e30f, -1e30f, inf32, -inf32, nan32, 0.5f, -0.5f};
    const Array sized = floats({11}, in), half = floats({}, {0.5f});
    // x / 0.5: 0, 2.5, 7.5, -2.5, ...; ties go to even; then + 3.
    if (to == DType::i8)
      expect(net, {sized, half, array<int8_t>(to, {}, {3})},
             {array<int8_t>(to, {11}, {3, 5, 11, 1, 127, -128, 127, -128, 3, 4, 2})});
    else
      expect(net, {sized, half, array<uint8_t>(to, {}, {3})},
             {array<uint8_t>(to, {11}, {3, 5, 11, 1, 255, 0, 255, 0, 3, 4, 2})});
  }
  Net by_zero;  // 0 / 0 and x / 0
  const ValueId x = by_zero.in("x", DType::f32, {by_zero.sym("N")}), s = by_zero.in("s", DType::f32, {});
  by_zero.out(by_zero.op(OpCode::op_quantize, {x, s, by_zero.in("z", DType::i8, {})}));
  expect(by_zero, {floats({3}, {0, 1, -1}), floats({}, {0}), array<int8_t>(DType::i8, {}, {-7})},
         {array<int8_t>(DType::i8, {3}, {-7, 127, -128})});
  Net per_axis;
  const DimId rows = per_axis.sym("M"), cols = per_axis.sym("N");
  const ValueId q = per_axis.in("q", DType::u8, {rows, cols});
  per_axis.out(per_axis.op(OpCode::op_dequantize,
                           {q, per_axis.in("s", DType::f32, {rows}), per_axis.in("z", DType::u8, {rows})}, {axis(0)}));
  expect(per_axis,
         {array<uint8_t>(DType::u8, {2, 2}, {0, 255, 128, 1}), floats({2}, {0.5f, 2}),
          array<uint8_t>(DType::u8, {2}, {255, 128})},
         {floats({2, 2}, {-127.5f, 0, 0, -254})});
}
