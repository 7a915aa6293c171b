#include "base/perf_map.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"

namespace ingot {

PerfMap::PerfMap() : file_(cat("/tmp/perf-", getpid(), ".map"), true) {}

void PerfMap::add(const void* code, size_t bytes, std::string_view name) const noexcept {
  try {
    char where[64];
    std::snprintf(where, sizeof where, "%zx %zx ", reinterpret_cast<size_t>(code), bytes);
    std::string line = cat(where, name, "\n");
    std::replace_if(line.begin(), line.end() - 1, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    file_.write(line);
  } catch (const std::exception&) {
    // No memory for a line: it is missing.
  }
}

}  // namespace ingot
