// ingot cache: the disk cache looked at, checked, filled and emptied, and packs made. Others may use it meanwhile.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "cache_place.h"
#include "error.h"
#include "files.h"
#include "verbs.h"

namespace ingot::tool {

namespace {

using nlohmann::json;

std::string directory_text(const json& report) {
  return report["directory"].is_null() ? "no directory: kernels are cached in memory only"
                                       : report["directory"].get<std::string>();
}

std::string list_text(const json& report) {
  std::string out;
  for (const auto& e : report["entries"]) {
    out += cat(e["name"].get<std::string>(), "  ", e["bytes"].get<uint64_t>(), " bytes");
    if (e.contains("fault")) out += "  " + e["fault"].get<std::string>();
    out += '\n';
  }
  return out + cat(directory_text(report), ": ", counted(report["entries"].size(), "entry", "entries"), ", ",
                   counted(report["bytes"].get<uint64_t>(), "byte", "bytes"), "\n");
}

std::string verify_text(const json& report) {
  std::string out;
  for (const char* what : {"removed", "unreadable"})
    for (const auto& e : report[what])
      out += cat(what, " ", e["name"].get<std::string>(), ": ", e["reason"].get<std::string>(), "\n");
  return out + cat(directory_text(report), ": ", report["good"].get<uint64_t>(), " good, ", report["removed"].size(),
                   " removed, ", report["unreadable"].size(), " unreadable\n");
}

bool is_gpu(const std::string& target) { return target.starts_with("sm_"); }

// A graph for CPUs, for GPUs, or both, as the targets are.
void add_compiled(const CacheArgs& args, ingot_context* context, const std::string& path,
                  std::vector<Executable>& executables) {
  const Graph graph = load_graph(context, path);
  const bool gpus = std::ranges::any_of(args.targets, is_gpu);
  if (!gpus || !std::ranges::all_of(args.targets, is_gpu))
    executables.push_back(compile_graph(context, graph.get(), args.engine));
  if (!gpus) return;
  EngineOptions engine = args.engine;
  engine.backend = "cuda";
  executables.push_back(compile_graph(context, graph.get(), engine));
}

int warm(const CacheArgs& args, ingot_context* context) {
  for (const std::string& path : args.graphs) {
    const ingot_stats before = stats_of(context);
    std::vector<Executable> executables;
    add_compiled(args, context, path, executables);
    // What is packed is cached as well, for any target, and nothing of it is loaded.
    pack_of(executables, args.targets);
    const ingot_stats after = stats_of(context);
    write_file("-", {cat(path, ": ", counted(after.kernels - before.kernels, "kernel", "kernels"), ", ",
                         after.compiles - before.compiles, " compiled\n")});
  }
  return exit_done;
}

int pack(const CacheArgs& args, ingot_context* context) {
  std::vector<Executable> executables;
  for (const std::string& path : args.graphs) add_compiled(args, context, path, executables);
  const std::string bytes = pack_of(executables, args.targets);
  write_file(args.output, {bytes});
  if (!is_stdout(args.output))
    write_file(
        "-", {cat(args.output, ": ", counted(args.graphs.size(), "graph", "graphs"), ", ", bytes.size(), " bytes\n")});
  return exit_done;
}

}  // namespace

int cache_verb(const CacheArgs& args) {
  if (args.command == "warm") return warm(args, make_context(args.engine).get());
  if (args.command == "pack") return pack(args, make_context(args.engine).get());
  // Opening a cache makes its directory; looking at one must not.
  EngineOptions engine = args.engine;
  const std::string directory = directory_of(engine);
  const bool missing = is_missing(directory);
  if (missing && !engine.cache_dir.empty()) fail(exit_bad_input, "no cache directory ", directory);
  if (missing) engine.disk_cache = false;
  const Context context = make_context(engine);
  json report = json::parse(cache_command(context.get(), args.command));
  if (missing) report["directory"] = directory;
  const bool unreadable = args.command == "verify" && !report["unreadable"].empty();
  std::string text = report.dump(1) + "\n";
  if (!args.json) {
    if (args.command == "list") text = list_text(report);
    else if (args.command == "verify") text = verify_text(report);
    else
      text = cat(directory_text(report), ": ", counted(report["removed"].get<uint64_t>(), "entry", "entries"),
                 " removed\n");
  }
  write_file("-", {text});
  return unreadable ? exit_failed : exit_done;
}

}  // namespace ingot::tool
