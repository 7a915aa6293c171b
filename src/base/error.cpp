#include "base/error.h"

#include <charconv>

namespace ingot {

const char* code_name(Code code) noexcept {
  switch (code) {
    case Code::ok: return "OK";
    case Code::invalid_argument: return "INVALID_ARGUMENT";
    case Code::out_of_range: return "OUT_OF_RANGE";
    case Code::unimplemented: return "UNIMPLEMENTED";
    case Code::failed_precondition: return "FAILED_PRECONDITION";
    case Code::not_found: return "NOT_FOUND";
    case Code::out_of_memory: return "OUT_OF_MEMORY";
    case Code::unavailable: return "UNAVAILABLE";
    case Code::cancelled: return "CANCELLED";
    case Code::not_ready: return "NOT_READY";
    case Code::io_error: return "IO_ERROR";
    case Code::internal: return "INTERNAL";
  }
  return "UNKNOWN";
}

namespace {
template <class T>
void append_number(std::string& out, T v) {
  char text[40];  // 40 holds the longest shortest-form double and any 64-bit integer
  const auto end = std::to_chars(text, text + sizeof text, v);
  out.append(text, end.ptr);
}
}  // namespace

void append(std::string& out, std::string_view text) { out.append(text); }
void append(std::string& out, const char* text) { out.append(text); }
void append(std::string& out, char c) { out.push_back(c); }
void append(std::string& out, bool b) { out.append(b ? "true" : "false"); }
void append(std::string& out, int v) { append_number(out, v); }
void append(std::string& out, unsigned v) { append_number(out, v); }
void append(std::string& out, long v) { append_number(out, v); }
void append(std::string& out, unsigned long v) { append_number(out, v); }
void append(std::string& out, long long v) { append_number(out, v); }
void append(std::string& out, unsigned long long v) { append_number(out, v); }
void append(std::string& out, double v) { append_number(out, v); }

}  // namespace ingot
