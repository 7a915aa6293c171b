// The scalar meaning of the primitives against plain arithmetic in wider types and facts of IEEE 754 and NUMERICS.md.
#include "loop/eval.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "loop/rules.h"

using namespace ingot;
using namespace ingot::loop;

namespace {

__extension__ using Wide = __int128;  // holds every sum and shift of 64-bit integers
__extension__ using UnsignedWide = unsigned __int128;

uint64_t f(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t d(double v) { return std::bit_cast<uint64_t>(v); }
constexpr uint64_t nan32 = 0x7FC00000, nan64 = 0x7FF8000000000000;
constexpr float inf = std::numeric_limits<float>::infinity();

bool is_nan32(uint64_t bits) { return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits))); }

const DType int_types[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                           DType::u8, DType::u16, DType::u32, DType::u64};

int width(DType t) { return static_cast<int>(8 * ir::item_size(t)); }
Wide wide(DType t, uint64_t bits) {
  Wide v = bits;
  if (ir::is_signed(t) && (bits >> (width(t) - 1) & 1)) v -= Wide{1} << width(t);
  return v;
}
uint64_t wrap(DType t, Wide v) { return static_cast<uint64_t>(v) & bits_mask(t); }

// All bytes; of the wider types those around the ends, zero, and a few others.
std::vector<uint64_t> values(DType t) {
  std::vector<uint64_t> v;
  if (width(t) == 8) {
    for (uint64_t i = 0; i < 256; ++i) v.push_back(i);
    return v;
  }
  const uint64_t top = uint64_t{1} << (width(t) - 1);
  for (const uint64_t base : {uint64_t{0}, top, uint64_t(width(t)), top >> 1, 0x123456789ABCDEF0 & bits_mask(t)})
    for (int64_t i = -3; i <= 3; ++i) v.push_back((base + static_cast<uint64_t>(i)) & bits_mask(t));
  return v;
}

}  // namespace

TEST_CASE("integers wrap, and division never traps") {
  for (const DType t : int_types)
    for (const uint64_t a : values(t))
      for (const uint64_t b : values(t)) {
        const Wide x = wide(t, a), y = wide(t, b);
        const auto is = [&](Prim p, Wide want) {
          if (eval(p, t, t, a, b) != wrap(t, want))
            FAIL_CHECK(std::string(prim_info(p)->name), " of ", ir::name(t), " ", a, " ", b, ": ", eval(p, t, t, a, b));
        };
        is(Prim::add, x + y);
        is(Prim::sub, x - y);
        is(Prim::mul, static_cast<Wide>(static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y)));
        is(Prim::div, y == 0 ? 0 : x / y);
        is(Prim::rem, y == 0 ? 0 : x % y);
        is(Prim::min, x < y ? x : y);
        is(Prim::max, x > y ? x : y);
        is(Prim::neg, -x);
        is(Prim::abs, x < 0 ? -x : x);
        is(Prim::and_, x & y);
        is(Prim::or_, x | y);
        is(Prim::xor_, x ^ y);
        is(Prim::not_, ~x);
        const bool counts = y >= 0 && y < width(t);
        is(Prim::shl, counts ? x << static_cast<int>(y) : 0);
        is(Prim::shr, counts ? x >> static_cast<int>(y) : x < 0 ? -1 : 0);
      }
}

TEST_CASE("integer division by hand") {
  CHECK(eval(Prim::div, DType::i32, DType::i32, 0x80000000, 0xFFFFFFFF) == 0x80000000);
  CHECK(eval(Prim::rem, DType::i32, DType::i32, 0x80000000, 0xFFFFFFFF) == 0);
  CHECK(eval(Prim::div, DType::i64, DType::i64, uint64_t{1} << 63, ~uint64_t{0}) == uint64_t{1} << 63);
  CHECK(eval(Prim::rem, DType::i64, DType::i64, uint64_t{1} << 63, ~uint64_t{0}) == 0);
  CHECK(eval(Prim::div, DType::u64, DType::u64, 5, 0) == 0);
  CHECK(eval(Prim::rem, DType::i8, DType::i8, 0xF9, 2) == 0xFF);  // -7 rem 2 = -1
  CHECK(eval(Prim::div, DType::i8, DType::i8, 0xF9, 2) == 0xFD);  // -7 div 2 = -3
}

