// ingot explain: how a graph is fused, as a page to read. Nothing is compiled or run.
#include <algorithm>

#include "error.h"
#include "files.h"
#include "page.h"
#include "verbs.h"

namespace ingot::tool {

int explain_verb(const ExplainArgs& args) {
  const Context context = make_context(args.engine);
  const Graph graph = load_graph(context.get(), args.graph);
  EngineOptions unfused = args.engine;
  unfused.fuse = false;
  const Plan with(compile_graph(context.get(), graph.get(), args.engine).get());
  const Plan without(compile_graph(context.get(), graph.get(), unfused).get());

  Symbols given;
  for (const std::string& s : args.shapes) parse_binding(s, given);
  const std::vector<std::string> known = with.symbols();
  for (const auto& [name, value] : given)
    if (std::ranges::find(known, name) == known.end())
      fail(exit_usage, "--shape ", name, "=", value, ": no input has the extent ", name);
  // Bytes need every size; a graph without symbols always has them.
  std::optional<Symbols> symbols;
  if (given.size() == known.size()) {
    symbols = std::move(given);
  } else if (!given.empty()) {
    const std::string& s = *std::ranges::find_if(known, [&](const std::string& name) { return !given.contains(name); });
    fail(exit_usage, "the extent ", s, " has no value; give every extent or none, as --shape ", s, "=N");
  }
  write_file(args.output, {explain_page(with, without, symbols)});
  return exit_done;
}

}  // namespace ingot::tool
