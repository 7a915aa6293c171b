// Named cases of the dim algebra; dim_random_test.cpp holds it against plain arithmetic at large.
#include <cmath>

#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct Dims {
  DimTable t;
  DimId A = t.symbol("A"), B = t.symbol("B"), N = t.symbol("N", 1);
  DimId c(int64_t v) { return t.constant(v); }
  DimId make(DimKind kind, std::vector<DimId> ops) { return t.expr(kind, ops); }
  std::string text(DimId d) const { return t.to_string(d); }
  void equal(DimId a, DimId b) {
    const DimId both[] = {a, b};
    t.assume(DimFact::equal, both);
  }
  void divisible(DimId a, DimId b) {
    const DimId both[] = {a, b};
    t.assume(DimFact::divisible, both);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Dims, "equal sums and products are one dim") {
  CHECK(t.add(t.mul(c(2), B), B) == t.mul(B, c(3)));
  CHECK(t.mul(t.add(A, c(1)), t.sub(A, c(1))) == t.sub(t.mul(A, A), c(1)));
  CHECK(t.sub(t.add(A, B), B) == A);
  CHECK(t.product(std::vector<DimId>{}) == c(1));
  CHECK(t.symbol("A") == A);
  CHECK(text(t.add(t.mul(c(2), B), c(1))) == "2*B+1");
  CHECK(text(t.sub(B, t.mul(A, A))) == "B-A*A");
}

TEST_CASE_FIXTURE(Dims, "division keeps what is exact") {
  CHECK(t.floor_div(t.mul(c(2), B), c(2)) == B);
  CHECK(t.floor_div(t.add(t.mul(c(2), B), c(1)), c(2)) == B);
  CHECK(t.floor_div(t.floor_div(B, c(2)), c(3)) == t.floor_div(B, c(6)));
  CHECK(t.floor_div(t.mul(c(6), B), c(4)) == t.floor_div(t.mul(c(3), B), c(2)));
  CHECK(t.floor_div(N, N) == c(1));
  CHECK(t.floor_div(B, B) != c(1));  // B may be 0
  CHECK(t.floor_div(t.mul(N, A), N) == A);
  CHECK(t.floor_div(t.add(t.mul(N, A), A), t.add(N, c(1))) == A);
  CHECK(t.mul(t.floor_div(B, c(8)), c(8)) != B);
  CHECK(text(t.ceil_div(B, c(4))) == "ceil_div(B, 4)");
  CHECK(t.ceil_div(B, c(4)) == t.floor_div(t.add(B, c(3)), c(4)));
  CHECK(text(make(DimKind::mod, {t.add(t.mul(c(5), B), c(9)), c(4)})) == "(B+1)%4");
  CHECK(make(DimKind::mod, {t.mul(c(12), B), c(4)}) == c(0));
}

TEST_CASE_FIXTURE(Dims, "quotients of -2^63 by a symbol are refused, not left as they are") {
  for (const DimKind kind : {DimKind::floor_div, DimKind::ceil_div, DimKind::mod}) {
    CHECK(fault([&] { make(kind, {c(INT64_MIN), N}); }).find("out of range") != std::string::npos);
    CHECK(fault([&] { make(kind, {t.sub(c(-INT64_MAX), c(1)), N}); }).find("out of range") != std::string::npos);
    make(kind, {c(-INT64_MAX), N});
  }
  CHECK(t.as_constant(make(DimKind::mod, {c(INT64_MIN), c(5)})) == 2);
  const DimId least_by_symbol[] = {c(INT64_MIN), N};  // as a fact it would be checked in no run
  CHECK(fault([&] { t.assume(DimFact::divisible, least_by_symbol); }).find("out of range") != std::string::npos);
  CHECK(t.facts().empty());
}