TEST_CASE("shift counts outside the width") {
  CHECK(eval(Prim::shl, DType::i32, DType::i32, 1, 31) == 0x80000000);
  CHECK(eval(Prim::shl, DType::i32, DType::i32, 1, 32) == 0);
  CHECK(eval(Prim::shl, DType::i32, DType::i32, 1, 0xFFFFFFFF) == 0);
  CHECK(eval(Prim::shr, DType::u32, DType::u32, 0x80000000, 32) == 0);
  CHECK(eval(Prim::shr, DType::i32, DType::i32, 0x80000000, 32) == 0xFFFFFFFF);
  CHECK(eval(Prim::shr, DType::i32, DType::i32, 0x80000000, 0xFFFFFFFF) == 0xFFFFFFFF);
  CHECK(eval(Prim::shr, DType::i32, DType::i32, 0x40000000, 0xFFFFFFFF) == 0);
  CHECK(eval(Prim::shr, DType::u64, DType::u64, ~uint64_t{0}, 64) == 0);
  CHECK(eval(Prim::shl, DType::u8, DType::u8, 0xFF, 7) == 0x80);
}

TEST_CASE("bit counts") {
  for (const DType t : int_types)
    for (const uint64_t a : values(t)) {
      int ones = 0, lead = 0, trail = 0;
      for (int i = 0; i < width(t); ++i) ones += a >> i & 1;
      while (lead < width(t) && !(a >> (width(t) - 1 - lead) & 1)) ++lead;
      while (trail < width(t) && !(a >> trail & 1)) ++trail;
      CHECK(eval(Prim::popcount, t, t, a) == static_cast<uint64_t>(ones));
      CHECK(eval(Prim::clz, t, t, a) == static_cast<uint64_t>(lead));
      CHECK(eval(Prim::ctz, t, t, a) == static_cast<uint64_t>(trail));
    }
}

TEST_CASE("integers convert by value and wrap") {
  for (const DType from : int_types)
    for (const DType to : int_types)
      for (const uint64_t a : values(from))
        if (eval(Prim::convert, to, from, a) != wrap(to, wide(from, a)))
          FAIL_CHECK(ir::name(from), " to ", ir::name(to), " of ", a);
  for (const DType t : int_types)
    for (const uint64_t a : values(t)) CHECK(eval(Prim::convert, DType::boolean, t, a) == (a != 0));
  CHECK(eval(Prim::convert, DType::i32, DType::boolean, 1) == 1);
  CHECK(eval(Prim::convert, DType::f32, DType::boolean, 1) == f(1));
  CHECK(eval(Prim::convert, DType::f64, DType::boolean, 0) == 0);
}

TEST_CASE("floats convert to integers by truncation, saturated, NaN to 0") {
  const auto to = [](DType t, double v) { return eval(Prim::convert, t, DType::f64, d(v)); };
  CHECK(to(DType::i32, 2.9) == 2);
  CHECK(to(DType::i32, -2.9) == 0xFFFFFFFE);
  CHECK(to(DType::i32, 2147483647.9) == 0x7FFFFFFF);
  CHECK(to(DType::i32, 2147483648.0) == 0x7FFFFFFF);
  CHECK(to(DType::i32, -2147483648.9) == 0x80000000);
  CHECK(to(DType::i32, -1e300) == 0x80000000);
  CHECK(to(DType::u32, -0.9) == 0);
  CHECK(to(DType::u32, -5) == 0);
  CHECK(to(DType::u32, 4294967295.5) == 0xFFFFFFFF);
  CHECK(to(DType::u32, 4294967296.0) == 0xFFFFFFFF);
  CHECK(to(DType::i64, 9223372036854775807.0) == 0x7FFFFFFFFFFFFFFF);
  CHECK(to(DType::i64, 9223372036854774784.0) == 0x7FFFFFFFFFFFFC00);
  CHECK(to(DType::u64, 18446744073709551615.0) == ~uint64_t{0});
  CHECK(to(DType::u64, 9223372036854775808.0) == uint64_t{1} << 63);
  CHECK(to(DType::i8, 127.5) == 127);
  CHECK(to(DType::i8, 128.0) == 127);
  CHECK(to(DType::i8, -129.0) == 0x80);
  CHECK(to(DType::u16, std::numeric_limits<double>::infinity()) == 0xFFFF);
  for (const DType t : int_types) {
    CHECK(eval(Prim::convert, t, DType::f64, nan64 | uint64_t{1} << 63) == 0);
    CHECK(eval(Prim::convert, t, DType::f32, nan32) == 0);
    CHECK(eval(Prim::convert, t, DType::f32, f(-inf)) == wrap(t, ir::is_signed(t) ? Wide{1} << (width(t) - 1) : 0));
    CHECK(eval(Prim::convert, t, DType::f32, f(-0.0f)) == 0);
  }
  CHECK(eval(Prim::convert, DType::i32, DType::f32, f(2147483520.0f)) == 2147483520);
  CHECK(eval(Prim::convert, DType::u64, DType::f32, f(1e19f)) == static_cast<uint64_t>(1e19f));
}

