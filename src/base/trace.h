// A trace of what the library spends time on, as Chrome's trace events in JSON, which Perfetto opens: one span per
// line, by process and thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/append_file.h"

namespace ingot {

// Appends to a file; several contexts and processes may write the same one. Free-threaded.
class Trace {
 public:
  // Throws io_error if the file cannot be opened for appending.
  explicit Trace(const std::string& path);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Nanoseconds of the steady clock.
  static int64_t now() noexcept;
  // A span that began at `from` and ends now. `detail` is shown with it.
  void span(std::string_view name, std::string_view detail, int64_t from) const noexcept;

 private:
  AppendFile file_;
};

// A span as long as it lives, where there is a trace; otherwise the check of a pointer.
class Span {
 public:
  Span(const Trace* trace, std::string_view name) noexcept : trace_(trace), name_(name) {
    if (trace_) from_ = Trace::now();
  }
  // `detail` is called only where there is a trace.
  template <class Detail>
  Span(const Trace* trace, std::string_view name, Detail&& detail) : Span(trace, name) {
    if (trace_) detail_ = detail();
  }
  ~Span() {
    if (trace_) trace_->span(name_, detail_, from_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const Trace* const trace_;
  const std::string_view name_;
  std::string detail_;
  int64_t from_ = 0;
};

}  // namespace ingot