TEST_CASE_FIXTURE(Dims, "a divisibility fact makes quotients exact") {
  const DimId before = t.mul(c(8), t.floor_div(N, c(8)));
  CHECK_FALSE(t.known_equal(before, N));
  divisible(N, c(8));
  CHECK(t.known_equal(before, N));
  CHECK(t.mul(c(8), t.floor_div(N, c(8))) == N);
  CHECK(make(DimKind::mod, {N, c(4)}) == c(0));
  CHECK(t.mul(c(2), t.floor_div(N, c(8))) == t.floor_div(N, c(4)));
  CHECK(t.floor_div(t.add(N, c(3)), c(8)) == t.floor_div(N, c(8)));
  CHECK(t.known_divisible(t.mul(N, c(3)), 24));
  CHECK(t.known_divisible(t.floor_div(N, c(4)), 2));
  CHECK_FALSE(t.known_divisible(N, 16));
  CHECK_FALSE(t.known_divisible(t.add(N, B), 8));
}

TEST_CASE_FIXTURE(Dims, "divisibility by a symbol") {
  divisible(t.mul(A, B), N);
  CHECK(t.mul(N, t.floor_div(t.mul(A, B), N)) == t.mul(A, B));
  CHECK(make(DimKind::mod, {t.mul(B, A), N}) == c(0));
  CHECK(t.exact_quotient(t.mul(A, B), N).has_value());
  CHECK_FALSE(t.exact_quotient(A, N).has_value());
}

TEST_CASE_FIXTURE(Dims, "equality facts reach expressions made before and after") {
  const DimId before = t.add(A, c(1));
  equal(A, t.mul(c(2), B));
  CHECK(t.known_equal(A, t.mul(B, c(2))));
  CHECK(t.known_equal(before, t.add(t.mul(c(2), B), c(1))));
  CHECK(t.known_equal(t.floor_div(A, c(2)), B));
  equal(B, c(3));
  CHECK(t.as_constant(A) == 6);
  CHECK(t.as_constant(before) == 7);
  CHECK(t.kind(A) == DimKind::symbol);  // the id itself stays what it was
}

TEST_CASE_FIXTURE(Dims, "equality facts on products and chains") {
  const DimId C = t.symbol("C"), D = t.symbol("D"), E = t.symbol("E");
  equal(t.mul(A, B), t.mul(C, D));
  equal(t.mul(C, D), E);
  CHECK(t.known_equal(t.mul(B, A), E));
  CHECK(t.known_equal(t.mul(D, C), E));
  CHECK_FALSE(t.known_equal(A, C));
}

TEST_CASE_FIXTURE(Dims, "contradictions are refused and change nothing") {
  equal(B, c(3));
  const size_t facts = t.facts().size();
  CHECK(fault([&] { equal(B, c(4)); }) == "B (3) == 4 contradicts what is known of them");
  CHECK(fault([&] { equal(t.mul(c(2), A), t.add(t.mul(c(2), B), c(1))); }) != "");
  CHECK(fault([&] { equal(N, c(0)); }) != "");
  CHECK(fault([&] { divisible(c(9), c(4)); }) != "");
  CHECK(fault([&] { divisible(A, c(0)); }) != "");
  CHECK(fault([&] { t.symbol("N", 0, 0); }) != "");
  const DimId three[] = {A, N, t.add(A, c(1))};
  CHECK(fault([&] { t.assume(DimFact::equal, three); }) != "");
  CHECK_FALSE(t.known_equal(A, N));
  CHECK(t.facts().size() == facts);
  CHECK(value_of(t, B, {7, 3, 1}) == 3);
}

