// The dim algebra against plain arithmetic: random expressions under random facts that hold for chosen values.
#include <optional>
#include <random>

#include "ir/parser.h"
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

int64_t floor_quotient(int64_t a, int64_t b) {
  int64_t q = a / b;
  while (q * b > a && b > 0) --q;
  while (q * b < a && b < 0) --q;
  return q;
}

// A dim and its value by plain arithmetic, nothing if it has none.
struct Pair {
  DimId dim;
  std::optional<int64_t> value;
};

constexpr size_t symbols = 4;

struct World {
  std::mt19937_64 rng;
  DimTable table;
  std::vector<int64_t> values;
  std::vector<Pair> pool;

  explicit World(uint64_t seed) : rng(seed) {
    for (size_t i = 0; i < symbols; ++i) {
      values.push_back(pick(4) == 0 ? pick(2) : 1 + pick(40));
      const int64_t lo = std::max<int64_t>(0, values[i] - pick(5)), hi = pick(2) ? max_extent : values[i] + pick(9);
      pool.push_back({table.symbol(std::string(1, static_cast<char>('A' + i)), lo, hi), values[i]});
    }
    for (const int64_t c : {0, 1, 2, 3, 4, 8, -1, -3}) pool.push_back({table.constant(c), c});
  }

  int64_t pick(int64_t n) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(n)); }
  const Pair& any() { return pool[static_cast<size_t>(pick(static_cast<int64_t>(pool.size())))]; }

  static std::optional<int64_t> compute(DimKind kind, int64_t a, int64_t b) {
    switch (kind) {
      case DimKind::add: return a + b;
      case DimKind::sub: return a - b;
      case DimKind::mul: return a * b;
      case DimKind::min: return std::min(a, b);
      case DimKind::max: return std::max(a, b);
      case DimKind::bcast: return a == 1 ? std::optional(b) : b == 1 || a == b ? std::optional(a) : std::nullopt;
      default: break;
    }
    if (b == 0) return {};
    const int64_t q = floor_quotient(a, b);
    if (kind == DimKind::floor_div) return q;
    if (kind == DimKind::mod) return a - q * b;
    return a == q * b ? q : q + 1;
  }

  // One more expression; those without a value or with a large one are left out, as they would poison evaluate().
  void grow() {
    const auto kind = static_cast<DimKind>(3 + pick(9));
    const Pair a = any(), b = any();
    const auto value = compute(kind, *a.value, *b.value);
    if (!value || *value > 1'000'000 || *value < -1'000'000) return;
    const DimId ops[] = {a.dim, b.dim};
    // A result that is known to be in the pool's values; a throw here would refuse what has a value.
    pool.push_back({table.expr(kind, ops), value});
  }

  void learn() {
    const Pair a = any(), b = any();
    const DimId both[] = {a.dim, b.dim};
    if (*a.value == *b.value) {
      table.assume(DimFact::equal, both);
    } else if (*b.value != 0 && *a.value % *b.value == 0) {
      table.assume(DimFact::divisible, both);
    } else if (*a.value >= 0) {
      table.assume_nonnegative(a.dim);
    }
  }

  void check() {
    std::vector<int64_t> got(table.size(), INT64_MIN);
    for (size_t i = 0; i < symbols; ++i) got[pool[i].dim] = values[i];
    table.evaluate(got);
    table.check(got);
    for (const Pair& p : pool) {
      CHECK_MESSAGE(got[p.dim] == *p.value, table.to_string(p.dim));
      const Bounds b = table.bounds(p.dim);
      CHECK_MESSAGE((b.lo <= *p.value && *p.value <= b.hi), table.to_string(p.dim));
      CHECK(got[table.canonical(p.dim)] == *p.value);
      if (const auto constant = table.as_constant(p.dim)) CHECK(*constant == *p.value);
      for (const int64_t by : {2, 3, 4, 8})
        if (table.known_divisible(p.dim, by)) CHECK_MESSAGE(*p.value % by == 0, table.to_string(p.dim));
    }
    for (int i = 0; i < 20; ++i) {
      const Pair a = any(), b = any();
      if (table.known_equal(a.dim, b.dim)) CHECK(*a.value == *b.value);
      const auto q = table.exact_quotient(a.dim, b.dim);
      if (!q) continue;
      REQUIRE(*b.value != 0);
      CHECK(value_of(table, *q, values) * *b.value == *a.value);
    }
  }

  // What is printed reads back as an equal dim, here and in a fresh table.
  void check_text() {
    for (const Pair& p : pool) {
      const std::string text = table.to_string(p.dim);
      TokenReader here(text);
      CHECK_MESSAGE(table.known_equal(parse_dim(here, table).dim, p.dim), text);
      CHECK(here.token().kind == TokenKind::end);
      DimTable fresh;
      for (size_t i = 0; i < symbols; ++i) {
        const Bounds b = table.declared_bounds(pool[i].dim);
        fresh.symbol(table.symbol_name(pool[i].dim), b.lo, b.hi);
      }
      TokenReader there(text);
      CHECK_MESSAGE(value_of(fresh, parse_dim(there, fresh).dim, values) == *p.value, text);
    }
  }
};

}  // namespace

TEST_CASE("random dim expressions have the values of plain arithmetic") {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    World w(seed);
    for (int i = 0; i < 60; ++i) w.grow();
    w.check();
    w.check_text();
  }
}

TEST_CASE("true facts never make a random dim wrong") {
  for (uint64_t seed = 1000; seed < 1800; ++seed) {
    World w(seed);
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 12; ++i) w.grow();
      w.learn();
      w.check();
    }
  }
}

TEST_CASE("rollback after random facts leaves the table right") {
  for (uint64_t seed = 5000; seed < 5200; ++seed) {
    World w(seed);
    for (int i = 0; i < 20; ++i) w.grow();
    w.learn();
    const size_t kept = w.pool.size();
    const DimTable::Mark mark = w.table.mark();
    for (int i = 0; i < 20; ++i) w.grow();
    w.learn();
    w.learn();
    w.table.rollback(mark);
    w.pool.resize(kept);
    w.check();
    for (int i = 0; i < 20; ++i) w.grow();
    w.check();
  }
}
