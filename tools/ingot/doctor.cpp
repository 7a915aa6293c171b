// ingot doctor: what works here, and why the rest does not.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cache_place.h"
#include "error.h"
#include "verbs.h"

namespace ingot::tool {

namespace {

// Eight kernels' worth of trust in one line: code is made (or loaded), mapped, run, and gives what it must.
constexpr const char* probe =
    "ingot 1.0\ngraph @doctor(%x: f32[N]) -> (f32[N]) {\n  %0 = mul %x, %x\n  %1 = add %0, 1.0\n  return %1\n}\n";

std::string run_probe(ingot_context* context, const char* backend) {
  EngineOptions options;
  options.backend = backend;
  const Graph graph = parse_graph(context, probe, "probe");
  const Executable executable = compile_graph(context, graph.get(), options);
  FeedOptions feed_options;
  feed_options.random = 1;
  feed_options.shapes = {"N=1000"};
  feed_options.ranges = {"x=3:3"};
  Feed feed(executable.get(), feed_options);
  feed.run(executable.get());
  const Array& y = feed.results()[0];
  for (size_t i = 0; i < y.count(); ++i)
    if (const double v = decode(y.type(), y.data() + 4 * i); v != 10)
      return cat("wrong result: element ", i, " is ", v, ", expected 10");
  return {};
}

class Report {
 public:
  void line(const char* what, const std::string& value) { std::printf("%-16s %s\n", what, value.c_str()); }
  void problem(const char* what, const std::string& value) {
    line(what, "PROBLEM: " + value);
    ++problems_;
  }
  int problems() const { return problems_; }

 private:
  int problems_ = 0;
};

void probe_backend(Report& report, ingot_context* context, const char* what, const char* backend) {
  try {
    const std::string fault = run_probe(context, backend);
    if (fault.empty()) report.line(what, "compiles, runs, right result");
    else report.problem(what, fault);
  } catch (const ToolError& e) {
    report.problem(what, e.what());
  }
}

// Driver and NVRTC are optional, so their absence is no problem. What is said comes from the library, which looks for
// them as it does for runs and for `compile --emit cubin`.
void probe_cuda(Report& report, ingot_context* context) {
  EngineOptions options;
  options.backend = "cuda";
  const Graph graph = parse_graph(context, probe, "probe");
  const auto said = nlohmann::json::parse(describe(compile_graph(context, graph.get(), options).get(), "device"));
  if (said["driver"].is_null()) {
    report.line("CUDA driver", cat("not here. ", said["driver_error"].get<std::string>()));
  } else {
    const auto& driver = said["driver"];
    report.line("CUDA driver",
                cat(driver["library"].get<std::string>(), ", serves CUDA ", driver["version"].get<std::string>()));
    for (const auto& d : said["devices"])
      report.line("CUDA device",
                  cat(d["ordinal"].get<int>(), ": ", d["name"].get<std::string>(), ", ", d["target"].get<std::string>(),
                      ", ", d["multiprocessors"].get<int>(), " multiprocessors"));
    try {
      const std::string fault = run_probe(context, "cuda");
      if (fault.empty()) report.line("CUDA", "compiles, runs, right result");
      else report.problem("CUDA", fault);
    } catch (const ToolError& e) {
      if (e.exit == exit_unsupported) report.line("CUDA", cat("not here. ", e.what()));
      else report.problem("CUDA", e.what());
    }
  }
  if (said["nvrtc"].is_null()) {
    report.line("NVRTC", cat("none, so no cubins; INGOT_NVRTC may name one. ", said["nvrtc_error"].get<std::string>()));
    return;
  }
  const std::string what =
      cat(said["nvrtc"]["library"].get<std::string>(), ", version ", said["nvrtc"]["version"].get<std::string>());
  try {
    options.backend = "auto";
    options.target = "sm_90";
    describe(compile_graph(context, graph.get(), options).get(), "cubin");
    report.line("NVRTC", what + ", makes cubins");
  } catch (const ToolError& e) {
    report.problem("NVRTC", cat(what, ": ", e.what()));
  }
}

}  // namespace

int doctor_verb(const EngineOptions& engine) {
  Report report;
  int32_t major = 0, minor = 0, patch = 0;
  ingot_version(&major, &minor, &patch);
  report.line("library", cat(major, ".", minor, ".", patch));
  report.line("header", cat(INGOT_VERSION_MAJOR, ".", INGOT_VERSION_MINOR, ".", INGOT_VERSION_PATCH));
  // The probes below compile: into no cache, and no directory is made for looking.
  EngineOptions without = engine;
  without.disk_cache = false;
  const Context probing = make_context(without);
  EngineOptions looking = engine;
  const std::string place = directory_of(engine);
  looking.disk_cache = engine.disk_cache && !is_missing(place);
  const Context context = make_context(looking);
  const auto info = nlohmann::json::parse(cache_command(context.get(), "info"));
  report.line("target", info["target"].get<std::string>());
  report.line("threads", cat(info["threads"].get<int>()));
  const std::string module_error = info["module_error"];
  if (module_error.empty()) {
    report.line("compiler module", info["module"].get<std::string>());
    report.line("build id", info["module_id"].get<std::string>());
  } else {
    report.problem("compiler module", module_error + "; kernels are interpreted");
  }
  if (engine.disk_cache && is_missing(place)) {
    report.line("disk cache", place + ", not there yet");
  } else if (info["directory"].is_null()) {
    report.line("disk cache", "none: kernels are cached in memory only");
  } else {
    const std::string directory = info["directory"];
    const auto list = nlohmann::json::parse(cache_command(context.get(), "list"));
    if (info["writable"].get<bool>())
      report.line("disk cache", cat(directory, ", ", counted(list["entries"].size(), "entry", "entries"), ", ",
                                    counted(list["bytes"].get<uint64_t>(), "byte", "bytes")));
    else report.problem("disk cache", directory + " is not writable");
  }
  probe_backend(report, probing.get(), "interpreter", "interp");
  if (module_error.empty()) probe_backend(report, probing.get(), "machine code", "cpu");
  probe_cuda(report, probing.get());
  return report.problems() == 0 ? exit_done : exit_failed;
}

}  // namespace ingot::tool
