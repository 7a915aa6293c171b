// How a verb ends: an exit code and one message on stderr.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#include "ingot/ingot.h"

namespace ingot::tool {

enum Exit : int { exit_done = 0, exit_failed = 1, exit_usage = 2, exit_bad_input = 3, exit_unsupported = 4 };

class ToolError : public std::runtime_error {
 public:
  ToolError(Exit code, const std::string& message) : std::runtime_error(message), exit(code) {}
  Exit exit;
};

template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

template <class... Parts>
[[noreturn]] void fail(Exit code, const Parts&... parts) {
  throw ToolError(code, cat(parts...));
}

// "1 kernel", "2 kernels".
inline std::string counted(uint64_t n, const char* one, const char* many) { return cat(n, ' ', n == 1 ? one : many); }

// Takes the status over; throws for anything but success. `where` stands before its message.
void check(ingot_status* status, const std::string& where = {});

}  // namespace ingot::tool
