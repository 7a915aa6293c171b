// ingot doctor: what works here, and why the rest does not.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

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
    if (const double v = decode(y.type(), y.data() + 4 * i); v != 10) return cat("wrong result: element ", i, " is ", v, ", expected 10");
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

}  // namespace

int doctor_verb(const EngineOptions& engine) {
  Report report;
  int32_t major = 0, minor = 0, patch = 0;
  ingot_version(&major, &minor, &patch);
  report.line("library", cat(major, ".", minor, ".", patch));
  report.line("header", cat(INGOT_VERSION_MAJOR, ".", INGOT_VERSION_MINOR, ".", INGOT_VERSION_PATCH));
  const Context context = make_context(engine);
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
  if (info["directory"].is_null()) {
    report.line("disk cache", "none: kernels are cached in memory only");
  } else {
    const std::string directory = info["directory"];
    const auto list = nlohmann::json::parse(cache_command(context.get(), "list"));
    if (info["writable"].get<bool>())
      report.line("disk cache", cat(directory, ", ", list["entries"].size(), " entries, ", list["bytes"].get<uint64_t>(), " bytes"));
    else report.problem("disk cache", directory + " is not writable");
  }
  probe_backend(report, context.get(), "interpreter", "interp");
  if (module_error.empty()) probe_backend(report, context.get(), "machine code", "cpu");
  return report.problems() == 0 ? exit_done : exit_failed;
}

}  // namespace ingot::tool
