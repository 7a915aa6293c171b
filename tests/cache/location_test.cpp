#include "cache/location.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "support.h"

using ingot::cache::default_directory;

namespace {

std::optional<std::string> with(const char* xdg, const char* home) {
  const auto set = [](const char* name, const char* value) { value ? setenv(name, value, 1) : unsetenv(name); };
  set("XDG_CACHE_HOME", xdg);
  set("HOME", home);
  return default_directory();
}

}  // namespace

TEST_CASE("cache location: the environment, absolute paths only") {
  CHECK(with("/x/cache", "/home/u") == "/x/cache/ingot");
  CHECK(with(nullptr, "/home/u") == "/home/u/.cache/ingot");
  CHECK(with("", "/home/u") == "/home/u/.cache/ingot");
  CHECK(with("relative", "/home/u") == "/home/u/.cache/ingot");
  CHECK(with("relative", "also/relative") == std::nullopt);
  CHECK(with(nullptr, "") == std::nullopt);
  CHECK(with(nullptr, nullptr) == std::nullopt);
}
