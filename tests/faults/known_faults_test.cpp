// Faults that fusing compilers and array engines are known for, each as its whole kind, with the right values as
// literals.
#include <bit>
#include <cmath>
#include <tuple>

#include "patterns.h"

using namespace ingot;
using namespace ingot::faults;

TEST_CASE("max, min and clamp pass a NaN from either operand") {
  expect(op(OpCode::op_max), std::vector<float>{0, nan32, nan32, 2}, std::vector<float>{-3, nan32, -1, 2},
         std::vector<float>{0, 0, nan32, 0});
  expect(op(OpCode::op_min), std::vector<float>{-3, nan32, nan32, 0}, std::vector<float>{-3, nan32, -1, 2},
         std::vector<float>{0, 0, nan32, 0});
  expect(op(OpCode::op_max), std::vector<double>{0, nan64, nan64, 2}, std::vector<double>{-3, nan64, -1, 2},
         std::vector<double>{0, 0, nan64, 0});
  const auto clamp = [](Net& n, const std::vector<ValueId>& v) {
    return n.op(OpCode::op_clamp,
                {v[0], n.g->scalar(DType::f32, 0.5), n.g->scalar(DType::f32, std::numeric_limits<double>::infinity())});
  };
  expect<float>(clamp, {0.5f, nan32, 0.5f, 2}, std::vector<float>{-3, nan32, -1, 2});
  expect(op(OpCode::op_relu), std::vector<float>{0, nan32, 0, 2}, std::vector<float>{-3, nan32, -0.0f, 2});
}

TEST_CASE("integer division truncates, wraps, and never traps") {
  expect(op(OpCode::op_div), std::vector<int32_t>{-3, 3, -3, 3, 0, 0, -1, -1, 0, INT32_MIN},
         std::vector<int32_t>{-7, 7, 7, -7, -1, 1, -5, 5, 3, INT32_MIN},
         std::vector<int32_t>{2, 2, -2, -2, 3, -3, 3, -3, 0, -1});
  expect(op(OpCode::op_div), std::vector<int8_t>{-4, 0, -128}, std::vector<int8_t>{120, 5, -128},
         std::vector<int8_t>{-27, 0, -1});
  expect(op(OpCode::op_div), std::vector<int16_t>{-4444, 0, INT16_MIN}, std::vector<int16_t>{31111, 5, INT16_MIN},
         std::vector<int16_t>{-7, 0, -1});
  expect(op(OpCode::op_div), std::vector<int64_t>{-3, 0, INT64_MIN, 1},
         std::vector<int64_t>{-7, 1, INT64_MIN, INT64_MAX}, std::vector<int64_t>{2, 0, -1, INT64_MAX});
  expect(op(OpCode::op_div), std::vector<uint8_t>{85, 0}, std::vector<uint8_t>{255, 7}, std::vector<uint8_t>{3, 0});
}

TEST_CASE("small integers wrap in their own type before they widen") {
  const auto widened = [](Net& n, const std::vector<ValueId>& v) {
    return n.op(OpCode::op_cast, {n.op(OpCode::op_add, v)}, {{"to", Attr::of_dtype(DType::i16)}});
  };
  expect<int16_t>(widened, {0, 44}, std::vector<uint8_t>{128, 200}, std::vector<uint8_t>{128, 100});
  const auto above = [](Net& n, const std::vector<ValueId>& v) {
    return n.op(OpCode::op_gt, {n.op(OpCode::op_add, v), n.g->scalar(DType::u8, 50.0)});
  };
  expect<bool>(above, {false, true}, std::vector<uint8_t>{200, 30}, std::vector<uint8_t>{100, 30});
}