TEST_CASE_FIXTURE(Dims, "symbols: names, bounds, and their intersection") {
  CHECK(fault([&] { t.symbol(""); }) == "a symbol needs a name");
  CHECK(fault([&] { t.symbol("X", -1); }) != "");
  CHECK(fault([&] { t.symbol("X", 5, 4); }) != "");
  CHECK(fault([&] { t.symbol(std::string(2000, 'x')); }) != "");
  t.symbol("N", 0, 9);
  t.symbol("N", 4, 12);
  CHECK(t.bounds(N).lo == 4);
  CHECK(t.bounds(N).hi == 9);
  CHECK(t.bounds(t.add(t.mul(N, c(2)), c(1))).hi == 19);
  CHECK(t.bounds(t.sub(N, c(5))).lo == -1);
  CHECK(fault([&] { value_of(t, N, {0, 0, 3}); }) == "symbol N is 3 here, but is declared to be 4 to 9");
  const auto range = [](int64_t lo, int64_t hi, int64_t value) {
    DimTable own;
    const DimId s = own.symbol("S", lo, hi);
    std::vector<int64_t> values(own.size(), 0);
    values[s] = value;
    return fault([&] { own.check(values); });
  };
  CHECK(range(4, max_extent, 3) == "symbol S is 3 here, but is declared to be at least 4");
  CHECK(range(0, 7, 8) == "symbol S is 8 here, but is declared to be at most 7");
  CHECK(range(5, 5, 8) == "symbol S is 8 here, but is declared to be 5");
}

TEST_CASE_FIXTURE(Dims, "minima and maxima drop what never decides") {
  CHECK(make(DimKind::min, {N, t.add(N, c(1))}) == N);
  CHECK(make(DimKind::max, {N, c(1)}) == N);
  CHECK(make(DimKind::min, {B, c(0)}) == c(0));
  CHECK(text(make(DimKind::min, {N, c(3), B, N})) == "min(3, B, N)");
  const DimId clipped = make(DimKind::max, {t.sub(N, c(3)), c(0)});
  CHECK(make(DimKind::min, {clipped, N}) == clipped);
}

TEST_CASE_FIXTURE(Dims, "broadcast: known results, checks, and failures") {
  CHECK(t.broadcast(B, c(1)) == B);
  CHECK(t.broadcast(c(1), c(1)) == c(1));
  CHECK(t.broadcast(B, B) == B);
  CHECK(t.broadcast(B, c(4)) == c(4));
  CHECK(value_of(t, c(4), {1, 1, 1}) == 4);
  CHECK(value_of(t, c(4), {1, 4, 1}) == 4);
  CHECK(fault([&] { value_of(t, c(4), {1, 3, 1}); }) == "extents do not broadcast: B = 3 and 4");
  // By the first op that needs it, whether or not a type was there before.
  const DimId v = t.symbol("V"), w = t.symbol("W");
  const DimId both = t.broadcast(v, w);
  CHECK(t.broadcast(v, w, "add") == both);
  CHECK(t.broadcast(v, w, "mul") == both);
  std::vector<int64_t> values(t.size(), INT64_MIN);
  values[v] = 2, values[w] = 3;
  CHECK(fault([&] { t.evaluate(values); }) == "add: extents do not broadcast: V = 2 and W = 3");
  const DimId zero = c(0), three = c(3), five = c(5);
  CHECK(fault([&] { t.broadcast(three, five); }) == "extents 3 and 5 do not broadcast");
  CHECK(fault([&] { t.broadcast(five, zero); }) == "extents 0 and 5 do not broadcast");
  const DimId wide = t.symbol("W", 2);
  CHECK(t.broadcast(wide, A) == wide);
  CHECK(text(t.broadcast(A, N)) == "bcast(A, N)");
  CHECK(t.broadcast(A, t.broadcast(N, A)) == t.broadcast(N, A));
}

TEST_CASE_FIXTURE(Dims, "broadcast values: 0 and 1 as NumPy has them") {
  const DimId d = t.broadcast(A, B);
  CHECK(value_of(t, d, {0, 1, 1}) == 0);
  CHECK(value_of(t, d, {1, 0, 1}) == 0);
  CHECK(value_of(t, d, {5, 1, 1}) == 5);
  CHECK(fault([&] { value_of(t, d, {0, 5, 1}); }) != "");
}

