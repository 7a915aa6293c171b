#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "bench.h"
#include "error.h"
#include "gpu.h"
#include "plan.h"

namespace ingot::tool {

namespace {

double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// The time of one call, from enough of them that the clock's own cost does not count. On a device calls are enqueued
// and waited for together.
template <class F>
double per_call(size_t calls, F&& f, const Gpu* gpu) {
  const double start = now_ns();
  for (size_t i = 0; i < calls; ++i) f();
  if (gpu) gpu->wait();
  return (now_ns() - start) / static_cast<double>(calls);
}

// How many calls make a sample of about 2 ms.
template <class F>
size_t calibrated(F&& f, const Gpu* gpu) {
  size_t calls = 1;
  for (;;) {
    const double total = per_call(calls, f, gpu) * static_cast<double>(calls);
    if (total > 5e5 || calls > 1'000'000)
      return std::max<size_t>(1, static_cast<size_t>(static_cast<double>(calls) * 2e6 / std::max(total, 1.0)));
    calls *= 4;
  }
}

// A graph with its arrays: in the host's memory, or on the device if there is one.
struct Runner {
  Runner(ingot_context* context, const std::string& source, const EngineOptions& options,
         const FeedOptions& feed_options, const Gpu* gpu)
      : graph(parse_graph(context, source, "graph")),
        executable(compile_graph(context, graph.get(), options)),
        feed(executable.get(), feed_options) {
    run.serial = options.threads == 1;
    if (!gpu) return;
    on_device.emplace(*gpu, feed);
    run.stream = gpu->stream();
  }
  void operator()() {
    if (on_device) on_device->run(executable.get(), &run);
    else feed.run(executable.get(), &run);
  }
  // Until the results are there; throws what went wrong meanwhile.
  void finish(ingot_context* context) const {
    if (!on_device) return;
    check(ingot_context_sync(context, 2, 0, run.stream));
    on_device->fetch();
  }

  Graph graph;
  Executable executable;
  Feed feed;
  std::optional<GpuFeed> on_device;
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
};

std::string sizes_text(const Symbols& symbols) {
  std::string out;
  for (const auto& [name, value] : symbols) out += cat(out.empty() ? "" : ", ", name, "=", value);
  return out;
}

// Sizes for which a call does next to nothing: those given, else the first of a few that the graph's facts allow.
FeedOptions tiny_feed(const BenchArgs& args, ingot_context* context, const std::string& source) {
  FeedOptions out = args.feed;
  out.shapes = args.tiny;
  if (!args.tiny.empty()) return out;
  const Graph graph = parse_graph(context, source, "graph");
  const Executable executable = compile_graph(context, graph.get(), args.engine);
  const std::vector<std::string> symbols = Plan(executable.get()).symbols();
  std::vector<int64_t> candidates{1, 2, 3, 4, 8, 16, 32, 64};
  if (symbols.size() == 1) candidates.insert(candidates.begin(), 16);
  for (const int64_t n : candidates) {
    out.shapes.clear();
    for (const std::string& s : symbols) out.shapes.push_back(cat(s, "=", n));
    try {
      Feed feed(executable.get(), out);
      feed.run(executable.get());
      return out;
    } catch (const ToolError& e) {
      if (e.exit != exit_bad_input) throw;
    }
  }
  fail(exit_usage, "no tiny sizes fit this graph; give some as --tiny SYMBOL=NUMBER");
}

// Moves so many bytes from one place to another.
class Copy {
 public:
  virtual ~Copy() = default;
  virtual void operator()() const = 0;
};

class HostCopy final : public Copy {
 public:
  explicit HostCopy(size_t bytes)
      : from_(INGOT_U8, {static_cast<int64_t>(bytes)}, "memcpy's source"),
        to_(INGOT_U8, {static_cast<int64_t>(bytes)}, "memcpy's destination") {
    std::memset(from_.data(), 1, bytes);
  }
  void operator()() const override {
    std::memcpy(to_.data(), from_.data(), from_.bytes());
    // The copy must not be dropped as unread.
    asm volatile("" : : "r"(to_.data()) : "memory");
  }

 private:
  Array from_;
  mutable Array to_;
};

class DeviceCopy final : public Copy {
 public:
  DeviceCopy(size_t bytes, const Gpu& gpu) : gpu_(gpu), bytes_(bytes), from_(gpu, bytes), to_(gpu, bytes) {}
  void operator()() const override { gpu_.copy(to_.at(), from_.at(), bytes_); }

