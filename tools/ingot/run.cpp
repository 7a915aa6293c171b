// ingot run: one run of a graph on arrays from files.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "error.h"
#include "files.h"
#include "npy.h"
#include "summary.h"
#include "verbs.h"

namespace ingot::tool {

namespace {

std::string stats_json(const ingot_context* context, const ingot_executable* executable) {
  const ingot_stats s = stats_of(context);
  const nlohmann::ordered_json plan = nlohmann::ordered_json::parse(describe(executable, "json"));
  const nlohmann::ordered_json missed{{"absent", s.missed_absent},
                                      {"damaged", s.missed_damaged},
                                      {"unreadable", s.missed_unreadable},
                                      {"collision", s.missed_collision},
                                      {"disabled", s.missed_disabled}};
  return nlohmann::ordered_json{{"schema", 1},
                                {"compiles", s.compiles},
                                {"compile_ms", static_cast<double>(s.compile_ns) / 1e6},
                                {"kernels", s.kernels},
                                {"launches", s.launches},
                                {"memory_hits", s.memory_hits},
                                {"disk_hits", s.disk_hits},
                                {"pack_hits", s.pack_hits},
                                {"misses", s.misses},
                                {"missed", missed},
                                {"bytes_read", s.bytes_read},
                                {"bytes_written", s.bytes_written},
                                {"backend_used", plan["backend_used"]},
                                {"compiler_loaded", s.compiler_loaded},
                                {"interpreted", s.interpreted},
                                {"runs", s.runs},
                                {"steps", plan["steps"].size()},
                                {"memory_cache_bytes", s.memory_cache_bytes},
                                {"memory_cache_entries", s.memory_cache_entries},
                                {"evictions", s.evictions},
                                {"code_resident", s.code_resident},
                                {"code_pinned", s.code_pinned},
                                {"scratch_kept", s.scratch_kept},
                                {"forks", s.forks}}
             .dump(2) +
         "\n";
}

}  // namespace

int run_verb(const RunArgs& args) {
  const Context context = make_context(args.engine);
  const Graph graph = load_graph(context.get(), args.graph);
  const Executable executable = compile_graph(context.get(), graph.get(), args.engine);

  // Where each output goes is settled before anything runs.
  const std::vector<Io> ios = outputs_of(executable.get());
  std::vector<std::optional<std::string>> files(ios.size());
  for (const std::string& text : args.outputs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      fail(exit_usage, "--output ", text, ": expected NAME=FILE.npy");
    auto& file = files[find_io(ios, text.substr(0, equals), "--output " + text, "output")];
    if (file) fail(exit_usage, "--output ", text, ": that output is named twice");
    const std::string to = text.substr(equals + 1);
    if (to != "-" && std::ranges::find(files, to) != files.end())
      fail(exit_usage, "--output ", text, ": another output goes to that file");
    file = to;
  }

  Feed feed(executable.get(), args.feed);
  feed.run(executable.get());
  for (size_t i = 0; i < ios.size(); ++i) {
    if (files[i]) write_npy(feed.results()[i], *files[i]);
    else if (args.outputs.empty()) std::printf("%s\n", summary(ios[i].label(i), feed.results()[i]).c_str());
  }
  if (!args.stats.empty()) write_file(args.stats, {stats_json(context.get(), executable.get())});
  return exit_done;
}

}  // namespace ingot::tool
