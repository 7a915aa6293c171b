#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace ingot {

Log::Sink stderr_sink() {
  auto logger = std::make_shared<spdlog::logger>("ingot", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%n: %l: %v");
  logger->set_level(spdlog::level::debug);
  return [logger](LogLevel level, std::string_view text) {
    static constexpr spdlog::level::level_enum levels[] = {
        spdlog::level::off, spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
    logger->log(levels[static_cast<int32_t>(level)], "{}", text);
  };
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
