// random_graphs SEED COUNT: differential testing beyond what the test suite takes time for. Prints each failing
// seed with its reduced graph; exit status 1 if there is one.
#include <cstdio>
#include <cstdlib>

#include "differential.h"

int main(int argc, char** argv) {
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  uint64_t bad = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = ingot::oracle::differential(seed);
    if (text.empty()) continue;
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
    ++bad;
  }
  std::printf("%llu of %llu graphs failed\n", static_cast<unsigned long long>(bad),
              static_cast<unsigned long long>(count));
  return bad ? 1 : 0;
}
