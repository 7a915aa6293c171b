#include "cache_place.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

namespace ingot::tool {

std::string directory_of(const EngineOptions& options) {
  if (!options.cache_dir.empty()) return options.cache_dir;
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  if (const std::string dir = value("INGOT_CACHE_DIR"); !dir.empty()) return dir.starts_with('/') ? dir : "";
  if (const std::string dir = value("XDG_CACHE_HOME"); dir.starts_with('/')) return dir + "/ingot";
  if (const std::string dir = value("HOME"); dir.starts_with('/')) return dir + "/.cache/ingot";
  return {};
}

bool is_missing(const std::string& path) {
  struct stat info;
  return !path.empty() && lstat(path.c_str(), &info) != 0 && errno == ENOENT;
}

}  // namespace ingot::tool
