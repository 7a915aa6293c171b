#include "cache/location.h"

#include <stdlib.h>

namespace ingot::cache {

namespace {

std::optional<std::string> absolute_path_in(const char* variable) {
  const char* value = secure_getenv(variable);
  if (!value || value[0] != '/') return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> default_directory() {
  if (const auto cache = absolute_path_in("XDG_CACHE_HOME")) return *cache + "/ingot";
  if (const auto home = absolute_path_in("HOME")) return *home + "/.cache/ingot";
  return std::nullopt;
}

}  // namespace ingot::cache
