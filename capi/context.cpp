#include <cstddef>
#include <optional>

#include "capi/handles.h"
#include "engine/cache_report.h"
#include "engine/device_kernels.h"
#include "engine/kernels.h"

using namespace ingot;

namespace {

struct HostParallel final : runtime::Parallel {
  ingot_parallel_for call;
  std::shared_ptr<void> user;
  uint32_t tasks_at_once;
  uint32_t width() const noexcept override { return tasks_at_once; }
  void run(uint32_t tasks, Task fn, void* context) override {
    const runtime::HostFpEnv env;
    call(user.get(), tasks, fn, context);
  }
};

// The callback hands over the entry's bytes during the call.
void take_entry(void* out, const void* bytes, size_t size) {
  try {
    const auto* p = static_cast<const uint8_t*>(bytes);
    static_cast<std::optional<cache::Blob>*>(out)->emplace(p, p + size);
  } catch (...) {
    // No memory for the entry: a miss.
  }
}

cache::HostCallbacks host_cache(const ingot_context_options& o, const std::shared_ptr<void>& user) {
  cache::HostCallbacks calls;
  if (o.cache_get)
    calls.get = [get = o.cache_get, user](std::string_view key) {
      std::optional<cache::Blob> found;
      const runtime::HostFpEnv env;
      if (!get(user.get(), key.data(), key.size(), take_entry, &found)) found.reset();
      return found;
    };
  if (o.cache_put)
    calls.put = [put = o.cache_put, user](std::string_view key, std::span<const uint8_t> value) {
      const runtime::HostFpEnv env;
      put(user.get(), key.data(), key.size(), value.data(), value.size());
    };
  return calls;
}

engine::ContextOptions convert(const ingot_context_options& o, std::shared_ptr<void> log_user,
                               const std::shared_ptr<void>& cache_user, std::shared_ptr<void> parallel_user,
                               std::shared_ptr<void> allocator_user, std::shared_ptr<void> alarm_user) {
  engine::ContextOptions out;
  out.disk_cache = o.no_disk_cache == 0;
  if (o.cache_dir) {
    if (!*o.cache_dir)
      fail(Code::failed_precondition, "cache_dir is empty, expected an absolute path, or NULL for the default");
    out.cache_dir = o.cache_dir;
  }
  if (o.disk_cache_bytes) out.disk_limit_bytes = o.disk_cache_bytes;
  if (o.memory_cache_bytes) out.memory.bytes = o.memory_cache_bytes;
  if (o.memory_cache_entries) out.memory.entries = o.memory_cache_entries;
  if (o.module_dir) {
    if (o.module_dir[0] != '/') fail(Code::invalid_argument, "module_dir ", o.module_dir, " is not absolute");
    out.module_dir = o.module_dir;
  }
  out.threads = o.num_threads;
  out.no_threads = o.no_threads != 0;
  out.ignore_environment = o.ignore_environment != 0;
  if (o.log_level < 0 || o.log_level > INGOT_LOG_ERROR) fail(Code::invalid_argument, "unknown log_level ", o.log_level);
  if (o.log) {
    const auto least = o.log_level ? static_cast<LogLevel>(o.log_level) : LogLevel::warning;
    out.log = Log(
        [sink = o.log, user = std::move(log_user)](LogLevel level, std::string_view line) {
          const runtime::HostFpEnv env;
          sink(user.get(), static_cast<ingot_log_level>(level), line.data(), line.size());
        },
        least);
  }
  if (o.cache_get || o.cache_put) {
    if (o.trust_host_cache != 1)
      fail(Code::invalid_argument,
           "cache callbacks need trust_host_cache = 1: what they return is executed (SECURITY.md)");
    out.host_cache = host_cache(o, cache_user);
  }
  for (const char* const pack : capi::list(o.packs, o.n_packs, "packs")) {
    if (o.trust_host_cache != 1)
      fail(Code::invalid_argument, "packs need trust_host_cache = 1: what they hold is executed (SECURITY.md)");
    if (capi::need(pack, "a pack") != '/') fail(Code::invalid_argument, "pack ", pack, " is not an absolute path");
    out.packs.emplace_back(pack);
  }
  if (o.parallel_for) {
    auto parallel = std::make_shared<HostParallel>();
    parallel->call = o.parallel_for;
    parallel->user = std::move(parallel_user);
    parallel->tasks_at_once = o.parallel_width ? o.parallel_width
                              : o.num_threads  ? o.num_threads
                                               : runtime::available_cpus();
    out.parallel = std::move(parallel);
  }
  out.allocator = capi::allocator(o.allocate, o.deallocate, o.allocator_user);
  out.allocator_user = std::move(allocator_user);
  if (o.alarm_cache_percent > 100)
    fail(Code::invalid_argument, "alarm_cache_percent is ", o.alarm_cache_percent, ", expected 100 at most");
  if (o.alarm_cache_percent) out.alarms.cache_percent = o.alarm_cache_percent;
  if (o.alarm_queue) out.alarms.queue = o.alarm_queue;
  if (o.alarm)
    out.alarms.call = [call = o.alarm, user = std::move(alarm_user)](engine::AlarmKind kind, uint64_t value,
                                                                     uint64_t limit) {
      const runtime::HostFpEnv env;
      call(user.get(), static_cast<ingot_alarm_kind>(kind), value, limit);
    };
  return out;
}

}  // namespace

