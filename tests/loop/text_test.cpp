#include <doctest/doctest.h>

#include "random_kernel.h"

using namespace ingot::loop;

TEST_CASE("text of a pointwise kernel") {
  CHECK(to_text(samples::axpy()) == R"(kernel 2
rows r0:s0
%1 = load v0 @0 f32(r0)
%4 = load v1 @1 f32(r0)
%7 = load v2 @2 f32(r0)
store v3 @3 f32(r0) canon(sub(add(mul(2:f32, %1), mul(3:f32, %4)), mul(%7, %7)))
)");
}

TEST_CASE("text of a stitched reduction") {
  CHECK(to_text(samples::layer_norm()) == R"(kernel 2
rows r0:s0
cols c0:s1
%0 = load v0 @0 f32(r0,c0)
%1 = fold.sum(%0) over (c0)  // level 1
%3 = convert.f32(s1)
%5 = sub(%0, div(%1, %3))
%7 = fold.sum(mul(%5, %5)) over (c0)  // level 2
%13 = load v1 @1 f32(c0)
%15 = load v2 @2 f32(c0)
store v3 @3 f32(r0,c0) canon(add(mul(div(%5, sqrt(add(div(%7, %3), 1e-05:f32))), %13), %15))
)");
}

TEST_CASE("text of boxes, fills, inside and iota") {
  CHECK(to_text(samples::concat_pad()) == R"(kernel 2
rows r0:s0
%0 = load v0 @0 f32(r0) in r0 s4:s1 else 0
%1 = load v1 @1 f32(r0) in r0 s1:s0 else 0
%2 = inside v3 bool(r0) in r0 s4:s1
%4 = load v2 @2 f32(r0) in r0 s2:s3 else 0x7fc00001
%7 = iota v4 i64(r0)
store v5 @3 f32(r0) canon(add(select(%2, %0, %1), %4))
store v6 @4 i64(r0) %7
)");
}

TEST_CASE("text of a check and a fetch") {
  CHECK(to_text(samples::gather()) == R"(kernel 2
rows r0:s0, r1:s1
%1 = load v0 @0 i64(r0)
%6 = select(lt(%1, 0:i64), add(%1, s2), %1)
%8 = iota v3 i64(r1)
%9 = iota v2 i64()
store v4 @2 f16(r0,r1) fetch(v1 @1 f16(), check(#0, true, %6, s2), add(%8, mul(%6, %9)))
)");
}

TEST_CASE("text of a contraction and of a kernel without rows") {
  CHECK(to_text(samples::matmul()) == R"(kernel 2
rows r0:s0, r1:s1
cols c0:s2
%0 = load v0 @0 f32(r0,c0)
%1 = load v1 @1 f32(r1,c0)
%2 = fold.dot(%0, %1) over (c0)  // level 1
%3 = load v2 @2 f32(r1)
store v3 @3 f32(r0,r1) canon(max(add(%2, %3), 0:f32))
)");
  CHECK(to_text(samples::dot()) == R"(kernel 2
cols c0:s0
%0 = load v0 @0 f64(c0)
%1 = load v1 @1 f64(c0)
%2 = fold.dot(%0, %1) over (c0)  // level 1
store v2 @2 f64() canon(%2)
)");
  CHECK(to_text(samples::scalars()) == R"(kernel 2
%0 = load v0 @0 f32()
store v1 @1 f32() neg(canon(add(%0, -0:f32)))
)");
}

TEST_CASE("text of integers: long operands get a line, literals are exact") {
  CHECK(to_text(samples::integers()) == R"(kernel 2
rows r0:s0, r1:s1
%0 = load v0 @0 i8(r0,r1)
%1 = convert.i32(%0)
%12 = load v2 @2 bool(r0)
%13 = select(%12, xor(add(rem(%1, -7:i32), div(shl(%1, 3:i32), popcount(%1))), not(%1)), -2147483648:i32)
%14 = load v1 @1 u64(r1)
%23 = add(mul(shr(%14, 60:u64), 18446744073709551615:u64), convert.u64(or(abs(%1), 1:i32)))
store v3 @3 i32(r0,r1) %13
store v4 @4 u64(r0,r1) %23
store v5 @5 bool(r0,r1) and(lt(%1, 5:i32), not(%12))
store v6 @6 f64(r0,r1) bitcast.f64(%14)
)");
}

TEST_CASE("literals print exactly") {
  const auto literal_text = [](DType t, uint64_t bits) {
    Builder b(0, 0);
    samples::store(b, t, 0, {b, b.literal(t, bits)});
    const std::string text = to_text(b.finish());
    const size_t at = text.rfind("() ") + 3;
    return text.substr(at, text.size() - at - 1);
  };
  CHECK(literal_text(DType::f32, 0x3DCCCCCD) == "0.1:f32");
  CHECK(literal_text(DType::f32, 0x00000001) == "1e-45:f32");
  CHECK(literal_text(DType::f32, 0x7F7FFFFF) == "3.4028235e+38:f32");
  CHECK(literal_text(DType::f32, 0x80000000) == "-0:f32");
  CHECK(literal_text(DType::f32, 0xFF800000) == "-inf:f32");
  CHECK(literal_text(DType::f32, 0xFFC00001) == "0xffc00001:f32");
  CHECK(literal_text(DType::f64, 0x3FB999999999999A) == "0.1:f64");
  CHECK(literal_text(DType::f64, 0x0000000000000001) == "5e-324:f64");
  CHECK(literal_text(DType::f64, 0x7FF0000000000001) == "0x7ff0000000000001:f64");
  CHECK(literal_text(DType::i8, 0x80) == "-128:i8");
  CHECK(literal_text(DType::u8, 0x80) == "128:u8");
  CHECK(literal_text(DType::i64, 0x8000000000000000) == "-9223372036854775808:i64");
  CHECK(literal_text(DType::u16, 0xFFFF) == "65535:u16");
  CHECK(literal_text(DType::boolean, 1) == "true");
  CHECK(literal_text(DType::boolean, 0) == "false");
}

TEST_CASE("the text of a deep kernel grows with its nodes, not with their depth") {
  Builder b(1, 0);
  Val x = samples::load(b, DType::f32, 1);
  const Val step = literal(b, DType::f32, 1.5);
  while (b.node_count() < max_nodes - 1) x = x + step;
  samples::store(b, DType::f32, 1, x);
  CHECK(to_text(b.finish()).size() < 40 * max_nodes);
}
