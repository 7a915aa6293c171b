#include "base/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/error.h"

namespace ingot {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

// The array is never closed: the format allows that, since a process may end at any time.
Trace::Trace(const std::string& path) : file_(path) {
  if (file_.was_empty()) file_.write("[\n");
}

int64_t Trace::now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::span(std::string_view name, std::string_view detail, int64_t from) const noexcept {
  const int64_t took = now() - from;
  try {
    char times[120];
    std::snprintf(times, sizeof times, R"(,"ph":"X","pid":%ld,"tid":%ld,"ts":%.3f,"dur":%.3f)",
                  static_cast<long>(getpid()), static_cast<long>(syscall(SYS_gettid)), static_cast<double>(from) * 1e-3,
                  static_cast<double>(took) * 1e-3);
    file_.write(cat("{\"cat\":\"ingot\",\"name\":\"", escaped(name), "\"", times, ",\"args\":{\"detail\":\"",
                    escaped(detail), "\"}},\n"));
  } catch (const std::exception&) {
    // No memory for a line: it is missing.
  }
}

}  // namespace ingot
