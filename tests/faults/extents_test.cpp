// Extents that are 0 and 1 at some calls: one executable, every combination, in every way of running. And ranks up to
// 16 through ops of every class.
#include <doctest/doctest.h>

#include "check.h"
#include "evaluate.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

namespace {

NamedAttr ints(const char* name, std::vector<int64_t> v) { return {name, Attr::of_ints(std::move(v))}; }

// Runs the executables, each compiled once, and compares with the oracle.
void agree(const ir::Graph& graph, std::span<const std::shared_ptr<engine::Executable>> executables,
           const std::vector<Array>& inputs) {
  const std::vector<Array> want = evaluate(graph, inputs);
  for (const auto& e : executables) {
    for (const Layout layout : {Layout::compact, Layout::strided, Layout::negative}) {
      const std::vector<Array> got = run(*e, inputs, layout, layout);
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        const std::string text = difference(want[i], got[i]);
        INFO("output ", i, " in layout ", std::string(name(layout)), ": ", text);
        CHECK(text.empty());
      }
    }
  }
}

}  // namespace

TEST_CASE("extents of 0, 1 and more in every combination, compiled once") {
  Net n;
  const DimId a = n.sym("A"), b = n.sym("B"), c = n.sym("C"), d = n.sym("D");
  const ValueId x = n.in("", DType::f32, {a, b}), y = n.in("", DType::f32, {b, c}), z = n.in("", DType::f32, {d, b});
  const ValueId zero = n.g->scalar(DType::f32, 0.5);
  n.out(n.op(OpCode::op_exp, {x}));
  n.out(n.op(OpCode::op_add, {x, n.op(OpCode::op_reduce_sum, {y}, {ints("axes", {1})})}));
  n.out(n.op(OpCode::op_softmax, {x}));
  n.out(n.op(OpCode::op_matmul, {x, y}));
  n.out(n.op(OpCode::op_transpose, {x}, {ints("perm", {1, 0})}));
  n.out(n.op(OpCode::op_concat, {x, z}, {{"axis", Attr::of_int(0)}}));
  n.out(n.op(OpCode::op_pad, {x, zero}, {ints("low", {1, 0}), ints("high", {0, 2})}));
  n.out(n.op(OpCode::op_slice, {x}, {ints("starts", {1, 0}), ints("limits", {1000, 2})}));
  n.out(n.op(OpCode::op_reverse, {y}, {ints("axes", {0, 1})}));
  n.out(n.op(OpCode::op_broadcast, {x}, {{"shape", Attr::of_dims({c, a, b})}}));
  n.out(n.op(OpCode::op_reshape, {x}, {{"shape", Attr::of_dims({n.g->dims().mul(a, b)})}}));
  for (const int64_t axis : {0, 1})
    for (const OpCode code : {OpCode::op_reduce_sum, OpCode::op_reduce_prod, OpCode::op_reduce_max})
      n.out(n.op(code, {y}, {ints("axes", {axis})}));
  n.out(n.op(OpCode::op_reduce_mean, {x}, {ints("axes", {0, 1})}));
  n.out(n.op(OpCode::op_layer_norm, {x, n.op(OpCode::op_reduce_max, {z}, {ints("axes", {0})})}));
  const auto g = n.done();
  const auto context = make_context();
  std::vector<std::shared_ptr<engine::Executable>> executables;
  for (const Way& way : main_ways()) executables.push_back(compile(g, way, context));
  uint64_t compiles = 0;
  for (int which = 0; which < 81; ++which) {
    constexpr int64_t extents[] = {5, 1, 0};
    const int64_t ea = extents[which % 3], eb = extents[which / 3 % 3], ec = extents[which / 9 % 3],
                  ed = extents[which / 27];
    CAPTURE(ea);
    CAPTURE(eb);
    CAPTURE(ec);
    CAPTURE(ed);
    agree(*g, executables,
          {random_array(1, DType::f32, {ea, eb}), random_array(2, DType::f32, {eb, ec}),
           random_array(3, DType::f32, {ed, eb})});
    if (which == 0) compiles = context->counters().compiles;
  }
  CHECK(context->counters().compiles == compiles);
}

