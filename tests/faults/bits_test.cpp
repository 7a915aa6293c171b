// Known faults of integer division and shifts, of narrow floats, and of functions near their zeros. The right values
// are literals.
#include <cmath>
#include <cstring>

#include "patterns.h"

using namespace ingot;
using namespace ingot::faults;

namespace {

using Operands = std::vector<ValueId>;

// One operand of f16 or bf16 made of f32, and the result as f32 again.
std::function<ValueId(Net&, const Operands&)> within(DType narrow, OpCode code, std::vector<NamedAttr> attrs = {}) {
  return [=](Net& n, const Operands& v) {
    const ValueId x = n.op(OpCode::op_cast, {v[0]}, {{"to", Attr::of_dtype(narrow)}});
    return n.op(OpCode::op_cast, {n.op(code, {x}, attrs)}, {{"to", Attr::of_dtype(DType::f32)}});
  };
}

double ulps(double got, double want) {
  int64_t a, b;
  std::memcpy(&a, &got, sizeof a);
  std::memcpy(&b, &want, sizeof b);
  return std::abs(static_cast<double>(a - b));
}

}  // namespace

TEST_CASE("floor division floors, mod has the divisor's sign, by zero both are 0, and nothing traps") {
  const std::vector<int32_t> a{-7, 7, -7, 7, -1, 1, -5, 5, 1, 2, 3, INT32_MIN, INT32_MIN};
  const std::vector<int32_t> b{2, 2, -2, -2, 3, -3, 3, -3, 0, 0, 0, -1, 0};
  expect(op(OpCode::op_floor_div), std::vector<int32_t>{-4, 3, 3, -4, -1, -1, -2, -2, 0, 0, 0, INT32_MIN, 0}, a, b);
  expect(op(OpCode::op_mod), std::vector<int32_t>{1, 1, -1, -1, 2, -2, 1, -1, 0, 0, 0, 0, 0}, a, b);
  expect(op(OpCode::op_rem), std::vector<int32_t>{-1, 1, -1, 1, -1, 1, -2, 2, 0, 0, 0, 0, 0}, a, b);
  // (a - mod(a, b)) / b overflows int8 to 4.
  expect(op(OpCode::op_floor_div), std::vector<int8_t>{-5, -5, -128, 0}, std::vector<int8_t>{120, -120, -128, -128},
         std::vector<int8_t>{-27, 27, -1, 0});
  expect(op(OpCode::op_mod), std::vector<int8_t>{-15, 15, 0, 0}, std::vector<int8_t>{120, -120, -128, -128},
         std::vector<int8_t>{-27, 27, -1, 0});
  expect(op(OpCode::op_floor_div), std::vector<int64_t>{INT64_MIN, 0, -4611686018427387904, -1},
         std::vector<int64_t>{INT64_MIN, INT64_MIN, INT64_MIN, -1}, std::vector<int64_t>{-1, 0, 2, INT64_MAX});
  expect(op(OpCode::op_floor_div), std::vector<float>{-4, -1, 2, nan32, -inf32},
         std::vector<float>{-7, -0.5f, 7, 0, -1}, std::vector<float>{2, 3, 3, 0, 0});
}

TEST_CASE("shifts by the width, beyond it and below zero") {
  expect(op(OpCode::op_shift_right), std::vector<int64_t>{0, -1, 0, -1, 0, -1, 0, -1},
         std::vector<int64_t>{1000, -1000, 1000, -1000, 1000, -1000, 1000, -1000},
         std::vector<int64_t>{64, 64, 65, 65, -1, -1, 63, 63});
  expect(op(OpCode::op_shift_left), std::vector<int64_t>{0, 0, 0, INT64_MIN, 2},
         std::vector<int64_t>{1000, 1000, 1000, 1, 1}, std::vector<int64_t>{64, 65, -1, 63, 1});
  expect(op(OpCode::op_shift_right_logical), std::vector<int64_t>{0, 0, 0, 1, INT64_MAX},
         std::vector<int64_t>{-1, -1, -1, -1, -1}, std::vector<int64_t>{64, 100, -1, 63, 1});
  expect(op(OpCode::op_shift_right), std::vector<uint32_t>{0, 0, 1}, std::vector<uint32_t>{~0u, ~0u, ~0u},
         std::vector<uint32_t>{32, ~0u, 31});
  expect(op(OpCode::op_shift_left), std::vector<int8_t>{0, 0, -128, 0}, std::vector<int8_t>{1, 1, 1, 1},
         std::vector<int8_t>{8, 127, 7, -128});
  expect(op(OpCode::op_shift_right), std::vector<uint8_t>{0, 0, 1}, std::vector<uint8_t>{255, 255, 255},
         std::vector<uint8_t>{8, 255, 7});
}

