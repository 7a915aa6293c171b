#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>

#include "base/fork.h"

namespace ingot {

namespace {

// With a lock of its own, since a forked child would never get spdlog's back if another thread was writing.
class Stderr final : ForkHandler {
 public:
  Stderr() : logger_("ingot", std::make_shared<spdlog::sinks::stderr_sink_st>()) {
    logger_.set_pattern("%n: %l: %v");
    logger_.set_level(spdlog::level::debug);
  }
  void write(LogLevel level, std::string_view text) {
    static constexpr spdlog::level::level_enum levels[] = {
        spdlog::level::off, spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
    const std::lock_guard lock(mutex_);
    logger_.log(levels[static_cast<int32_t>(level)], "{}", text);
  }

 private:
  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork_in_parent() noexcept override { mutex_.unlock(); }
  void after_fork_in_child() noexcept override { mutex_.unlock(); }

  std::mutex mutex_;
  spdlog::logger logger_;
  ForkRegistration registration_{*this};
};

}  // namespace

Log::Sink stderr_sink() {
  return [out = std::make_shared<Stderr>()](LogLevel level, std::string_view text) { out->write(level, text); };
}

bool parse_log_level(std::string_view name, LogLevel& level) {
  static constexpr std::pair<std::string_view, LogLevel> names[] = {
      {"debug", LogLevel::debug}, {"info", LogLevel::info}, {"warning", LogLevel::warning}, {"error", LogLevel::error}};
  for (const auto& [text, value] : names) {
    if (name == text) {
      level = value;
      return true;
    }
  }
  return false;
}

}  // namespace ingot
