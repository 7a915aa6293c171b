#include "differential.h"

#include "check.h"
#include "evaluate.h"
#include "random_graph.h"

namespace ingot::oracle {

namespace {

std::string report(uint64_t seed, std::string_view way, const std::string& what, const Failing& reduced) {
  std::string shapes;
  for (const Array& a : reduced.inputs) {
    shapes += "[";
    for (const int64_t e : a.shape) shapes += cat(" ", e);
    shapes += " ] ";
  }
  return cat("seed ", seed, ": ", way, ": ", what, "\nreduced, inputs ", shapes, ":\n", describe(*reduced.graph));
}

// Layouts vary from seed to seed; `broadcast` would change the contents.
Layout layout_of(uint64_t seed) { return all_layouts[seed % 5]; }

}  // namespace

std::string differential(uint64_t seed, std::span<const Way> ways) {
  RandomGraph g;
  try {
    g = random_graph(seed);
  } catch (const Error& e) {
    return cat("seed ", seed, ": no graph: ", e.message());
  }
  std::vector<std::vector<Array>> want;
  for (const auto& inputs : g.inputs) want.push_back(evaluate(*g.graph, inputs));
  for (const Way& way : ways) {
    std::shared_ptr<engine::Executable> e;
    for (size_t size = 0; size < want.size(); ++size) {
      const auto fault = [&](const std::string& what) {
        const auto fails = [&](const Failing& f) { return !check(f.graph, f.inputs, {&way, 1}).empty(); };
        Failing whole{g.graph, g.inputs[size]};
        return report(seed, way.name, cat("size ", size, ": ", what),
                      fails(whole) ? reduce(std::move(whole), fails) : whole);
      };
      try {
        if (!e) e = compile(g.graph, way);
        const uint64_t compiles = shared_context()->counters().compiles;
        const std::vector<Array> got = run(*e, g.inputs[size], layout_of(seed), layout_of(seed / 5), seed % 2 == 0,
                                           way.backend == engine::Backend::cuda && seed % 4 != 0);
        for (size_t i = 0; i < got.size(); ++i)
          if (const std::string text = difference(want[size][i], got[i]); !text.empty())
            return fault(cat("output ", i, ": ", text));
        if (size > 0 && shared_context()->counters().compiles != compiles)
          return fault("another size compiled a kernel");
      } catch (const Error& error) {
        return fault(cat(code_name(error.code()), ": ", error.message()));
      }
    }
  }
  return {};
}

}  // namespace ingot::oracle