extern "C" {

void ingot_version(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major) *major = INGOT_VERSION_MAJOR;
  if (minor) *minor = INGOT_VERSION_MINOR;
  if (patch) *patch = INGOT_VERSION_PATCH;
}

ingot_status* ingot_context_create(const ingot_context_options* options, ingot_context** context) {
  // The destroy callbacks are owed whatever fails, so they are taken before anything is checked or allocated, as far as
  // the caller's struct reaches.
  const auto has = [&](size_t end) { return options && options->struct_size >= end; };
  capi::Owed log_user, cache_user, parallel_user, allocator_user, alarm_user;
  if (has(offsetof(ingot_context_options, log_level))) log_user = {options->log_user, options->log_destroy};
  if (has(offsetof(ingot_context_options, parallel_for))) cache_user = {options->cache_user, options->cache_destroy};
  if (has(offsetof(ingot_context_options, parallel_width)))
    parallel_user = {options->parallel_user, options->parallel_destroy};
  if (has(offsetof(ingot_context_options, packs)))
    allocator_user = {options->allocator_user, options->allocator_destroy};
  if (has(offsetof(ingot_context_options, alarm_cache_percent)))
    alarm_user = {options->alarm_user, options->alarm_destroy};
  return capi::guarded([&] {
    const ingot_context_options o = capi::options(options);
    auto& out = capi::need(context, "context");
    auto handle = std::make_unique<ingot_context>();
    handle->context = engine::Context::create(convert(o, log_user.share(), cache_user.share(), parallel_user.share(),
                                                      allocator_user.share(), alarm_user.share()));
    out = handle.release();
  });
}

void ingot_context_retain(ingot_context* context) {
  if (context) context->retain();
}

void ingot_context_release(ingot_context* context) {
  if (context && context->release()) delete context;
}

ingot_status* ingot_context_stats(const ingot_context* context, ingot_stats* stats) {
  return capi::guarded([&] {
    engine::Context& c = *capi::need(context, "context").context;
    capi::need(stats, "stats");
    if (stats->struct_size < sizeof(size_t)) fail(Code::invalid_argument, "stats->struct_size is ", stats->struct_size);
    const engine::Counters& n = c.counters();
    const runtime::RunCounts runs = c.tallies()->sum();
    const cache::MemoryStats memory = c.kernels().memory_stats(), devices = c.device_kernels().memory_stats();
    ingot_stats out{};
    out.struct_size = stats->struct_size;
    out.graphs = n.graphs.load();
    out.kernels = n.kernels.load();
    out.compiles = n.compiles.load();
    out.compile_ns = n.compile_ns.load();
    out.memory_hits = n.memory_hits.load();
    out.disk_hits = n.disk_hits.load();
    out.misses = n.misses.load();
    out.interpreted = n.interpreted.load();
    out.runs = runs.runs;
    out.launches = runs.launches;
    out.bytes_read = runs.bytes_read;
    out.bytes_written = runs.bytes_written;
    out.memory_cache_bytes = memory.bytes + devices.bytes;
    out.memory_cache_entries = memory.entries + devices.entries;
    out.evictions = memory.evictions + devices.evictions;
    out.compiler_loaded = c.kernels().compiler_loaded();
    out.pack_hits = n.pack_hits.load();
    const auto missed = [&](cache::MissReason reason) { return n.missed[static_cast<size_t>(reason)].load(); };
    out.missed_absent = missed(cache::MissReason::absent);
    out.missed_damaged = missed(cache::MissReason::content);
    out.missed_unreadable = missed(cache::MissReason::io);
    out.missed_collision = missed(cache::MissReason::collision);
    out.missed_disabled = missed(cache::MissReason::disabled);
    engine::CodeBytes code = c.kernels().code_bytes();
    code += c.device_kernels().code_bytes();
    out.code_resident = code.resident;
    out.code_pinned = code.pinned;
    out.scratch_kept = runs.scratch_bytes;
    out.forks = runs.forks;
    std::memcpy(stats, &out, std::min(stats->struct_size, sizeof out));
  });
}

ingot_status* ingot_context_cache(ingot_context* context, const char* command, size_t length, ingot_buffer** out) {
  return capi::guarded([&] {
    engine::Context& c = *capi::need(context, "context").context;
    capi::need(out, "out");
    auto buffer = std::make_unique<ingot_buffer>();
    buffer->bytes = engine::cache_report(c, capi::text(command, length, "command"));
    *out = buffer.release();
  });
}

ingot_status* ingot_context_trim(ingot_context* context, uint64_t bytes) {
  return capi::guarded([&] {
    engine::Context& c = *capi::need(context, "context").context;
    c.kernels().trim(bytes);
    c.device_kernels().trim(bytes);
  });
}

ingot_status* ingot_context_sync(ingot_context* context, int32_t device_type, int32_t device_id, void* stream) {
  return capi::guarded([&] {
    engine::Context& c = *capi::need(context, "context").context;
    if (device_type == runtime::device_cpu) {
      if (stream) fail(Code::invalid_argument, "the CPU has no streams");
      return;
    }
    if (device_type != runtime::device_cuda && device_type != runtime::device_cuda_managed)
      fail(Code::invalid_argument, "device type ", device_type, ", expected 1 (CPU) or 2 (CUDA)");
    c.device_kernels().sync(device_id, static_cast<device::StreamHandle>(stream));
  });
}

}  // extern "C"
