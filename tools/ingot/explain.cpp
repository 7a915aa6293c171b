// ingot explain: how a graph is fused, as a page to read. Nothing is compiled or run.
#include <algorithm>

#include "array.h"
#include "error.h"
#include "files.h"
#include "page.h"
#include "verbs.h"

namespace ingot::tool {

namespace {

// Refuses sizes that a run would: the library checks bounds and facts with the shapes alone.
void check_sizes(const ingot_executable* executable, const Symbols& symbols) {
  const std::vector<Io> inputs = inputs_of(executable);
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t> bound(inputs.size());  // what dim inputs hold
  std::vector<ingot_tensor> tensors;
  std::vector<const ingot_tensor*> pointers;
  for (const Io& io : inputs) shapes.push_back(evaluate_shape(io.shape, symbols));
  tensors.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType& type = dtype(inputs[i].dtype);
    if (!inputs[i].symbol.empty()) bound[i] = symbols.at(inputs[i].symbol);
    tensors.push_back({inputs[i].symbol.empty() ? nullptr : &bound[i],
                       {1, 0},
                       static_cast<int32_t>(shapes[i].size()),
                       {type.code, type.bits, 1},
                       shapes[i].data(),
                       nullptr,
                       0});
    pointers.push_back(&tensors.back());
  }
  size_t rank = 0;
  check(ingot_executable_output_shape(executable, pointers.data(), pointers.size(), 0, nullptr, 0, &rank));
}

}  // namespace

int explain_verb(const ExplainArgs& args) {
  const Context context = make_context(args.engine);
  const Graph graph = load_graph(context.get(), args.graph);
  EngineOptions unfused = args.engine;
  unfused.fuse = false;
  const Executable executable = compile_graph(context.get(), graph.get(), args.engine);
  const Plan with(executable.get());
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
    check_sizes(executable.get(), given);
    symbols = std::move(given);
  } else if (!given.empty()) {
    const std::string& s = *std::ranges::find_if(known, [&](const std::string& name) { return !given.contains(name); });
    fail(exit_usage, "the extent ", s, " has no value; give every extent or none, as --shape ", s, "=N");
  }
  write_file(args.output, {explain_page(with, without, symbols)});
  return exit_done;
}

}  // namespace ingot::tool
