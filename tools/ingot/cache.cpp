// ingot cache: the disk cache looked at, checked, filled and emptied, and packs made. Others may use it meanwhile.
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

Executable compiled(const CacheArgs& args, ingot_context* context, const std::string& path) {
  const Graph graph = load_graph(context, path);
  return compile_graph(context, graph.get(), args.engine);
}

int warm(const CacheArgs& args, ingot_context* context) {
  for (const std::string& path : args.graphs) {
    const ingot_stats before = stats_of(context);
    std::vector<Executable> executables;
    executables.push_back(compiled(args, context, path));
    // What is packed is cached as well, for any target, and nothing of it is loaded.
    pack_of(executables, args.targets);
    const ingot_stats after = stats_of(context);
    std::printf("%s: %llu kernels, %llu compiled\n", path.c_str(),
                static_cast<unsigned long long>(after.kernels - before.kernels),
                static_cast<unsigned long long>(after.compiles - before.compiles));
  }
  return exit_done;
}

int pack(const CacheArgs& args, ingot_context* context) {
  std::vector<Executable> executables;
  for (const std::string& path : args.graphs) executables.push_back(compiled(args, context, path));
  const std::string bytes = pack_of(executables, args.targets);
  write_file(args.output, {bytes});
  if (args.output != "-")
    std::printf("%s: %zu graphs, %zu bytes\n", args.output.c_str(), executables.size(), bytes.size());
  return exit_done;
}

}  // namespace

int cache_verb(const CacheArgs& args) {
  const Context context = make_context(args.engine);
  if (args.command == "warm") return warm(args, context.get());
  if (args.command == "pack") return pack(args, context.get());
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