TEST_CASE("float to integer truncates, saturates, and takes NaN for 0") {
  const std::vector<float> x = {300, nan32, inf32, -inf32, 50.9f, -50.9f, -0.5f, 3e9f, -3e9f};
  expect(cast_to(DType::i8), std::vector<int8_t>{127, 0, 127, -128, 50, -50, 0, 127, -128}, x);
  expect(cast_to(DType::u8), std::vector<uint8_t>{255, 0, 255, 0, 50, 0, 0, 255, 0}, x);
  expect(cast_to(DType::i32), std::vector<int32_t>{300, 0, INT32_MAX, INT32_MIN, 50, -50, 0, INT32_MAX, INT32_MIN}, x);
  expect(cast_to(DType::i64), std::vector<int64_t>{300, 0, INT64_MAX, INT64_MIN, 50, -50, 0, 3000000000, -3000000000},
         x);
  expect(cast_to(DType::boolean), std::vector<bool>{true, true, true, true, true, true, true, true, true}, x);
  expect(cast_to(DType::i64), std::vector<int64_t>{INT64_MAX, INT64_MIN, 0, 9007199254740994},
         std::vector<double>{9.3e18, -9.3e18, nan64, 9007199254740994.0});
}

TEST_CASE("long sums of 0.1 do not drift") {
  // 0.1f a million and ten million times; the values are numpy's in the same order (tests/data/sums.py).
  Net net;
  const ValueId x = net.in("", DType::f32, {net.sym("N")});
  net.out(net.op(OpCode::op_reduce_sum, {x}));
  net.out(net.op(OpCode::op_reduce_mean, {x}));
  const auto g = net.done();
  for (const Way& way : main_ways()) {
    const auto e = compile(g, way);
    for (const auto& [n, bits] : {std::pair<int64_t, uint32_t>{1000000, 0x47c35002}, {10000000, 0x49742402}}) {
      float value = 0.1f, sum = 0, mean = 0;
      int64_t shape[] = {n}, stride[] = {0};
      const runtime::Tensor in{&value, {1, 0}, 1, {2, 32, 1}, shape, stride, 0};
      const runtime::Tensor out0{&sum, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0},
          out1{&mean, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
      const runtime::Tensor *ins[] = {&in}, *outs[] = {&out0, &out1};
      e->run(ins, outs, {});
      INFO(way.name, " ", n);
      CHECK(std::bit_cast<uint32_t>(sum) == bits);
      CHECK(std::abs(sum / static_cast<float>(n) - 0.1f) < 1e-7f);
      CHECK(mean == sum / static_cast<float>(n));
    }
  }
}

TEST_CASE("a mean is the sum divided by n, once") {
  // 5 / 3, 9 / 5 and 3 / 7, each one ulp from the product with the rounded reciprocal.
  for (const auto& [n, sum, want] :
       {std::tuple{3, 5.0f, 0x1.aaaaaap+0f}, {5, 9.0f, 0x1.ccccccp+0f}, {7, 3.0f, 0x1.b6db6ep-2f}}) {
    Net net;
    net.out(net.op(OpCode::op_reduce_mean, {net.in("", DType::f32, {net.sym("N")})}));
    std::vector<float> x(static_cast<size_t>(n), 0);
    x[1] = sum;
    const auto g = net.done();
    for (const Way& way : all_ways()) {
      INFO(std::string(way.name), ", ", n);
      CHECK(run(*compile(g, way), std::vector{floats({n}, x)})[0] == floats({}, {want}));
    }
  }
}

TEST_CASE("a product adds up chains of 256, from left to right") {
  // In a chain that begins with 1e8, whose ulp is 8, ones are lost; 40 of the next chain are not.
  for (const int64_t columns : {1, 3, 70}) {
    Net net;
    const DimId k = net.sym("K");
    const ValueId x = net.in("", DType::f32, {net.sym("M"), k}), y = net.in("", DType::f32, {k, net.sym("N")});
    net.out(net.op(OpCode::op_matmul, {x, y}));
    std::vector<float> row(256 + 40, 1);
    row[0] = 1e8f;
    const std::vector<float> ones(row.size() * static_cast<size_t>(columns), 1);
    const std::vector inputs{floats({1, 296}, row), floats({296, columns}, ones)};
    const std::vector<float> want(static_cast<size_t>(columns), 1e8f + 40);
    const auto g = net.done();
    for (const Way& way : all_ways()) {
      INFO(std::string(way.name), ", ", columns);
      CHECK(run(*compile(g, way), inputs)[0] == floats({1, columns}, want));
    }
  }
}

TEST_CASE("x*0, x-x and x/x are not folded") {
  const auto by_false = [](Net& n, const std::vector<ValueId>& v) {
    return n.op(OpCode::op_mul, {v[0], n.op(OpCode::op_cast, {v[1]}, {{"to", Attr::of_dtype(DType::f32)}})});
  };
  expect<float>(by_false, {nan32, nan32, -0.0f}, std::vector<float>{nan32, inf32, -2},
                std::vector<bool>{false, false, false});
  const auto by_zero = [](Net& n, const std::vector<ValueId>& v) {
    return n.op(OpCode::op_mul, {v[0], n.g->scalar(DType::f32, 0.0)});
  };
  expect<float>(by_zero, {nan32, nan32, -0.0f}, std::vector<float>{nan32, inf32, -2});
  const auto minus_self = [](Net& n, const std::vector<ValueId>& v) { return n.op(OpCode::op_sub, {v[0], v[0]}); };
  expect<float>(minus_self, {nan32, nan32, 0}, std::vector<float>{nan32, inf32, 0});
  expect<double>(minus_self, {nan64, nan64, 0}, std::vector<double>{nan64, inf64, 0});
  const auto by_self = [](Net& n, const std::vector<ValueId>& v) { return n.op(OpCode::op_div, {v[0], v[0]}); };
  expect<float>(by_self, {nan32, nan32, nan32}, std::vector<float>{nan32, inf32, 0});
}

TEST_CASE("x + 0 is not x, x + (-0) is") {
  const auto reciprocal = [](Net& n, const std::vector<ValueId>& v) {
    const ValueId sum = n.op(OpCode::op_add, {n.op(OpCode::op_ceil, {v[0]}), n.g->scalar(DType::f32, 0.0)});
    return n.op(OpCode::op_div, {n.g->scalar(DType::f32, 1.0), sum});
  };
  expect<float>(reciprocal, {inf32, inf32, inf32}, std::vector<float>{-0.5f, -0.1f, -0.9f});
  const auto neutral = [](Net& n, const std::vector<ValueId>& v) {
    const ValueId sum = n.op(OpCode::op_add, {n.op(OpCode::op_ceil, {v[0]}), n.g->scalar(DType::f32, -0.0)});
    return n.op(OpCode::op_div, {n.g->scalar(DType::f32, 1.0), sum});
  };
  expect<float>(neutral, {-inf32, -inf32, 1}, std::vector<float>{-0.5f, -0.1f, 0.5f});
  expect(op(OpCode::op_neg), std::vector<float>{-0.0f, 0.0f}, std::vector<float>{0.0f, -0.0f});
  expect(op(OpCode::op_min), std::vector<float>{-0.0f, -0.0f, -0.0f}, std::vector<float>{-0.0f, 0.0f, -0.0f},
         std::vector<float>{0.0f, -0.0f, -0.0f});
  expect(op(OpCode::op_max), std::vector<float>{0.0f, 0.0f, -0.0f}, std::vector<float>{-0.0f, 0.0f, -0.0f},
         std::vector<float>{0.0f, -0.0f, -0.0f});
}

TEST_CASE("layer_norm of large means") {
  Net net;
  const DimId b = net.sym("B"), c = net.sym("C");
  const ValueId x = net.in("", DType::f32, {b, c}), scale = net.in("", DType::f32, {c});
  net.out(net.op(OpCode::op_layer_norm, {x, scale}));
  const auto g = net.done();
  const std::vector<float> want = {-1.34164f, -0.44721f, 0.44721f, 1.34164f};
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    for (const int64_t rows : {1, 17, 1027}) {
      Array in{DType::f32, {rows, 4}, {}};
      for (int64_t i = 0; i < rows * 4; ++i) in.bits.push_back(to_bits(40000.0f + static_cast<float>(i % 4)));
      const Array out = run(*e, std::vector{in, floats({4}, {1, 1, 1, 1})})[0];
      for (size_t i = 0; i < out.bits.size(); ++i) CHECK(std::abs(from_bits<float>(out.bits[i]) - want[i % 4]) < 1e-5f);
    }
    const Array flat = run(
        *e, std::vector{floats({1, 256}, std::vector<float>(256, 1234)), floats({256}, std::vector<float>(256, 1))})[0];
    for (const uint64_t bits : flat.bits) CHECK(bits == 0);
  }
}

