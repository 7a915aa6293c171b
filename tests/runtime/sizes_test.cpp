// One compile serves every size, stride and alignment of a graph's class.
#include <doctest/doctest.h>

#include <random>

#include "check.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

struct Class {
  std::string_view name;
  std::shared_ptr<const ir::Graph> graph;
};

std::vector<Class> classes() {
  const auto axes = [](std::vector<int64_t> v) { return ir::NamedAttr{"axes", Attr::of_ints(std::move(v))}; };
  std::vector<Class> out;
  {
    Net n;
    const ir::DimId b = n.sym("B"), c = n.sym("C");
    const ValueId x = n.in("x", DType::f32, {b, c}), y = n.in("y", DType::f32, {c});
    n.out(n.op(OpCode::op_softmax, {n.op(OpCode::op_mul, {x, y})}));
    out.push_back({"masked softmax", n.done()});
  }
  {
    Net n;
    const ir::DimId b = n.sym("B"), c = n.sym("C");
    const ValueId x = n.in("x", DType::f32, {b, c}), y = n.in("y", DType::f32, {c});
    n.out(n.op(OpCode::op_layer_norm, {n.op(OpCode::op_tanh, {x}), y}));
    n.out(n.op(OpCode::op_reduce_max, {x}, {axes({0})}));
    out.push_back({"layer norm and column maxima", n.done()});
  }
  {
    Net n;
    const ir::DimId b = n.sym("B"), c = n.sym("C");
    const ValueId x = n.in("x", DType::f64, {b, c}), y = n.in("y", DType::f64, {c});
    const ValueId turned = n.op(OpCode::op_transpose, {x}, {{"perm", Attr::of_ints({1, 0})}});
    const ValueId both =
        n.op(OpCode::op_concat, {n.op(OpCode::op_reverse, {x}, {axes({1})}), x}, {{"axis", Attr::of_int(0)}});
    n.out(n.op(OpCode::op_sub, {both, y}));
    n.out(n.op(OpCode::op_reduce_sum, {turned}, {axes({1})}));
    out.push_back({"moves and a column sum", n.done()});
  }
  {
    // Extents that broadcast when they are 1.
    Net n;
    const ValueId x = n.in("x", DType::f32, {n.sym("B"), n.sym("C")}), y = n.in("y", DType::f32, {n.sym("D")});
    n.out(n.op(OpCode::op_gelu, {n.op(OpCode::op_add, {x, y})}));
    out.push_back({"a broadcast of what is 1 at times", n.done()});
  }
  return out;
}

constexpr Layout in_layouts[] = {Layout::compact,  Layout::unaligned,  Layout::strided,
                                 Layout::negative, Layout::transposed, Layout::broadcast};
constexpr Layout out_layouts[] = {Layout::compact, Layout::unaligned, Layout::strided, Layout::negative,
                                  Layout::transposed};

}  // namespace

TEST_CASE("a thousand sizes, strides and alignments compile each kernel once and give the interpreter's bits") {
  std::mt19937 random(11);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  for (const Class& k : classes()) {
    INFO(k.name);
    const auto context = make_context(1);
    const auto e = compile(k.graph, main_ways()[have_compiler() ? 2 : 1], context);
    const auto reference = compile(k.graph, main_ways()[0], context);
    const DType type = e->executor().plan().inputs[0].dtype;
    const size_t rank_y = e->executor().plan().inputs[1].shape.size();
    REQUIRE(rank_y == 1);
    e->prepare();
    const uint64_t compiles = context->counters().compiles;
    CHECK(compiles <= e->distinct_kernels());
    for (int i = 0; i < 250; ++i) {
      const int64_t b = i % 17 == 0 ? 0 : 1 + below(i % 5 == 0 ? 1 : 40), c = 1 + below(i % 3 == 0 ? 3 : 300);
      const bool one = std::string_view(k.name).starts_with("a broadcast") && i % 2 == 0;
      const std::vector inputs = {random_array(random(), type, {b, c}), random_array(random(), type, {one ? 1 : c})};
      const Layout in = in_layouts[below(std::size(in_layouts))], to = out_layouts[below(std::size(out_layouts))];
      const std::vector<Array> got = run(*e, inputs, in, to), want = run(*reference, inputs, in, to);
      INFO("[", b, ", ", c, "] ", name(in), " to ", name(to));
      for (size_t o = 0; o < got.size(); ++o) REQUIRE(difference(want[o], got[o]).empty());
    }
    CHECK(context->counters().compiles == compiles);
  }
}