TEST_CASE("conversion to boolean is != 0") {
  CHECK(eval(Prim::convert, DType::boolean, DType::f32, nan32) == 1);
  CHECK(eval(Prim::convert, DType::boolean, DType::f32, f(-0.0f)) == 0);
  CHECK(eval(Prim::convert, DType::boolean, DType::f32, 1) == 1);  // the least denormal
  CHECK(eval(Prim::convert, DType::boolean, DType::f64, nan64) == 1);
}

TEST_CASE("min and max propagate NaN and order the zeros") {
  const auto min = [](uint64_t a, uint64_t b) { return eval(Prim::min, DType::f32, DType::f32, a, b); };
  const auto max = [](uint64_t a, uint64_t b) { return eval(Prim::max, DType::f32, DType::f32, a, b); };
  const uint64_t p = f(0.0f), n = f(-0.0f);
  CHECK(min(p, n) == n);
  CHECK(min(n, p) == n);
  CHECK(max(p, n) == p);
  CHECK(max(n, p) == p);
  CHECK(min(n, n) == n);
  CHECK(max(n, n) == n);
  CHECK(min(p, p) == p);
  for (const uint64_t x : {f(1), f(-inf), f(inf), p}) {
    CHECK(is_nan32(min(nan32, x)));
    CHECK(is_nan32(min(x, nan32 | 0x80000001)));
    CHECK(is_nan32(max(nan32, x)));
    CHECK(is_nan32(max(x, nan32)));
  }
  CHECK(min(f(-inf), f(3)) == f(-inf));
  CHECK(max(f(-inf), f(3)) == f(3));
  CHECK(eval(Prim::max, DType::f64, DType::f64, d(-0.0), d(0.0)) == 0);
  CHECK(eval(Prim::min, DType::f64, DType::f64, d(0.0), d(-0.0)) == d(-0.0));
}

TEST_CASE("moves keep every bit of a NaN, canon keeps none") {
  for (const uint64_t x : {0x7F800001u, 0xFFC12345u, 0x7FFFFFFFu}) {
    CHECK(eval(Prim::neg, DType::f32, DType::f32, x) == (x ^ 0x80000000));
    CHECK(eval(Prim::abs, DType::f32, DType::f32, x) == (x & 0x7FFFFFFF));
    CHECK(eval(Prim::copysign, DType::f32, DType::f32, x, f(-1)) == (x | 0x80000000));
    CHECK(eval(Prim::copysign, DType::f32, DType::f32, f(1), x) == (f(1) | (x & 0x80000000)));
    CHECK(eval(Prim::select, DType::f32, DType::f32, 1, x, 0) == x);
    CHECK(eval(Prim::select, DType::f32, DType::f32, 0, 0, x) == x);
    CHECK(eval(Prim::bitcast, DType::i32, DType::f32, x) == x);
    CHECK(eval(Prim::canon, DType::f32, DType::f32, x) == nan32);
  }
  CHECK(eval(Prim::canon, DType::f64, DType::f64, 0xFFF0000000000001) == nan64);
  for (const uint64_t x : {f(1), f(-0.0f), f(inf), uint64_t{1}})
    CHECK(eval(Prim::canon, DType::f32, DType::f32, x) == x);
  CHECK(eval(Prim::canon, DType::f64, DType::f64, d(-0.0)) == d(-0.0));
  // rare: (cond, fast, slow)
  CHECK(eval(Prim::rare, DType::f32, DType::f32, 0, 7, 8) == 7);
  CHECK(eval(Prim::rare, DType::f32, DType::f32, 1, 7, 8) == 8);
}

TEST_CASE("arithmetic of IEEE 754's special values") {
  const auto op = [](Prim p, float a, float b) { return eval(p, DType::f32, DType::f32, f(a), f(b)); };
  CHECK(op(Prim::add, 0.0f, -0.0f) == f(0.0f));
  CHECK(op(Prim::add, -0.0f, -0.0f) == f(-0.0f));
  CHECK(op(Prim::sub, 1.0f, 1.0f) == f(0.0f));
  CHECK(is_nan32(op(Prim::sub, inf, inf)));
  CHECK(is_nan32(op(Prim::mul, 0.0f, inf)));
  CHECK(op(Prim::mul, -1.0f, 0.0f) == f(-0.0f));
  CHECK(op(Prim::div, 1.0f, -0.0f) == f(-inf));
  CHECK(is_nan32(op(Prim::div, 0.0f, 0.0f)));
  CHECK(is_nan32(op(Prim::sqrt, -1.0f, 0)));
  CHECK(op(Prim::sqrt, -0.0f, 0) == f(-0.0f));
  CHECK(op(Prim::add, 16777216.0f, 1.0f) == f(16777216.0f));  // 2^24 + 1 ties to even
  CHECK(op(Prim::add, 16777218.0f, 1.0f) == f(16777220.0f));
}

