// Facts that cannot all be true are refused whatever order they come in, and those that can never are: judged by trying
// every small assignment.
#include "ir/dim_consistency.h"
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

// "" or what is wrong, found by assume() or afterwards.
std::string stated(const std::vector<std::string>& facts) {
  std::string where;
  for (const std::string& f : facts) where += (where.empty() ? "" : ", ") + f;
  return fault([&] {
    parse("ingot 1.0\ngraph @g(%x: f32[A], %y: f32[B], %z: f32[C]) -> (f32[A]) where " + where +
          " {\n  %0 = neg %x\n  return %0\n}\n");
  });
}

}  // namespace

TEST_CASE("contradictory facts are refused in every order") {
  const std::vector<std::vector<std::string>> contradictions = {
      {"A % 2 == 0", "A == B", "B == 3"},
      {"A*B == 7", "A == 2"},
      {"A*B == 8", "A == 2", "B == 3"},
      {"A % B == 0", "B == 0"},
      {"min(A, B) == 5", "A == 4"},
      {"max(A, B) == 5", "A == 6"},
      {"A/2 == 3", "A == 4"},
      {"A % 4 == 0", "A >= 1", "A <= 3"},
      {"A % 2 == 1", "B % 2 == 0", "A == B"},
      {"A == 2*B", "B == C", "C == 3", "A == 7"},
      {"A == B+1", "B == A+1"},
      {"A >= 5", "B <= 4", "A == B"},
      {"A*C == 7", "A == 2*B", "B == 3"},
      {"A % 6 == 0", "A == B", "B >= 13", "B <= 17"},
  };
  for (std::vector<std::string> facts : contradictions) {
    std::sort(facts.begin(), facts.end());
    do {
      INFO(facts[0], ", ", facts[1], facts.size() > 2 ? ", " + facts[2] : std::string());
      CHECK(stated(facts) != "");
    } while (std::next_permutation(facts.begin(), facts.end()));
  }
}

TEST_CASE("what has a solution among small numbers is never called a contradiction") {
  struct Clause {
    std::string text;
    std::function<bool(int64_t, int64_t, int64_t)> holds;
  };
  const auto multiple = [](int64_t v, int64_t by) { return by != 0 && v % by == 0; };
  const std::vector<Clause> clauses = {
      {"A % 2 == 0", [=](int64_t a, int64_t, int64_t) { return multiple(a, 2); }},
      {"A % 3 == 1", [](int64_t a, int64_t, int64_t) { return a % 3 == 1; }},
      {"B % 4 == 0", [=](int64_t, int64_t b, int64_t) { return multiple(b, 4); }},
      {"A == B", [](int64_t a, int64_t b, int64_t) { return a == b; }},
      {"B == 2*C", [](int64_t, int64_t b, int64_t c) { return b == 2 * c; }},
      {"A+B == 6", [](int64_t a, int64_t b, int64_t) { return a + b == 6; }},
      {"A*B == 8", [](int64_t a, int64_t b, int64_t) { return a * b == 8; }},
      {"C == 3", [](int64_t, int64_t, int64_t c) { return c == 3; }},
      {"A % C == 0", [=](int64_t a, int64_t, int64_t c) { return multiple(a, c); }},
      {"min(A, C) == 2", [](int64_t a, int64_t, int64_t c) { return std::min(a, c) == 2; }},
      {"max(B, C) == 4", [](int64_t, int64_t b, int64_t c) { return std::max(b, c) == 4; }},
      {"A/2 == C", [](int64_t a, int64_t, int64_t c) { return a / 2 == c; }},
      {"B >= 1", [](int64_t, int64_t b, int64_t) { return b >= 1; }},
      {"C <= 4", [](int64_t, int64_t, int64_t c) { return c <= 4; }},
  };
  int possible = 0, refused = 0;
  for (uint32_t set = 1; set < 1u << clauses.size(); ++set) {
    if (std::popcount(set) > 4) continue;
    std::vector<std::string> facts;
    for (size_t i = 0; i < clauses.size(); ++i)
      if (set >> i & 1) facts.push_back(clauses[i].text);
    bool some = false;
    for (int64_t n = 0; n < 13 * 13 * 13 && !some; ++n) {
      const int64_t a = n % 13, b = n / 13 % 13, c = n / 169;
      some = true;
      for (size_t i = 0; i < clauses.size(); ++i) some = some && (!(set >> i & 1) || clauses[i].holds(a, b, c));
    }
    if (set % 2) std::reverse(facts.begin(), facts.end());
    const std::string why = stated(facts);
    if (some) {
      INFO(why);
      CHECK(why.empty());
    }
    possible += some;
    refused += !why.empty();
  }
  MESSAGE(possible, " possible sets, ", refused, " refused");
  CHECK(possible > 1000);
  CHECK(refused > 100);
}

TEST_CASE("the position and the facts are told") {
  CHECK(fault([] {
          parse(
              "ingot 1.0\ngraph @g(%x: f32[A], %y: f32[B]) -> (f32[A]) where A % 2 == 0, A == B, B == 3 {\n"
              "  %0 = neg %x\n  return %0\n}\n");
        }) == "2:46: the facts contradict each other: A cannot be divisible by 2");
}

TEST_CASE("what follows from facts is used") {
  // Shapes that fit only by the facts.
  parse(
      "ingot 1.0\ngraph @g(%x: f32[A], %y: f32[4]) -> (f32[4]) where A*2 == 8 {\n  %0 = add %x, %y\n  return %0\n}\n");
  parse(
      "ingot 1.0\ngraph @g(%x: f32[A], %y: f32[B]) -> (f32[A]) where A == B+1, B == 3 {\n"
      "  %c = constant [1.0, 2.0, 3.0, 4.0] : f32[4]\n  %0 = add %x, %c\n  return %0\n}\n");
  parse(
      "ingot 1.0\ngraph @g(%x: f32[A]) -> (f32[A/6, 6]) where A % 2 == 0, A % 3 == 0 {\n"
      "  %0 = reshape %x {shape = [A/6, 6]}\n  return %0\n}\n");
}
