#include "jit/image/isa.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace ingot::jit;

TEST_CASE("a level runs itself and what is below it") {
  CHECK(can_run("x86-64-v3", "x86-64-v3"));
  CHECK(can_run("x86-64-v3", "x86-64-v2"));
  CHECK(can_run("x86-64-v4", "x86-64-v2"));
  CHECK_FALSE(can_run("x86-64-v3", "x86-64-v4"));
  CHECK_FALSE(can_run("x86-64-v2", "x86-64-v3"));
  CHECK(can_run("aarch64", "aarch64"));
  CHECK_FALSE(can_run("aarch64", "x86-64-v2"));
  CHECK_FALSE(can_run("x86-64-v4", "aarch64"));
  CHECK_FALSE(can_run("", "x86-64-v2"));
  CHECK_FALSE(can_run("x86-64-v4", ""));
  CHECK_FALSE(can_run("x86-64-v4", "x86-64-v5"));
}

#if defined(__x86_64__)
// gcc's own reading of CPUID and XCR0 is the other witness.
TEST_CASE("the host's level is what the compiler's run-time finds") {
  __builtin_cpu_init();
  const bool v4 = __builtin_cpu_supports("x86-64-v4"), v3 = __builtin_cpu_supports("x86-64-v3"),
             v2 = __builtin_cpu_supports("x86-64-v2");
  CHECK(host_target() == (v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : v2 ? "x86-64-v2" : ""));
}
#endif

TEST_CASE("the levels below a level are those that its processors run, highest first") {
  const auto below = [](std::string_view target) {
    const auto levels = targets_below(target);
    return std::vector<std::string_view>(levels.begin(), levels.end());
  };
  using List = std::vector<std::string_view>;
  CHECK(below("x86-64-v4") == List{"x86-64-v4", "x86-64-v3", "x86-64-v2"});
  CHECK(below("x86-64-v2") == List{"x86-64-v2"});
  CHECK(below("aarch64") == List{"aarch64"});
  CHECK(below("").empty());
  CHECK(below("sm_90").empty());
  for (const std::string_view a : below("x86-64-v4"))
    for (const std::string_view b : below(a)) CHECK(can_run(a, b));
}