TEST_CASE("rounding to integers") {
  const struct {
    float x, floor, ceil, trunc, round;
  } rows[] = {{0.5f, 0, 1, 0, 0},
              {1.5f, 1, 2, 1, 2},
              {2.5f, 2, 3, 2, 2},
              {-0.5f, -1, -0.0f, -0.0f, -0.0f},
              {-1.5f, -2, -1, -1, -2},
              {-2.5f, -3, -2, -2, -2},
              {0.49999997f, 0, 1, 0, 0},
              {8388609.0f, 8388609, 8388609, 8388609, 8388609},
              {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f},
              {inf, inf, inf, inf, inf},
              {-3e38f, -3e38f, -3e38f, -3e38f, -3e38f},
              {4194304.5f, 4194304, 4194305, 4194304, 4194304}};
  for (const auto& r : rows) {
    CAPTURE(r.x);
    const auto op = [&](Prim p) { return eval(p, DType::f32, DType::f32, f(r.x)); };
    const auto op64 = [&](Prim p) { return eval(p, DType::f64, DType::f64, d(r.x)); };
    CHECK(op(Prim::floor) == f(r.floor));
    CHECK(op(Prim::ceil) == f(r.ceil));
    CHECK(op(Prim::trunc) == f(r.trunc));
    CHECK(op(Prim::round) == f(r.round));
    CHECK(op64(Prim::floor) == d(r.floor));
    CHECK(op64(Prim::ceil) == d(r.ceil));
    CHECK(op64(Prim::trunc) == d(r.trunc));
    CHECK(op64(Prim::round) == d(r.round));
  }
}

TEST_CASE("comparisons are ordered except ne") {
  const auto all = [](DType t, uint64_t a, uint64_t b) {
    return eval(Prim::eq, DType::boolean, t, a, b) | eval(Prim::ne, DType::boolean, t, a, b) << 1 |
           eval(Prim::lt, DType::boolean, t, a, b) << 2 | eval(Prim::le, DType::boolean, t, a, b) << 3;
  };
  constexpr uint64_t equal = 0b1001, less = 0b1110, greater = 0b0010, unordered = 0b0010;
  CHECK(all(DType::f32, nan32, nan32) == unordered);
  CHECK(all(DType::f32, nan32, f(1)) == unordered);
  CHECK(all(DType::f32, f(0.0f), f(-0.0f)) == equal);
  CHECK(all(DType::f32, f(-1), f(1)) == less);
  CHECK(all(DType::f64, d(2), d(1)) == greater);
  CHECK(all(DType::i8, 0xFF, 1) == less);
  CHECK(all(DType::u8, 0xFF, 1) == greater);
  CHECK(all(DType::i64, uint64_t{1} << 63, 0) == less);
  CHECK(all(DType::u64, uint64_t{1} << 63, 0) == greater);
  CHECK(all(DType::boolean, 0, 1) == less);
  CHECK(all(DType::boolean, 1, 1) == equal);
}

TEST_CASE("booleans") {
  for (const uint64_t a : {0, 1})
    for (const uint64_t b : {0, 1}) {
      CHECK(eval(Prim::and_, DType::boolean, DType::boolean, a, b) == (a && b));
      CHECK(eval(Prim::or_, DType::boolean, DType::boolean, a, b) == (a || b));
      CHECK(eval(Prim::xor_, DType::boolean, DType::boolean, a, b) == (a != b));
      CHECK(eval(Prim::not_, DType::boolean, DType::boolean, a) == !a);
    }
}

TEST_CASE("what is no scalar operation has no value") {
  CHECK_THROWS_AS(eval(Prim::load, DType::f32, DType::f32, 0), Error);
  CHECK_THROWS_AS(eval(Prim::fold_sum, DType::f32, DType::f32, 0), Error);
  CHECK_THROWS_AS(eval(static_cast<Prim>(200), DType::f32, DType::f32, 0), Error);
  CHECK_THROWS_AS(eval(Prim::sqrt, DType::i32, DType::i32, 0), Error);
  CHECK_THROWS_AS(eval(Prim::shl, DType::f32, DType::f32, 0), Error);
  CHECK_THROWS_AS(eval(Prim::add, DType::boolean, DType::boolean, 0), Error);
}
