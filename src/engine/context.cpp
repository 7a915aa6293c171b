#include "engine/context.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cache/location.h"
#include "cache/stack.h"
#include "engine/background.h"
#include "engine/device_kernels.h"
#include "engine/kernels.h"

namespace ingot::engine {

namespace {

// secure_getenv: a set-user-id program must not be steered by its caller.
std::string environment(const ContextOptions& options, const char* name) {
  if (options.ignore_environment) return {};
  const char* v = secure_getenv(name);
  return v ? v : "";
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) out.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return out;
}

Log make_log(const ContextOptions& options) {
  if (options.log.enabled(LogLevel::error)) return options.log;
  const std::string level = environment(options, "INGOT_LOG");
  LogLevel least = LogLevel::warning;
  // Dumps are asked for to be seen.
  if (level.empty() && !environment(options, "INGOT_DUMP").empty()) return {stderr_sink(), LogLevel::info};
  if (level.empty()) return {};
  if (!parse_log_level(level, least)) {
    Log log(stderr_sink(), LogLevel::warning);
    log.write(LogLevel::warning, "INGOT_LOG=", level, " is none of debug, info, warning, error; using warning");
    return log;
  }
  return {stderr_sink(), least};
}

std::shared_ptr<cache::DiskCache> open_directory(const ContextOptions& options, const Log& log) {
  const cache::DiskLimits limits{.bytes = options.disk_limit_bytes};
  if (!options.cache_dir.empty()) return cache::DiskCache::open(options.cache_dir, limits, log);
  std::string path = environment(options, "INGOT_CACHE_DIR");
  // Without an environment there is no default place either: both variables that name it are ignored.
  if (path.empty() && !options.ignore_environment) path = cache::default_directory().value_or("");
  if (path.empty()) return nullptr;
  try {
    return cache::DiskCache::open(path, limits, log);
  } catch (const Error& e) {
    log.write(LogLevel::warning, "kernels are cached in memory only: ", e.message());
    return nullptr;
  }
}

uint32_t thread_count(const ContextOptions& options, const Log& log) {
  if (options.threads > 0) return options.threads;
  const std::string text = environment(options, "INGOT_NUM_THREADS");
  uint32_t n = 0;
  if (!text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error == std::errc{} && end == text.data() + text.size() && n > 0) return n;
    log.write(LogLevel::warning, "INGOT_NUM_THREADS=", text, " is no positive number; ignored");
  }
  return runtime::available_cpus();
}

// What `make` makes; null, with a warning, where its file cannot be written.
template <class Make>
auto watching(const char* variable, const Log& log, Make&& make) -> decltype(make()) {
  try {
    return make();
  } catch (const Error& e) {
    log.write(LogLevel::warning, variable, ": ", e.message());
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<Context> Context::create(const ContextOptions& options) {
  std::shared_ptr<Context> context(new Context());
  context->options_ = options;
  context->log_ = make_log(options);
  context->alarms_ = std::make_unique<Alarms>(options.alarms);
  context->dumps_ = split(environment(options, "INGOT_DUMP"));
  context->nvrtc_ = options.nvrtc.empty() ? environment(options, "INGOT_NVRTC") : options.nvrtc;
  context->cuda_driver_ = options.cuda_driver.empty() ? environment(options, "INGOT_CUDA_DRIVER") : options.cuda_driver;
  if (const std::string path = environment(options, "INGOT_TRACE"); !path.empty())
    context->trace_ = watching("INGOT_TRACE", context->log_, [&] { return std::make_unique<Trace>(path); });
  if (environment(options, "INGOT_PERF_MAP") == "1")
    context->perf_map_ = watching("INGOT_PERF_MAP", context->log_, [] { return std::make_unique<PerfMap>(); });
  if (options.parallel) context->parallel_ = options.parallel;
  else if (!options.no_threads)
    context->parallel_ = std::make_shared<runtime::Pool>(thread_count(options, context->log_));
  std::vector<std::shared_ptr<cache::Store>> stores;
  if (options.disk_cache) context->disk_ = open_directory(options, context->log_);
  if (context->disk_) stores.push_back(context->disk_);
  if (options.host_cache) stores.push_back(std::make_shared<cache::HostStore>(*options.host_cache, context->log_));
  std::vector<std::shared_ptr<cache::Pack>> packs;
  for (const std::string& path : options.packs) packs.push_back(cache::Pack::open(path, context->log_));
  std::string modules = options.module_dir.empty() ? environment(options, "INGOT_MODULE_DIR") : options.module_dir;
  context->kernels_ = std::make_unique<Kernels>(*context, std::move(packs),
                                                std::make_unique<cache::Stack>(std::move(stores)), std::move(modules));
  context->device_kernels_ = std::make_unique<DeviceKernels>(*context);
  context->background_ = std::make_unique<Background>();
  return context;
}

Context::~Context() = default;

}  // namespace ingot::engine
