// The exact answers of overlap() against counting bytes, over random small regions.
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "runtime/overlap.h"

using namespace ingot::runtime;

namespace {

struct Piece {
  size_t item;
  std::vector<int64_t> extent, stride;
  const char* base;
  Region region() const { return {base, item, extent.size(), extent.data(), stride.data()}; }
};

// Every byte of the region, with repetition.
std::vector<uintptr_t> bytes_of(const Piece& p) {
  std::vector<uintptr_t> out{reinterpret_cast<uintptr_t>(p.base)};
  for (size_t d = 0; d < p.extent.size(); ++d) {
    std::vector<uintptr_t> next;
    for (const uintptr_t b : out)
      for (int64_t i = 0; i < p.extent[d]; ++i) next.push_back(b + static_cast<uintptr_t>(i * p.stride[d]));
    out = std::move(next);
  }
  std::vector<uintptr_t> all;
  for (const uintptr_t b : out)
    for (size_t i = 0; i < p.item; ++i) all.push_back(b + i);
  return all;
}

uint32_t state = 12345;
int64_t random_between(int64_t lo, int64_t hi) {
  state = state * 1664525 + 1013904223;
  return lo + static_cast<int64_t>(state >> 8) % (hi - lo + 1);
}

Piece random_piece() {
  static const char memory[4096] = {};
  constexpr size_t items[] = {1, 2, 4, 8};
  Piece p{items[random_between(0, 3)], {}, {}, memory + 2048 + random_between(-40, 40)};
  for (int64_t d = random_between(0, 3); d > 0; --d) {
    p.extent.push_back(random_between(0, 4));
    p.stride.push_back(random_between(-20, 20) * (random_between(0, 1) ? static_cast<int64_t>(p.item) : 1));
  }
  return p;
}

}  // namespace

TEST_CASE("two regions overlap where they share a byte") {
  int yes = 0;
  for (int i = 0; i < 20000; ++i) {
    const Piece a = random_piece(), b = random_piece();
    const auto in_a = bytes_of(a), in_b = bytes_of(b);
    const std::set<uintptr_t> set(in_a.begin(), in_a.end());
    bool want = false;
    for (const uintptr_t byte : in_b) want = want || set.contains(byte);
    yes += want;
    REQUIRE(overlap(a.region(), b.region()) == want);
  }
  CHECK(yes > 1000);
}

TEST_CASE("a region overlaps itself where two indices share a byte") {
  int yes = 0;
  for (int i = 0; i < 20000; ++i) {
    const Piece a = random_piece();
    const auto bytes = bytes_of(a);
    const bool want = std::set<uintptr_t>(bytes.begin(), bytes.end()).size() != bytes.size();
    yes += want;
    REQUIRE(self_overlap(a.region()) == want);
  }
  CHECK(yes > 1000);
}
