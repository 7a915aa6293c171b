// ingot explain: how a graph is fused, as a page to read or as JSON. Nothing is run; only for CUDA devices is it
// compiled, to see what the kernels take.
#include <algorithm>

#include "array.h"
#include "error.h"
#include "files.h"
#include "page.h"
#include "roofline.h"
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

using nlohmann::ordered_json;

ordered_json launch_report(const Explained& e, size_t index) {
  const nlohmann::json& step = e.fused.steps()[index];
  ordered_json out{{"launch", index}, {"kernel", step["kernel"]}, {"ops", ordered_json::array()}};
  for (const auto& op : step["ops"]) out["ops"].push_back(op["name"].get<std::string>());
  if (e.symbols) {
    const Work work = step_work(step, *e.symbols);
    out["bytes_read"] = work.traffic.read;
    out["bytes_written"] = work.traffic.written;
    out["float_ops"] = static_cast<uint64_t>(work.ops());
    out["intensity"] = work.intensity();
    const nlohmann::json* const device = e.device ? device_of(*e.device) : nullptr;
    if (const auto least = device ? bound(work, *device) : std::nullopt) {
      out["least_ns"] = least->seconds * 1e9;
      out["bound_by"] = least->by_memory ? "memory" : "arithmetic";
    }
  }
  if (e.device) {
    const nlohmann::json& code = (*e.device)["steps"][index];
    for (const char* key : {"stages", "scratch_bytes", "entries", "error"})
      if (code.contains(key)) out[key] = code[key];
  }
  return out;
}

std::string explain_json(const Explained& e) {
  ordered_json out{{"schema", 1}, {"name", e.fused.json()["name"]}, {"sizes", nullptr}};
  if (e.symbols) {
    out["sizes"] = ordered_json::object();
    for (const auto& [name, value] : *e.symbols) out["sizes"][name] = value;
    out["bytes"] = e.fused.traffic(*e.symbols).total();
    out["bytes_unfused"] = e.unfused.traffic(*e.symbols).total();
  }
  out["launches"] = ordered_json::array();
  for (size_t s = 0; s < e.fused.steps().size(); ++s) out["launches"].push_back(launch_report(e, s));
  out["launches_unfused"] = e.unfused.steps().size();
  if (e.device) {
    out["device"] = *e.device;
    out["device"].erase("steps");  // they are the launches'
  }
  return out.dump(1) + "\n";
}

// What is asked of the library: with the sizes where they are known, so that it tells how kernels are launched.
std::string device_part(const Explained& e) {
  if (!e.symbols) return "device";
  std::string sizes;
  for (const auto& [name, value] : *e.symbols) sizes += cat(sizes.empty() ? "" : ",", name, "=", value);
  return "device/" + sizes;
}

}  // namespace

int explain_verb(const ExplainArgs& args) {
  if (!args.engine.target.empty() && args.engine.backend != "cuda")
    fail(exit_usage, "--target ", args.engine.target, ": code is looked at with --backend cuda alone");
  const Context context = make_context(args.engine);
  const Graph graph = load_graph(context.get(), args.graph);
  EngineOptions unfused = args.engine;
  unfused.fuse = false;
  const Executable executable = compile_graph(context.get(), graph.get(), args.engine);
  Explained e{Plan(executable.get()), Plan(compile_graph(context.get(), graph.get(), unfused).get()), {}, {}};

  Symbols given;
  for (const std::string& s : args.shapes) parse_binding(s, given);
  Symbols known;
  for (const std::string& name : e.fused.symbols()) known.emplace(name, 0);
  check_known(given, known);
  // Bytes need every size; a graph without symbols always has them.
  if (given.size() == known.size()) {
    check_sizes(executable.get(), given);
    e.symbols = std::move(given);
  } else if (!given.empty()) {
    const std::string& s =
        std::ranges::find_if(known, [&](const auto& symbol) { return !given.contains(symbol.first); })->first;
    fail(exit_usage, "the extent ", s, " has no value; give every extent or none, as --shape ", s, "=NUMBER");
  }
  if (args.engine.backend == "cuda") e.device = nlohmann::json::parse(describe(executable.get(), device_part(e)));
  write_file(args.output, {args.json ? explain_json(e) : explain_page(e)});
  return exit_done;
}

}  // namespace ingot::tool