TEST_CASE_FIXTURE(Dims, "overflow: in constants an error, in values an error, in between not") {
  CHECK(fault([&] { t.mul(c(INT64_MAX), c(2)); }) == "overflow in a constant dim");
  CHECK(fault([&] { t.add(c(INT64_MAX), c(1)); }) == "overflow in a constant dim");
  const DimId big = t.mul(A, B);
  CHECK(fault([&] { value_of(t, big, {int64_t{1} << 40, int64_t{1} << 40, 1}); }) == "dim A*B overflows");
  CHECK(value_of(t, big, {0, INT64_MAX, 1}) == 0);
  CHECK(t.mul(c(0), t.mul(A, c(INT64_MAX))) == c(0));
}

TEST_CASE_FIXTURE(Dims, "a difference is in range though its terms are not") {
  const DimId d = t.mul(t.sub(A, N), B);
  const int64_t a = int64_t{1} << 40;
  CHECK(value_of(t, d, {a, int64_t{1} << 30, a - 1}) == int64_t{1} << 30);
}

TEST_CASE_FIXTURE(Dims, "division by zero") {
  CHECK(fault([&] { t.floor_div(A, c(0)); }) == "dim expression divides by 0");
  CHECK(fault([&] { make(DimKind::mod, {A, c(0)}); }) == "dim expression divides by 0");
  const DimId d = t.floor_div(A, B);
  CHECK(fault([&] { value_of(t, d, {4, 0, 1}); }) == "dim A/B divides by 0: B is 0");
  CHECK(value_of(t, d, {7, 2, 1}) == 3);
}

TEST_CASE_FIXTURE(Dims, "rounding up by a large divisor does not overflow") {
  CHECK(t.ceil_div(c(4), c(INT64_MAX)) == c(1));
  CHECK(value_of(t, t.ceil_div(A, c(INT64_MAX - 3)), {5, 0, 1}) == 1);
  CHECK(value_of(t, t.ceil_div(A, c(-(INT64_MAX - 3))), {5, 0, 1}) == 0);
}

TEST_CASE_FIXTURE(Dims, "ill-formed expressions") {
  CHECK(fault([&] { make(DimKind::sub, {A}); }) != "");
  CHECK(fault([&] { make(DimKind::add, {}); }) != "");
  CHECK(fault([&] { make(static_cast<DimKind>(99), {A, B}); }) == "no dim expression has the number 99");
  CHECK(fault([&] { make(DimKind::add, {A, 12345}); }) == "no dim has the id 12345");
  CHECK(fault([&] { make(DimKind::symbol, {A}); }) != "");
  CHECK(fault([&] { t.assume(static_cast<DimFact>(9), std::vector<DimId>{A, B}); }) != "");
}

TEST_CASE_FIXTURE(Dims, "unset symbols leave their expressions unset") {
  const DimId d = t.add(A, c(1)), e = t.add(B, c(1));
  std::vector<int64_t> values(t.size(), INT64_MIN);
  values[A] = 4;
  t.evaluate(values);
  CHECK(values[d] == 5);
  CHECK(values[e] == INT64_MIN);
}

TEST_CASE_FIXTURE(Dims, "a sum over the limit of terms still evaluates and prints") {
  DimId sum = c(0);
  std::vector<DimId> all;
  std::vector<int64_t> values{1, 1, 1};
  int64_t expected = 0;
  for (int i = 0; i < 500; ++i) {
    all.push_back(t.symbol("s" + std::to_string(i)));
    sum = t.add(sum, all.back());
    values.push_back(i);
    expected += i;
  }
  CHECK(value_of(t, sum, values) == expected);
  CHECK(value_of(t, make(DimKind::add, all), values) == expected);
  CHECK(value_of(t, t.sub(make(DimKind::add, all), sum), values) == 0);
  CHECK(t.to_string(make(DimKind::add, all)).size() < 4000);
}

