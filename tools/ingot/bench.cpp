// ingot bench: what the first call, later calls and a call on next to nothing cost, and the ratios to unfused and to memcpy.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "error.h"
#include "files.h"
#include "process.h"

namespace ingot::tool {

namespace {

using nlohmann::ordered_json;

constexpr int fresh_processes = 7;

FirstCall in_fresh_process(const BenchArgs& args, const std::string& graph, const std::string& cache_dir) {
  std::vector<std::string> argv{"bench", graph, "--probe", cache_dir, "--threads", std::to_string(args.engine.threads)};
  const auto repeat = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& v : values) argv.insert(argv.end(), {flag, v});
  };
  repeat("--input", args.feed.inputs);
  repeat("--shape", args.feed.shapes);
  repeat("--range", args.feed.ranges);
  if (args.feed.random) repeat("--random", {std::to_string(*args.feed.random)});
  const auto j = ordered_json::parse(run_self(argv));
  return {j["context"], j["plan"], j["prepare"], j["run"], j["compiles"], j["compiler_loaded"]};
}

void measure_processes(const BenchArgs& args, const std::string& source, Figures& f) {
  const TemporaryDirectory folder;
  const std::string graph = folder.path() + "/graph.ingot";
  write_file(graph, {source});
  std::string filled;
  for (int i = 0; i < fresh_processes; ++i) {
    filled = cat(folder.path(), "/cache", i);
    const FirstCall call = in_fresh_process(args, graph, filled);
    f.cold.push_back(call.plan + call.prepare);
  }
  for (int i = 0; i < fresh_processes; ++i) {
    const FirstCall call = in_fresh_process(args, graph, filled);
    if (call.compiles > 0) fail(exit_failed, "a fresh process compiled although its kernels should be on disk");
    f.warm_disk.push_back(call.context + call.plan + call.prepare + call.run);
  }
}

ordered_json report(const BenchArgs& args, const Figures& f) {
  const auto both = [](const Samples& s) { return ordered_json{{"median", median(s)}, {"samples", s}}; };
  return {{"schema", 1},
          {"graph", shown(args.graph, true)},
          {"sizes", f.sizes},
          {"tiny", f.tiny},
          {"backend_used", f.backend},
          {"threads", args.engine.threads},
          {"kernels", f.kernels},
          {"launches", f.launches},
          {"launches_unfused", f.unfused_launches},
          {"bytes_read", f.bytes_read},
          {"bytes_written", f.bytes_written},
          {"ns",
           {{"cold_compile", both(f.cold)},
            {"later_compile", both(f.later_compile)},
            {"warm_disk_first_call", both(f.warm_disk)},
            {"warm_call", both(f.fused)},
            {"unfused_call", both(f.unfused)},
            {"memcpy", both(f.memory)},
            {"dispatch", both(f.dispatch)}}},
          {"ratios",
           {{"unfused_to_fused", median(f.unfused) / median(f.fused)}, {"memcpy_to_fused", median(f.memory) / median(f.fused)}}}};
}

std::string time_text(double ns) {
  char out[32];
  if (ns < 1e3) std::snprintf(out, sizeof out, "%.0f ns", ns);
  else if (ns < 1e6) std::snprintf(out, sizeof out, "%.2f us", ns / 1e3);
  else std::snprintf(out, sizeof out, "%.2f ms", ns / 1e6);
  return out;
}

std::string table(const BenchArgs& args, const Figures& f) {
  std::string out = cat(shown(args.graph, true), f.sizes.empty() ? "" : " with ", f.sizes, ": ", f.kernels, " kernels, ", f.launches, " launches (unfused ",
                        f.unfused_launches, "), ", f.backend, ", ", args.engine.threads, args.engine.threads == 1 ? " thread" : " threads",
                        "; medians of ", args.samples, "\n");
  const auto line = [&](const char* what, const std::string& value, const std::string& note) {
    char text[256];
    std::snprintf(text, sizeof text, "  %-22s %12s   %s\n", what, value.c_str(), note.c_str());
    out += text;
  };
  line("cold compile", time_text(median(f.cold)), cat("fresh process, empty cache, compiler loaded meanwhile; of ", fresh_processes));
  line("later compile", time_text(median(f.later_compile)), "compiler loaded, kernels in no cache");
  line("warm disk, first call", time_text(median(f.warm_disk)), cat("fresh process, from context to result; of ", fresh_processes));
  line("warm call", time_text(median(f.fused)), cat(f.bytes_read, " bytes read, ", f.bytes_written, " written"));
  line("dispatch", time_text(median(f.dispatch)), f.tiny.empty() ? "the same sizes" : "a call with " + f.tiny);
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", median(f.unfused) / median(f.fused));
  line("unfused / fused", ratio, "time of a call, alternated; above 1 fusion wins");
  std::snprintf(ratio, sizeof ratio, "%.2f", median(f.memory) / median(f.fused));
  line("memcpy / fused", ratio, "memcpy that moves the same bytes; 1 is the speed of memory");
  return out;
}

int probe(const BenchArgs& args) {
  const FirstCall c = first_call(args, args.probe);
  const ordered_json j{{"context", c.context}, {"plan", c.plan}, {"prepare", c.prepare}, {"run", c.run}, {"compiles", c.compiles}, {"compiler_loaded", c.compiler_loaded}};
  write_file("-", {j.dump(), "\n"});
  return exit_done;
}

}  // namespace

int bench_verb(const BenchArgs& given) {
  BenchArgs args = given;
  if (!args.feed.random) args.feed.random = 1;
  if (!args.probe.empty()) return probe(args);
  for (const std::string& input : args.feed.inputs)
    if (input.ends_with("=-")) fail(exit_usage, "--input ", input, ": bench reads its inputs more than once, so not from stdin");
  const std::string source = read_file(args.graph);
  // A message about the text names the file, so it comes before any child's.
  parse_graph(make_context(args.engine).get(), source, args.graph);
  if (args.engine.threads == 1) pin_to_one_cpu();
  Figures figures;
  measure_calls(args, source, figures);
  measure_processes(args, source, figures);
  write_file("-", {args.json ? report(args, figures).dump(1) + "\n" : table(args, figures)});
  return exit_done;
}

}  // namespace ingot::tool
