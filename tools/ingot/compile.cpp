// ingot compile: what a graph becomes, as text or as the bytes of a kernel's code.
#include "error.h"
#include "files.h"
#include "verbs.h"

namespace ingot::tool {

int compile_verb(const CompileArgs& args) {
  const Context context = make_context(args.engine);
  const Graph graph = load_graph(context.get(), args.graph);
  const Executable executable = compile_graph(context.get(), graph.get(), args.engine);
  const std::string what = args.kernel < 0 ? args.emit : cat(args.emit, '/', args.kernel);
  write_file(args.output, {describe(executable.get(), what)});
  return exit_done;
}

}  // namespace ingot::tool
