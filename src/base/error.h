// The one exception type of the library and the codes it carries.
//
// src/base is the bottom layer: it may include nothing of Ingot but itself. Exceptions live inside the library only;
// capi/ turns each into an ingot_status before it returns to the host.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace ingot {

// Numbers are those of ingot_code in the public header (asserted in capi); append-only, zero is success.
enum class Code : int32_t {
  ok = 0,
  invalid_argument = 1,
  out_of_range = 2,
  unimplemented = 3,
  failed_precondition = 4,
  not_found = 5,
  out_of_memory = 6,
  unavailable = 7,
  cancelled = 8,
  not_ready = 9,
  io_error = 10,
  internal = 11,
};

// The upper-case name of a code, "INVALID_ARGUMENT"; static storage.
const char* code_name(Code code) noexcept;

class Error : public std::exception {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Code code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
};

// Appends text or a number without looking at the locale.
void append(std::string& out, std::string_view text);
void append(std::string& out, const char* text);
void append(std::string& out, char c);
void append(std::string& out, bool b);
void append(std::string& out, int v);
void append(std::string& out, unsigned v);
void append(std::string& out, long v);
void append(std::string& out, unsigned long v);
void append(std::string& out, long long v);
void append(std::string& out, unsigned long long v);
void append(std::string& out, double v);  // shortest form that reads back to the same double

template <class... Args>
std::string cat(const Args&... args) {
  std::string out;
  (append(out, args), ...);
  return out;
}

template <class... Args>
[[noreturn]] void fail(Code code, const Args&... args) {
  throw Error(code, cat(args...));
}

// A broken invariant of Ingot's own. Never reached by input; a test that reaches it has found a fault.
template <class... Args>
[[noreturn]] void bug(const Args&... args) {
  throw Error(Code::internal, cat(args...));
}

}  // namespace ingot
