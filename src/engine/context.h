// What executables share: options, log, caches, compiler module, threads, counters. Free-threaded.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/perf_map.h"
#include "base/trace.h"
#include "cache/disk.h"
#include "cache/host.h"
#include "cache/memory.h"
#include "cache/store.h"
#include "engine/alarms.h"
#include "runtime/executor.h"
#include "runtime/parallel.h"
#include "runtime/tally.h"

namespace ingot::engine {

class Background;
class DeviceKernels;
class Kernels;

// Numbers are those of ingot_backend in the public header.
enum class Backend : int32_t { automatic = 1, cpu = 2, interpreter = 3, cuda = 4 };

// Each counter only grows; a snapshot is not atomic as a whole.
struct Counters {
  std::atomic<uint64_t> graphs{0};      // compile() calls that succeeded
  std::atomic<uint64_t> kernels{0};     // distinct kernels of those graphs
  std::atomic<uint64_t> compiles{0};    // kernels compiled to machine code
  std::atomic<uint64_t> compile_ns{0};  // time spent in them, summed over threads
  std::atomic<uint64_t> memory_hits{0};
  std::atomic<uint64_t> disk_hits{0};  // and host callbacks
  std::atomic<uint64_t> pack_hits{0};
  std::atomic<uint64_t> misses{0};                              // none of them
  std::atomic<uint64_t> missed[cache::miss_reason_count] = {};  // asked of disk and host in vain, by reason
  std::atomic<uint64_t> interpreted{0};                         // kernels that fell back to the interpreter
};

struct ContextOptions {
  bool disk_cache = true;
  std::string cache_dir;  // empty: INGOT_CACHE_DIR, else the default place
  uint64_t disk_limit_bytes = uint64_t{1} << 30;
  cache::MemoryLimits memory;
  std::optional<cache::HostCallbacks> host_cache;  // trusted: what it returns is executed
  std::vector<std::string> packs;                  // absolute paths, asked in order before all else; trusted likewise
  std::string module_dir;                          // empty: INGOT_MODULE_DIR, else beside the library
  std::string cuda_driver, nvrtc;               // paths; empty: INGOT_CUDA_DRIVER, INGOT_NVRTC, else the usual places
  uint32_t threads = 0;                         // 0: INGOT_NUM_THREADS, else what affinity and quota allow
  bool no_threads = false;                      // the library creates none
  std::shared_ptr<runtime::Parallel> parallel;  // the host's; null: the library's pool
  Log log;                                      // without a sink: INGOT_LOG, else none
  bool ignore_environment = false;
  runtime::Allocator allocator;  // for scratch of runs and for outputs the library makes; none: its own
  std::shared_ptr<void> allocator_user;
  AlarmOptions alarms;
};

class Context {
 public:
  // Throws invalid_argument for a cache_dir given in the options that cannot be used safely; one from the environment
  // or the default place only costs a warning and the disk cache.
  static std::shared_ptr<Context> create(const ContextOptions& options);
  ~Context();

  const ContextOptions& options() const { return options_; }
  const Log& log() const { return log_; }
  Counters& counters() { return counters_; }
  const std::shared_ptr<runtime::Tallies>& tallies() const { return tallies_; }  // of runs
  Kernels& kernels() { return *kernels_; }
  DeviceKernels& device_kernels() { return *device_kernels_; }
  Background& background() { return *background_; }
  Alarms& alarms() { return *alarms_; }
  runtime::Parallel* parallel() const { return parallel_.get(); }
  // The disk cache; null where there is none.
  cache::DiskCache* disk() const { return disk_.get(); }
  // From INGOT_TRACE; null: nobody wants one.
  const Trace* trace() const { return trace_.get(); }
  // From INGOT_PERF_MAP; null: nobody wants one.
  const PerfMap* perf_map() const { return perf_map_.get(); }
  // Path of libnvrtc from INGOT_NVRTC; empty: the usual places.
  const std::string& nvrtc() const { return nvrtc_; }
  // Path of libcuda from INGOT_CUDA_DRIVER; empty: libcuda.so.1.
  const std::string& cuda_driver() const { return cuda_driver_; }
  // Stages that each compile writes to the log, from INGOT_DUMP: words of describe() in engine/describe.h.
  const std::vector<std::string>& dumps() const { return dumps_; }

 private:
  Context() = default;
  ContextOptions options_;
  Log log_;
  Counters counters_;
  const std::shared_ptr<runtime::Tallies> tallies_ = std::make_shared<runtime::Tallies>();
  std::shared_ptr<runtime::Parallel> parallel_;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<DeviceKernels> device_kernels_;
  std::shared_ptr<cache::DiskCache> disk_;
  std::vector<std::string> dumps_;
  std::string nvrtc_, cuda_driver_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<PerfMap> perf_map_;
  std::unique_ptr<Alarms> alarms_;
  std::unique_ptr<Background> background_;  // last: its thread is joined before anything else goes
};

}  // namespace ingot::engine