 private:
  const Gpu& gpu_;
  const size_t bytes_;
  const GpuMemory from_, to_;
};

std::unique_ptr<const Copy> make_copy(size_t bytes, const Gpu* gpu) {
  if (gpu) return std::make_unique<DeviceCopy>(bytes, *gpu);
  return std::make_unique<HostCopy>(bytes);
}

// Null where the runs are none on a device.
std::unique_ptr<const Gpu> device_for(const EngineOptions& options) {
  return options.backend == "cuda" ? std::make_unique<const Gpu>() : nullptr;
}

void time_calls(const BenchArgs& args, ingot_context* context, const std::string& source, const Gpu* gpu, Figures& f) {
  EngineOptions unfused_options = args.engine;
  unfused_options.fuse = false;
  Runner fused(context, source, args.engine, args.feed, gpu);
  Runner unfused(context, source, unfused_options, args.feed, gpu);
  fused();
  const ingot_stats before = stats_of(context);
  fused();
  const ingot_stats between = stats_of(context);
  unfused();
  const ingot_stats after = stats_of(context);
  fused.finish(context);
  unfused.finish(context);
  f.launches = between.launches - before.launches;
  f.unfused_launches = after.launches - between.launches;
  f.bytes_read = between.bytes_read - before.bytes_read;
  f.bytes_written = between.bytes_written - before.bytes_written;
  f.sizes = sizes_text(fused.feed.symbols());
  const auto plan = Plan(fused.executable.get());
  f.backend = plan.json()["backend_used"];
  f.kernels = plan.json()["kernels"];
  // relaxed_precision lets fusion change bits.
  const std::string text = describe(fused.executable.get(), "graph");
  const bool exact = text.substr(0, text.find("{\n")).find(" flags(relaxed_precision") == std::string::npos;
  for (size_t i = 0; exact && i < fused.feed.results().size(); ++i)
    if (fused.feed.results()[i].view() != unfused.feed.results()[i].view())
      fail(exit_failed, "output ", i, " differs between the fused and the unfused run; nothing is timed");

  const size_t half = std::max<size_t>(1, (f.bytes_read + f.bytes_written) / 2);
  const std::unique_ptr<const Copy> copy = make_copy(half, gpu);
  const size_t fused_calls = calibrated(fused, gpu), unfused_calls = calibrated(unfused, gpu);
  const size_t copies = calibrated(*copy, gpu);
  f.fused_calls = fused_calls;
  // Alternated, so that what disturbs the machine disturbs all three.
  for (int s = 0; s < args.samples; ++s) {
    f.fused.push_back(per_call(fused_calls, fused, gpu));
    f.unfused.push_back(per_call(unfused_calls, unfused, gpu));
    f.memory.push_back(per_call(copies, *copy, gpu));
  }
}

}  // namespace

Spread spread(Samples samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<size_t>(place);
    const double above = samples[std::min(below + 1, samples.size() - 1)];
    return samples[below] + (place - static_cast<double>(below)) * (above - samples[below]);
  };
  return {samples.front(), at(0.1), at(0.5), at(0.9)};
}

FirstCall first_call(const BenchArgs& args, const std::string& cache_dir) {
  EngineOptions options = args.engine;
  options.cache_dir = cache_dir;
  FirstCall out;
  // A host has its device before it has this library.
  const std::unique_ptr<const Gpu> gpu = device_for(options);
  const double start = now_ns();
  const Context context = make_context(options);
  const double created = now_ns();
  const Graph graph = load_graph(context.get(), args.graph);
  const Executable executable = compile_graph(context.get(), graph.get(), options);
  const double planned = now_ns();
  check(ingot_executable_prepare(executable.get(), nullptr, 0, nullptr, nullptr));
  const double prepared = now_ns();
  // Making the arrays up is the tool's time, not the library's.
  Feed feed(executable.get(), args.feed);
  std::optional<GpuFeed> on_device;
  if (gpu) on_device.emplace(*gpu, feed);
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
  run.serial = options.threads == 1;
  if (gpu) run.stream = gpu->stream();
  const double ready = now_ns();
  if (on_device) on_device->run(executable.get(), &run), gpu->wait();
  else feed.run(executable.get(), &run);
  out.run = now_ns() - ready;
  out.context = created - start;
  out.plan = planned - created;
  out.prepare = prepared - planned;
  const ingot_stats stats = stats_of(context.get());
  out.compiles = stats.compiles;
  out.compiler_loaded = stats.compiler_loaded;
  return out;
}

void measure_calls(const BenchArgs& args, const std::string& source, Figures& f) {
  EngineOptions memory_only = args.engine;
  memory_only.disk_cache = false;
  const std::unique_ptr<const Gpu> gpu = device_for(args.engine);
  if (gpu) f.device = gpu->name();
  const Context context = make_context(memory_only);
  time_calls(args, context.get(), source, gpu.get(), f);

  // A new context has no kernel in its memory cache, and the compiler is loaded already.
  for (int s = 0; s < args.samples; ++s) {
    const Context fresh = make_context(memory_only);
    const double start = now_ns();
    const Graph graph = parse_graph(fresh.get(), source, "graph");
    const Executable executable = compile_graph(fresh.get(), graph.get(), args.engine);
    check(ingot_executable_prepare(executable.get(), nullptr, 0, nullptr, nullptr));
    f.later_compile.push_back(now_ns() - start);
  }

  Runner tiny(context.get(), source, args.engine, tiny_feed(args, context.get(), source), gpu.get());
  f.tiny = sizes_text(tiny.feed.symbols());
  const size_t calls = calibrated(tiny, gpu.get());
  for (int s = 0; s < args.samples; ++s) f.dispatch.push_back(per_call(calls, tiny, gpu.get()));
}

}  // namespace ingot::tool
