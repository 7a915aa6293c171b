// The CUDA text of every op of the table, by the op's own example, through the real NVRTC: a primitive or a type that
// the text has no words for would show here. Many kernels are one translation unit, which compiles in little more time
// than one of them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "fuse/plan.h"
#include "ir/op_json.h"
#include "ir/text.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/nvrtc.h"
#include "pass/pipeline.h"

using namespace ingot;

namespace {

struct Example {
  const char *op, *text;
};
const Example examples[] = {
#define OP(name, number, cls, lo, hi, types, rule, attrs, doc, example) {#name, example},
#include "ir/ops.def"
#undef OP
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The example as a graph whose floats are of this dtype; null where the op has no such.
std::shared_ptr<const ir::Graph> graph_of(const Example& example, const char* type) {
  const std::string_view op = example.op;
  const std::string names = op == "split" || op == "frexp" ? "%r, %r2"
                            : op == "batch_norm_training"  ? "%r, %r2, %r3"
                                                           : "%r";
  const std::string inputs = replaced(std::string(ir::example_inputs()), "f32", type);
  const std::string statement = cat("  ", names, " = ", example.text, "\n");
  try {
    // The types of the results are read off a graph that does not need to name them.
    const ir::Graph typed = ir::parse(cat("ingot 1.0\ngraph @example(", inputs, ") -> (bool[]) {\n", statement,
                                          "  %same = eq %r, %r\n  %all = reduce_all %same\n  return %all\n}\n"));
    std::string types;
    for (const ir::ValueId r : typed.op(0).results) {
      types += cat(types.empty() ? "" : ", ", ir::name(typed.value(r).dtype), "[");
      for (size_t d = 0; d < typed.value(r).shape.size(); ++d)
        types += cat(d ? ", " : "", typed.dims().to_string(typed.value(r).shape[d]));
      types += "]";
    }
    return std::make_shared<const ir::Graph>(ir::parse(
        cat("ingot 1.0\ngraph @example(", inputs, ") -> (", types, ") {\n", statement, "  return ", names, "\n}\n")));
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument) throw;
    return nullptr;
  }
}

// Kernels in few texts: those with the same helpers are one, each in a namespace.
class Units {
 public:
  void add(const fuse::Plan& plan) {
    for (const auto& step : plan.steps) {
      if (step.kernel.nodes.empty()) continue;
      const std::string text = jit::emit_cuda(step.kernel);
      if (!seen_.insert(text).second) continue;
      const size_t own = text.find("struct Args {");
      const std::string number = std::to_string(seen_.size());
      const std::string body = cat("namespace k", number, " {\n",
                                   replaced(text.substr(own), "ingot_kernel", cat("ingot_kernel_", number)), "}\n");
      std::string& unit = open_[text.substr(0, own)];
      unit += unit.empty() ? text.substr(0, own) + body : body;
      // A unit takes memory and time as it grows.
      if (unit.size() > 100000) done_.push_back(std::exchange(unit, {}));
    }
  }
  size_t kernels() const { return seen_.size(); }
  std::vector<std::string> texts() const {
    std::vector<std::string> out = done_;
    for (const auto& [helpers, unit] : open_)
      if (!unit.empty()) out.push_back(unit);
    return out;
  }

 private:
  std::set<std::string> seen_;
  std::map<std::string, std::string> open_;
  std::vector<std::string> done_;
};

}  // namespace

TEST_CASE("every op compiles to a cubin, of f32 and f16; of every type for every architecture where all is asked for") {
  const bool all = std::getenv("INGOT_EXHAUSTIVE");
  std::vector<std::string> types{"f32", "f16"}, targets{"sm_90"};
  if (all) {
    types.insert(types.end(),
                 {"f64", "bf16", "f8e4m3", "f8e5m2", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"});
    targets.insert(targets.end(), {"sm_75", "sm_80", "sm_86", "sm_100", "sm_120"});
  }
  Units units;
  for (const std::string& type : types) {
    for (const Example& example : examples) {
      // Functions of f16 are those of f32.
      if (type == "f16" && ir::find_op(example.op)->cls == ir::OpClass::function) continue;
      const auto graph = graph_of(example, type.c_str());
      CAPTURE(std::string(example.text));
      CAPTURE(type);
      if (type == "f32") REQUIRE(graph);
      if (!graph) continue;
      const ir::Graph plain = pass::run(*graph, {.simplify = false}, {}, {});
      CHECK_NOTHROW(units.add(fuse::plan_graph(plain, {})));
    }
  }
  CHECK(units.kernels() > (all ? 600 : 200));
  const char* given = std::getenv("INGOT_NVRTC");
  try {
    for (const std::string& target : targets) {
      for (const std::string& text : units.texts()) {
        const size_t bytes = jit::compile_cubin(text, target, given ? given : "").size();  // throws where there is none
        CHECK(bytes > 64);
      }
    }
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) FAIL(e.message());
    std::cout << "SKIP: nvrtc: NVRTC is not installed\n";
  }
}