TEST_CASE("a cast to a narrower float and back is a rounding, not an identity") {
  const std::vector<float> x{1.0f / 7, 19.0f / 7, 65519.996f, 65520, 1e-8f, -0.0f, nan32};
  expect(within(DType::f16, OpCode::op_reshape, {{"shape", Attr::of_ints({-1})}}),
         std::vector<float>{0.142822265625f, 2.71484375f, 65504, inf32, 0, -0.0f, nan32}, x);
  expect(within(DType::bf16, OpCode::op_reshape, {{"shape", Attr::of_ints({-1})}}),
         std::vector<float>{0.142578125f, 2.71875f, 65536, 65536, 1.0011717677116394e-08f, -0.0f, nan32}, x);
  const auto narrowed = [](Net& n, const Operands& v) {
    const ValueId half = n.op(OpCode::op_cast, {v[0]}, {{"to", Attr::of_dtype(DType::f32)}});
    return n.op(OpCode::op_cast, {half}, {{"to", Attr::of_dtype(DType::f64)}});
  };
  expect(std::function<ValueId(Net&, const Operands&)>(narrowed), std::vector<double>{0.10000000149011612, inf64},
         std::vector<double>{0.1, 1e300});
}

TEST_CASE("sums of narrow floats are not kept in their own type") {
  struct Case {
    DType type;
    int64_t n;
    OpCode code;
    float want;
  };
  for (const Case& c :
       {Case{DType::f16, 20000, OpCode::op_reduce_sum, 20000}, Case{DType::bf16, 70000, OpCode::op_reduce_sum, 70144},
        Case{DType::bf16, 70000, OpCode::op_reduce_mean, 1}, Case{DType::f16, 70000, OpCode::op_reduce_mean, 1},
        Case{DType::f16, 70000, OpCode::op_reduce_sum, inf32}}) {
    Net net;
    net.out(within(c.type, c.code)(net, {net.in("x", DType::f32, {net.sym("N")})}));
    expect_all(net, {repeat(std::vector<float>{1}, c.n)}, {{DType::f32, {}, {to_bits(c.want)}}});
  }
}

TEST_CASE("log1p and expm1 of small arguments are the arguments, zeros keep their sign") {
  const std::vector<float> tiny{1e-20f, -1e-20f, -0.0f, 0, 1e-45f};
  expect(op(OpCode::op_log1p), tiny, tiny);
  expect(op(OpCode::op_expm1), tiny, tiny);
  const std::vector<double> tiny64{1e-20, -1e-20, -0.0, 0, 5e-324};
  expect(op(OpCode::op_log1p), tiny64, tiny64);
  expect(op(OpCode::op_expm1), tiny64, tiny64);
  // x - x^2/2 and x + x^2/2, whose next terms are far below the last place.
  expect(op(OpCode::op_log1p), std::vector<float>{9.99999989e-09f}, std::vector<float>{1e-8f});
  expect(op(OpCode::op_expm1), std::vector<double>{1.0000000050000001e-08}, std::vector<double>{1e-8});
}

TEST_CASE("log1p of f64 around -0.414, where a form that was good elsewhere lost seven bits") {
  // The values are Python's decimal at 60 digits: (Decimal(x) + 1).ln() of the double x.
  const std::vector<double> x{-0.4141892, -0.53, -0.28, -0.4142135623730951, -0.35};
  const std::vector<double> want{-0.5347584084320597, -0.7550225842780328, -0.3285040669720361, -0.5347999967395705,
                                 -0.4307829160924542};
  Net net;
  net.out(net.op(OpCode::op_log1p, {net.in("x", DType::f64, {net.sym("N")})}));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const std::vector<Array> inputs{repeat(x, 1027)};
    const Array got = run(*compile(g, way), inputs, Layout::compact, Layout::compact, way.threads)[0];
    for (size_t i = 0; i < 1027; ++i) {
      INFO(way.name, ", x = ", x[i % x.size()]);
      REQUIRE(ulps(from_bits<double>(got.bits[i]), want[i % x.size()]) <= 2);
    }
  }
}

TEST_CASE("adding +0 after ceil turns -0, and its reciprocal") {
  const auto build = [](Net& n, const Operands& v) {
    const ValueId sum = n.op(OpCode::op_add, {n.op(OpCode::op_ceil, {v[0]}), n.g->scalar(DType::f32, 0.0)});
    return n.op(OpCode::op_reciprocal, {sum});
  };
  expect(std::function<ValueId(Net&, const Operands&)>(build), std::vector<float>{inf32, inf32, inf32},
         std::vector<float>{-0.5f, -0.1f, -0.9f});
}
