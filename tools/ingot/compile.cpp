// ingot compile: what a graph becomes, as text or as the bytes of a kernel's code.
#include "error.h"
#include "files.h"
#include "plan.h"
#include "verbs.h"

namespace ingot::tool {

int compile_verb(const CompileArgs& args) {
  // The text is the same for every GPU; the library refuses all other combinations that make no sense.
  if (args.emit == "cuda" && !args.engine.target.empty() && !args.engine.target.starts_with("sm_"))
    fail(exit_bad_input, "--emit cuda: the target ", args.engine.target, " is no GPU's, sm_NN");
  const Context context = make_context(args.engine);
  const Graph graph = load_graph(context.get(), args.graph);
  const Executable executable = compile_graph(context.get(), graph.get(), args.engine);
  if (args.kernel < 0 && (args.emit == "artifact" || args.emit == "cubin")) {
    const size_t kernels = Plan(executable.get()).json()["kernels"];
    if (kernels > 1)
      fail(exit_bad_input, "the graph has ", kernels, " kernels, and --emit ", args.emit,
           " writes one; pick it with --kernel N, N from 0 to ", kernels - 1);
  }
  const std::string what = args.kernel < 0 ? args.emit : cat(args.emit, '/', args.kernel);
  write_file(args.output, {describe(executable.get(), what)});
  return exit_done;
}

}  // namespace ingot::tool
