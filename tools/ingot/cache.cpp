// ingot cache: the disk cache looked at, checked, filled and emptied. Others may use it meanwhile.
#include <cstdio>
#include <nlohmann/json.hpp>

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
  return out + cat(directory_text(report), ": ", report["entries"].size(), " entries, ",
                   report["bytes"].get<uint64_t>(), " bytes\n");
}

std::string verify_text(const json& report) {
  std::string out;
  for (const char* what : {"removed", "unreadable"})
    for (const auto& e : report[what])
      out += cat(what, " ", e["name"].get<std::string>(), ": ", e["reason"].get<std::string>(), "\n");
  return out + cat(directory_text(report), ": ", report["good"].get<uint64_t>(), " good, ", report["removed"].size(),
                   " removed, ", report["unreadable"].size(), " unreadable\n");
}

int warm(const CacheArgs& args, ingot_context* context) {
  if (args.graphs.empty()) fail(exit_usage, "cache warm: name at least one graph file");
  for (const std::string& path : args.graphs) {
    const ingot_stats before = stats_of(context);
    const Graph graph = load_graph(context, path);
    EngineOptions options = args.engine;
    options.backend = "cpu";  // the interpreter leaves nothing to cache
    const Executable executable = compile_graph(context, graph.get(), options);
    check(ingot_executable_prepare(executable.get(), nullptr, 0, nullptr, nullptr), path + ": ");
    const ingot_stats after = stats_of(context);
    std::printf("%s: %llu kernels, %llu compiled\n", path.c_str(),
                static_cast<unsigned long long>(after.kernels - before.kernels),
                static_cast<unsigned long long>(after.compiles - before.compiles));
  }
  return exit_done;
}

}  // namespace

int cache_verb(const CacheArgs& args) {
  const Context context = make_context(args.engine);
  if (args.command == "warm") return warm(args, context.get());
  if (!args.graphs.empty()) fail(exit_usage, "cache ", args.command, " takes no graph");
  const std::string raw = cache_command(context.get(), args.command);
  const json report = json::parse(raw);
  const bool unreadable = args.command == "verify" && !report["unreadable"].empty();
  std::string text = raw + "\n";
  if (!args.json) {
    if (args.command == "list") text = list_text(report);
    else if (args.command == "verify") text = verify_text(report);
    else text = cat(directory_text(report), ": ", report["removed"].get<uint64_t>(), " entries removed\n");
  }
  write_file("-", {text});
  return unreadable ? exit_failed : exit_done;
}

}  // namespace ingot::tool