TEST_CASE("softmax of huge differences and of masked rows") {
  Net net;
  net.out(net.op(OpCode::op_softmax, {net.in("", DType::f32, {net.sym("B"), net.sym("C")})}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    const auto rows = [&](std::vector<int64_t> shape, const std::vector<float>& v) {
      return run(*e, std::vector{floats(std::move(shape), v)})[0];
    };
    CHECK(rows({1, 3}, {-0.9026e14f, 0.7504e14f, 0.9836e14f}) == floats({1, 3}, {0, 0, 1}));
    CHECK(rows({2, 2}, {-inf32, 1, -inf32, -inf32}) == floats({2, 2}, {0, 1, nan32, nan32}));
    std::vector<float> masked(1027, -inf32), want(1027, 0);
    masked[500] = -3;
    want[500] = 1;
    CHECK(rows({1, 1027}, masked) == floats({1, 1027}, want));
  }
}

TEST_CASE("log_softmax spelled out") {
  Net net;
  const ValueId x = net.in("", DType::f32, {net.sym("C")});
  const auto fold = [&](OpCode code, ValueId v) {
    return net.op(code, {v}, {axes({0}), {"keepdims", Attr::of_bool(true)}});
  };
  const ValueId c = net.op(OpCode::op_sub, {x, fold(OpCode::op_reduce_max, x)});
  net.out(
      net.op(OpCode::op_sub, {c, net.op(OpCode::op_log, {fold(OpCode::op_reduce_sum, net.op(OpCode::op_exp, {c}))})}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const auto e = compile(g, way);
    const Array out = run(*e, std::vector{floats({3}, {1, 2, 3})})[0];
    const double want[] = {-2.40760596, -1.40760596, -0.40760596};
    for (size_t i = 0; i < 3; ++i) CHECK(std::abs(static_cast<double>(from_bits<float>(out.bits[i])) - want[i]) < 3e-7);
    CHECK(run(*e, std::vector{floats({2}, {0, -inf32})})[0] == floats({2}, {0, -inf32}));
  }
}

TEST_CASE("negative strides, many times, on threads") {
  std::vector<float> memory(600000), out(300000);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  Net net;
  net.out(
      net.op(OpCode::op_sub, {net.in("", DType::f32, {net.sym("A"), net.sym("B")}), net.g->scalar(DType::f32, 0.25)}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const auto e = compile(g, way);
    // memory as [300, 1000, 2], [::-1, :, 0]
    int64_t shape[] = {300, 1000}, strides[] = {-2000, 2};
    const runtime::Tensor in{memory.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 299 * 2000 * sizeof(float)};
    const runtime::Tensor to{out.data(), {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
    const runtime::Tensor *ins[] = {&in}, *outs[] = {&to};
    for (int i = 0; i < 20; ++i) {
      std::fill(out.begin(), out.end(), 0.0f);
      e->run(ins, outs, {});
      INFO(way.name, " run ", i);
      REQUIRE(out[0] == 597999.75f);
      REQUIRE(out[299999] == 1997.75f);
    }
  }
}

TEST_CASE("an output that walks its memory backwards") {
  Net net;
  const DimId n = net.sym("N");
  net.out(net.op(OpCode::op_mul, {net.in("", DType::f32, {n}), net.g->scalar(DType::f32, 2.0)}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    float x[] = {0, 1, 2, 3, 4, 5}, out[6] = {};
    int64_t shape[] = {6}, stride[] = {-1};
    const runtime::Tensor in{x, {1, 0}, 1, {2, 32, 1}, shape, stride, 5 * sizeof(float)},
        to{out, {1, 0}, 1, {2, 32, 1}, shape, stride, 5 * sizeof(float)};
    const runtime::Tensor *ins[] = {&in}, *outs[] = {&to};
    compile(g, way)->run(ins, outs, {});
    INFO(way.name);
    for (int i = 0; i < 6; ++i) CHECK(out[i] == 2.0f * static_cast<float>(i));
  }
}

TEST_CASE("an output that is its own input") {
  Net net;
  const DimId n = net.sym("N");
  const ValueId a = net.in("", DType::f32, {n}), b = net.in("", DType::f32, {});
  net.out(net.op(OpCode::op_add, {a, net.op(OpCode::op_mul, {b, net.g->scalar(DType::f32, 2.0)})}));
  const auto g = net.done();
  for (const Way& way : all_ways())
    for (const int64_t size : sizes) {
      std::vector<float> x(static_cast<size_t>(size), 1);
      float two = 2;
      int64_t shape[] = {size};
      const runtime::Tensor t{x.data(), {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0},
          s{&two, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
      const runtime::Tensor *ins[] = {&t, &s}, *outs[] = {&t};
      compile(g, way)->run(ins, outs, {});
      INFO(way.name, " ", size);
      CHECK(std::all_of(x.begin(), x.end(), [](float v) { return v == 5; }));
    }
}

TEST_CASE("nothing to sum or to multiply still writes the result") {
  Net product;
  const DimId m = product.sym("M"), k = product.sym("K"), n = product.sym("N");
  product.out(product.op(OpCode::op_matmul, {product.in("", DType::f32, {m, k}), product.in("", DType::f32, {k, n})}));
  expect_all(product, {floats({4, 0}, {}), floats({0, 4}, {})}, {floats({4, 4}, std::vector<float>(16, 0))});

  Net sums;
  const ValueId x = sums.in("", DType::f32, {sums.sym("A"), sums.sym("B")});
  for (const OpCode code : {OpCode::op_reduce_sum, OpCode::op_reduce_prod, OpCode::op_reduce_max, OpCode::op_reduce_min,
                            OpCode::op_reduce_mean})
    sums.out(sums.op(code, {x}, {axes({1})}));
  const auto three = [](float v) { return floats({3}, {v, v, v}); };
  expect_all(sums, {floats({3, 0}, {})}, {three(0), three(1), three(-inf32), three(inf32), three(nan32)});
}

TEST_CASE("a dim that is 1 once broadcasts then, and only then") {
  Net net;
  const ValueId x = net.in("", DType::f32, {net.sym("X")}), y = net.in("", DType::f32, {net.sym("Y")});
  const NamedAttr rows{"shape", Attr::of_ints({-1, 4})};
  net.out(net.op(OpCode::op_mul, {net.op(OpCode::op_reshape, {x}, {rows}), net.op(OpCode::op_reshape, {y}, {rows})}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    INFO(way.name);
    const auto e = compile(g, way);
    const Array four = floats({4}, {1, 2, 3, 4}), eight = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(run(*e, std::vector{four, eight})[0] == floats({2, 4}, {1, 4, 9, 16, 5, 12, 21, 32}));
    CHECK(run(*e, std::vector{eight, eight})[0] == floats({2, 4}, {1, 4, 9, 16, 25, 36, 49, 64}));
    CHECK(run(*e, std::vector{eight, four})[0] == floats({2, 4}, {1, 4, 9, 16, 5, 12, 21, 32}));
    CHECK(run(*e, std::vector{four, four})[0] == floats({1, 4}, {1, 4, 9, 16}));
  }
}

TEST_CASE("kernels of one name and shape are told apart by what they do") {
  const auto context = make_context();
  for (const Way& way : all_ways()) {
    const auto graph = [](OpCode code, double by) {
      Net n;
      n.out(n.op(code, {n.in("x", DType::f32, {n.sym("N")}), n.g->scalar(DType::f32, by)}));
      return n.done();
    };
    INFO(way.name);
    const std::vector<Array> x = {floats({3}, {0, 1, 2})};
    CHECK(run(*compile(graph(OpCode::op_mul, 2), way, context), x)[0] == floats({3}, {0, 2, 4}));
    CHECK(run(*compile(graph(OpCode::op_add, 100), way, context), x)[0] == floats({3}, {100, 101, 102}));
  }
}

TEST_CASE("values that are used again and again: 64 levels of max(y, y/2)") {
  Net net;
  ValueId y = net.in("", DType::f32, {net.sym("N")});
  for (int i = 0; i < 64; ++i)
    y = net.op(OpCode::op_max, {y, net.op(OpCode::op_mul, {y, net.g->scalar(DType::f32, 0.5)})});
  net.out(y);
  expect_all(net, {floats({1}, {3})}, {floats({1}, {3})});
}