TEST_CASE("extents that broadcast against each other are 1 on either side, or equal, at each call") {
  Net n;
  const DimId a = n.sym("A"), b = n.sym("B"), c = n.sym("C"), d = n.sym("D");
  const ValueId x = n.in("", DType::f32, {a, b}), y = n.in("", DType::f32, {c, d});
  const ValueId both = n.op(OpCode::op_mul, {x, y});
  n.out(both);
  n.out(n.op(OpCode::op_reduce_sum, {both}, {ints("axes", {1})}));
  n.out(n.op(OpCode::op_sub, {both, x}));
  const auto g = n.done();
  std::vector<std::shared_ptr<engine::Executable>> executables;
  for (const Way& way : main_ways()) executables.push_back(compile(g, way));
  int refusals = 0;
  for (int which = 0; which < 81; ++which) {
    constexpr int64_t extents[] = {3, 1, 0};
    const int64_t ea = extents[which % 3], eb = extents[which / 3 % 3], ec = extents[which / 9 % 3],
                  ed = extents[which / 27];
    CAPTURE(ea);
    CAPTURE(eb);
    CAPTURE(ec);
    CAPTURE(ed);
    const std::vector<Array> inputs = {random_array(1, DType::f32, {ea, eb}), random_array(2, DType::f32, {ec, ed})};
    const bool fits = (ea == ec || ea == 1 || ec == 1) && (eb == ed || eb == 1 || ed == 1);
    if (fits) {
      agree(*g, executables, inputs);
      continue;
    }
    ++refusals;
    for (const auto& e : executables) CHECK_THROWS_WITH_AS(run(*e, inputs), doctest::Contains("broadcast"), Error);
  }
  CHECK(refusals == 32);
}

TEST_CASE("every rank from 0 to 16") {
  for (int64_t rank = 0; rank <= 16; ++rank) {
    CAPTURE(rank);
    Net n;
    std::vector<DimId> dims;
    std::vector<int64_t> shape, perm, every;
    for (int64_t d = 0; d < rank; ++d) {
      dims.push_back(n.sym(cat("D", d)));
      shape.push_back(d % 4 == 1 ? 3 : d % 3 == 0 ? 2 : 1);
      perm.push_back(rank - 1 - d);
      every.push_back(d);
    }
    const ValueId x = n.in("", DType::f32, dims);
    const ValueId turned = n.op(OpCode::op_transpose, {x}, {ints("perm", perm)});
    n.out(n.op(OpCode::op_tanh, {turned}));
    n.out(n.op(OpCode::op_reverse, {x}, {ints("axes", every)}));
    n.out(n.op(OpCode::op_reduce_sum, {turned}, {ints("axes", every)}));
    if (rank > 1) n.out(n.op(OpCode::op_reduce_max, {turned}, {ints("axes", {0, rank - 1})}));
    if (rank > 0) n.out(n.op(OpCode::op_softmax, {turned}, {{"axis", Attr::of_int(0)}}));
    if (rank > 0) n.out(n.op(OpCode::op_concat, {x, x}, {{"axis", Attr::of_int(rank - 1)}}));
    if (rank < 16) {
      std::vector<DimId> wider = dims;
      wider.insert(wider.begin(), n.num(2));
      n.out(n.op(OpCode::op_broadcast, {x}, {{"shape", Attr::of_dims(wider)}}));
    }
    const auto g = n.done();
    std::vector<std::shared_ptr<engine::Executable>> executables;
    for (const Way& way : main_ways()) executables.push_back(compile(g, way));
    agree(*g, executables, {random_array(4, DType::f32, shape)});
    if (rank > 2) {
      shape[1] = 0;
      agree(*g, executables, {random_array(4, DType::f32, shape)});
    }
  }
}

TEST_CASE("a pad that adds nothing is its operand, whatever its fill is made of") {
  Net net;
  const ValueId x = net.in("x", DType::f32, {net.sym("N")}), one = net.in("one", DType::f32, {});
  const ValueId fill = net.op(OpCode::op_reduce_sum, {x});
  net.out(net.op(OpCode::op_pad, {one, fill}, {{"low", Attr::of_ints({})}, {"high", Attr::of_ints({})}}));
  net.out(net.op(OpCode::op_pad, {x, fill}, {{"low", Attr::of_ints({0})}, {"high", Attr::of_ints({0})}}));
  const Array inputs[] = {floats({3}, {1, 2, 3}), floats({}, {7})};
  CHECK(check(net.done(), inputs, all_ways()).empty());
}
