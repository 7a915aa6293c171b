// ingot bench: what the first call, later calls and a call on next to nothing cost, and the ratios to unfused and to
// memcpy.
#include <array>
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
  std::vector<std::string> argv{"bench",     graph,
                                "--probe",   cache_dir,
                                "--threads", std::to_string(args.engine.threads),
                                "--backend", args.engine.backend};
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
  const auto figure = [](const Samples& samples) {
    const Spread s = spread(samples);
    return ordered_json{{"count", samples.size()}, {"min", s.min}, {"median", s.median}, {"p10", s.p10}, {"p90", s.p90},
                        {"samples", samples}};
  };
  return {{"schema", 1},
          {"graph", shown(args.graph, true)},
          {"sizes", f.sizes},
          {"tiny", f.tiny},
          {"backend_used", f.backend},
          {"device", f.device.empty() ? ordered_json() : ordered_json(f.device)},
          {"threads", args.engine.threads},
          {"kernels", f.kernels},
          {"launches", f.launches},
          {"launches_unfused", f.unfused_launches},
          {"bytes_read", f.bytes_read},
          {"bytes_written", f.bytes_written},
          {"ns",
           {{"cold_compile", figure(f.cold)},
            {"later_compile", figure(f.later_compile)},
            {"warm_disk_first_call", figure(f.warm_disk)},
            {"warm_call", figure(f.fused)},
            {"unfused_call", figure(f.unfused)},
            {"memcpy", figure(f.memory)},
            {"dispatch", figure(f.dispatch)}}},
          {"ratios",
           {{"unfused_to_fused", spread(f.unfused).median / spread(f.fused).median},
            {"memcpy_to_fused", spread(f.memory).median / spread(f.fused).median}}}};
}

std::string time_text(double ns) {
  char out[32];
  if (ns < 1e3) std::snprintf(out, sizeof out, "%.0f ns", ns);
  else if (ns < 1e6) std::snprintf(out, sizeof out, "%.2f us", ns / 1e3);
  else std::snprintf(out, sizeof out, "%.2f ms", ns / 1e6);
  return out;
}

std::string table(const BenchArgs& args, const Figures& f) {
  std::string out = cat(shown(args.graph, true), f.sizes.empty() ? "" : " with ", f.sizes, ": ",
                        counted(f.kernels, "kernel", "kernels"), ", ", counted(f.launches, "launch", "launches"),
                        " (unfused ", f.unfused_launches, "), ", f.backend, ", ",
                        f.device.empty() ? counted(args.engine.threads, "thread", "threads") : f.device, "\n");
  const auto row = [&](const char* what, const std::array<std::string, 5>& cells, const std::string& note) {
    char text[256];
    std::snprintf(text, sizeof text, "  %-22s %9s %9s %9s %9s %5s  %s\n", what, cells[0].c_str(), cells[1].c_str(),
                  cells[2].c_str(), cells[3].c_str(), cells[4].c_str(), note.c_str());
    out += text;
  };
  const auto line = [&](const char* what, const Samples& samples, const std::string& note) {
    const Spread s = spread(samples);
    row(what, {time_text(s.min), time_text(s.median), time_text(s.p10), time_text(s.p90), cat(samples.size())}, note);
  };
  row("", {"min", "median", "p10", "p90", "n"}, "");
  line("cold compile", f.cold, "fresh process, empty cache, compiler loaded meanwhile");
  line("later compile", f.later_compile, "compiler loaded, kernels in no cache");
  line("warm disk, first call", f.warm_disk, "fresh process, from context to result");
  line("warm call", f.fused,
       cat(counted(f.bytes_read, "byte", "bytes"), " read, ", f.bytes_written, " written; a sample is the mean of ",
           counted(f.fused_calls, "call", "calls")));
  line("unfused call", f.unfused, "a kernel for every op");
  line("memcpy", f.memory, cat("moves as many bytes as the warm call", f.device.empty() ? "" : ", on the device"));
  line("dispatch", f.dispatch,
       cat(f.tiny.empty() ? "the same sizes" : "a call with " + f.tiny,
           f.device.empty() ? "" : "; enqueued one after the other"));
  const auto ratio = [&](const char* what, const Samples& above, const char* note) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", spread(above).median / spread(f.fused).median);
    row(what, {"", text, "", "", ""}, note);
  };
  ratio("unfused / fused", f.unfused, "of the medians; above 1 fusion wins");
  ratio("memcpy / fused", f.memory, "of the medians; 1 is the speed of memory");
  return out;
}

int probe(const BenchArgs& args) {
  const FirstCall c = first_call(args, args.probe);
  const ordered_json j{{"context", c.context}, {"plan", c.plan},         {"prepare", c.prepare},
                       {"run", c.run},         {"compiles", c.compiles}, {"compiler_loaded", c.compiler_loaded}};
  write_file("-", {j.dump(), "\n"});
  return exit_done;
}

}  // namespace

int bench_verb(const BenchArgs& given) {
  BenchArgs args = given;
  if (!args.feed.random) args.feed.random = 1;
  if (!args.probe.empty()) return probe(args);
  for (const std::string& input : args.feed.inputs)
    if (input.ends_with("=-"))
      fail(exit_usage, "--input ", input, ": bench reads its inputs more than once, so not from stdin");
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
