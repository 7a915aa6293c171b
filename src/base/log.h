// The log: a sink installed by the host (or INGOT_LOG on stderr through spdlog). Without a sink nothing is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ingot {

enum class LogLevel : int32_t { debug = 1, info = 2, warning = 3, error = 4 };

// One log per context. Thread-safe: the sink is fixed at construction and may be called on any thread with no lock
// held.
class Log {
 public:
  using Sink = std::function<void(LogLevel, std::string_view)>;

  Log() = default;
  Log(Sink sink, LogLevel least) : sink_(std::move(sink)), least_(least) {}

  bool enabled(LogLevel level) const { return sink_ && level >= least_; }
  template <class... Args>
  void write(LogLevel level, const Args&... args) const {
    if (enabled(level)) sink_(level, cat(args...));
  }

 private:
  Sink sink_;
  LogLevel least_ = LogLevel::warning;
};

// A sink that writes lines "ingot: warning: ..." to stderr.
Log::Sink stderr_sink();

// "debug", "info", "warning" or "error"; false if the name is none of them.
bool parse_log_level(std::string_view name, LogLevel& level);

}  // namespace ingot