TEST_CASE_FIXTURE(Dims, "depth and size are limited") {
  DimId deep = A;
  const std::string message = fault([&] {
    for (int i = 0; i < 1000; ++i) deep = t.add(make(DimKind::min, {deep, t.symbol("d" + std::to_string(i))}), c(1));
  });
  CHECK(message == "dim expression nested deeper than 100");
  CHECK_FALSE(t.to_string(deep).empty());

  DimId wide = A;  // doubles when written out
  const std::string doubled = fault([&] {
    for (int i = 0; i < 64; ++i) wide = make(DimKind::max, {t.floor_div(wide, t.add(B, c(1 + i))), t.mul(wide, N)});
  });
  CHECK(doubled == "dim expression of more than 65536 parts");
}

TEST_CASE_FIXTURE(Dims, "a long chain of sums and nested quotients stays linear and flat") {
  DimId d = A;
  for (int i = 0; i < 100'000; ++i) d = t.add(d, c(1));
  CHECK(text(d) == "A+100000");
  for (int i = 0; i < 40; ++i) d = t.floor_div(t.add(d, c(1)), c(2));
  CHECK(t.size() < 300'000);
}

TEST_CASE_FIXTURE(Dims, "quotients of constants are constants, or overflow") {
  const DimId least = c(INT64_MIN), minus = c(-1);
  CHECK_THROWS_AS(t.floor_div(least, minus), Error);
  CHECK_THROWS_AS(t.ceil_div(least, minus), Error);
  CHECK(t.is_constant(make(DimKind::mod, {least, minus}), 0));
  for (const int64_t a : {INT64_MIN, INT64_MIN + 1, int64_t{-7}, int64_t{0}, int64_t{7}, INT64_MAX})
    for (const int64_t b : {INT64_MIN, int64_t{-3}, int64_t{-1}, int64_t{1}, int64_t{3}, INT64_MAX}) {
      if (a == INT64_MIN && b == -1) continue;
      const auto wide = static_cast<long double>(a) / b;  // 64 bits of mantissa: floor and ceil are exact
      CHECK(t.is_constant(t.floor_div(c(a), c(b)), static_cast<int64_t>(std::floor(wide))));
      CHECK(t.is_constant(t.ceil_div(c(a), c(b)), static_cast<int64_t>(std::ceil(wide))));
      CHECK(t.as_constant(make(DimKind::mod, {c(a), c(b)})).has_value());
    }
  // The same where the values come with a run.
  const DimId q = make(DimKind::floor_div, {t.sub(t.mul(A, c(-1)), c(2)), t.sub(B, c(2))});
  std::vector<int64_t> values(t.size(), INT64_MIN);
  values[A] = INT64_MAX - 1;
  values[B] = 3;
  values[N] = 1;
  CHECK_THROWS_AS(t.evaluate(values), Error);  // INT64_MIN itself is no value
  values[A] = INT64_MAX - 2;
  t.evaluate(values);
  CHECK(values[q] == -INT64_MAX);
}

TEST_CASE_FIXTURE(Dims, "rollback forgets rows, symbols, bounds and facts") {
  const DimId old = t.mul(c(8), t.floor_div(A, c(8)));
  const DimTable::Mark mark = t.mark();
  divisible(A, c(8));
  equal(B, t.add(N, c(1)));
  t.symbol("A", 5, 50);
  t.symbol("fresh");
  CHECK(t.known_equal(old, A));
  t.rollback(mark);
  CHECK_FALSE(t.known_equal(old, A));
  CHECK_FALSE(t.known_equal(B, t.add(N, c(1))));
  CHECK(t.bounds(A).lo == 0);
  CHECK(t.facts().empty());
  CHECK(t.symbols().size() == 3);
  CHECK(t.mul(c(8), t.floor_div(A, c(8))) == old);
  const size_t rows = t.size();
  CHECK(t.symbol("fresh") == rows);
}

TEST_CASE_FIXTURE(Dims, "a copy keeps ids and facts and grows on its own") {
  divisible(N, c(4));
  DimTable copy = t;
  const DimId in_copy = copy.add(N, copy.constant(77));
  CHECK(copy.to_string(in_copy) == "N+77");
  CHECK(t.size() < copy.size());
  CHECK(copy.mul(copy.constant(4), copy.floor_div(N, copy.constant(4))) == N);
}
