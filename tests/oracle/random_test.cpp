#include <doctest/doctest.h>

#include "differential.h"

TEST_CASE("random graphs give the oracle's bits at every size, fused, unfused and compiled") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = ingot::oracle::differential(seed);
    INFO(text);
    CHECK(text.empty());
  }
}
