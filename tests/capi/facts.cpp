// Facts about dims: contradictions are refused when the graph is finished, and sizes that break a fact by whatever
// looks at them, naming the fact.
#include <functional>

#include "host.h"

using namespace host;

namespace {

struct Built {
  Context context = host::context();
  Graph graph;
  ingot_dim a = 0, b = 0;
  Built() {
    ingot_graph* g = nullptr;
    ok(ingot_graph_create(context.get(), nullptr, 0, &g));
    graph.reset(g);
    ok(ingot_graph_dim_symbol(g, "A", 1, 0, INT64_MAX, &a));
    ok(ingot_graph_dim_symbol(g, "B", 1, 0, INT64_MAX, &b));
    ingot_value x = 0, y = 0;
    ok(ingot_graph_input(g, "x", 1, INGOT_F32, &a, 1, &x));
    ok(ingot_graph_input(g, "y", 1, INGOT_F32, &b, 1, &y));
    ok(ingot_graph_op(g, INGOT_OP_NEG, &x, 1, nullptr, 0, &y, 1));
    ok(ingot_graph_output(g, nullptr, 0, y));
  }
  ingot_dim number(int64_t v) {
    ingot_dim d = 0;
    ok(ingot_graph_dim_expr(graph.get(), INGOT_DIM_CONSTANT, v, nullptr, 0, &d));
    return d;
  }
  ingot_dim expr(ingot_dim_kind kind, ingot_dim p, ingot_dim q) {
    const ingot_dim both[] = {p, q};
    ingot_dim d = 0;
    ok(ingot_graph_dim_expr(graph.get(), kind, 0, both, 2, &d));
    return d;
  }
  void assume(ingot_fact fact, ingot_dim p, ingot_dim q) {
    const ingot_dim both[] = {p, q};
    ok(ingot_graph_assume(graph.get(), fact, both, 2));
  }
};

}  // namespace

TEST_CASE("facts that contradict each other are refused at the finish, whatever order they came in") {
  Built g;
  g.assume(INGOT_FACT_DIVISIBLE, g.a, g.number(2));
  g.assume(INGOT_FACT_EQUAL, g.a, g.b);
  g.assume(INGOT_FACT_EQUAL, g.b, g.number(3));
  CHECK(refused(ingot_graph_finish(g.graph.get()), "contradict each other: A cannot be divisible by 2") ==
        INGOT_INVALID_ARGUMENT);
  // It is not finished, and stays what it was.
  ingot_dim c = 0;
  ok(ingot_graph_dim_symbol(g.graph.get(), "C", 1, 0, 9, &c));
  Built product;
  product.assume(INGOT_FACT_EQUAL, product.expr(INGOT_DIM_MUL, product.a, product.b), product.number(7));
  product.assume(INGOT_FACT_EQUAL, product.a, product.number(2));
  CHECK(refused(ingot_graph_finish(product.graph.get()), "2*B == 7") == INGOT_INVALID_ARGUMENT);
  Built fine;
  fine.assume(INGOT_FACT_DIVISIBLE, fine.a, fine.number(2));
  fine.assume(INGOT_FACT_EQUAL, fine.a, fine.b);
  fine.assume(INGOT_FACT_EQUAL, fine.b, fine.number(4));
  ok(ingot_graph_finish(fine.graph.get()));
}

TEST_CASE("sizes that break a fact are refused with its name, by every call that sees them, on every backend") {
  struct Case {
    const char* where;
    int64_t a, b;  // that break it
    const char* said;
  };
  const Context c = context();
  for (const Case& k :
       {Case{"A % 4 == 0", 6, 2, "A = 6, not divisible by 4"},
        Case{"A == B", 3, 2, "A == B does not hold: A = 3 and B = 2"},
        Case{"A >= 3", 2, 2, "symbol A is 2 here, but is declared to be at least 3"},
        Case{"A <= 3", 4, 2, "symbol A is 4 here, but is declared to be at most 3"},
        Case{"A % B == 0", 4, 3, "A = 4, not divisible by B = 3"}, Case{"A % B == 0", 4, 0, "divides by 0: B is 0"},
        Case{"A % 2 == 1", 4, 3, "A%2 == 1 does not hold: A%2 = 0 and 1"},
        Case{"A+B == 10", 4, 3, "A+B == 10 does not hold: A+B = 7 and 10"},
        Case{"A*A == 16", 3, 3, "A*A == 16 does not hold: A*A = 9 and 16"},
        Case{"max(A, B) == 2", 4, 1, "max(A, B) == 2 does not hold: max(A, B) = 4 and 2"},
        Case{"A*2 == 8", 3, 3, "2*A == 8 does not hold: 2*A = 6 and 8"}}) {
    CAPTURE(std::string(k.where));
    const Graph g = parse(c, std::string("ingot 1.0\ngraph @g(%x: f32[A], %y: f32[B]) -> (f32[A]) where ") + k.where +
                                 " {\n  %0 = neg %x\n  return %0\n}\n");
    for (const ingot_backend backend : {INGOT_BACKEND_INTERPRETER, INGOT_BACKEND_AUTO}) {
      const Executable e = compile(c, g, backend);
      Floats x({k.a}, std::vector<float>(8, 1)), y({k.b}, std::vector<float>(8, 1)), z({k.a}, std::vector<float>(8, 7));
      const ingot_tensor *ins[] = {&x.tensor, &y.tensor}, *outs[] = {&z.tensor};
      ingot_run_options never_stall = INGOT_RUN_OPTIONS_INIT;
      never_stall.never_stall = 1;
      size_t rank = 0;
      uint64_t bytes = 0;
      ingot_call* raw = nullptr;
      ok(ingot_call_create(e.get(), &raw));
      const Call call(raw);
      const std::function<ingot_status*()> ways[] = {
          [&] { return ingot_run(e.get(), ins, 2, outs, 1, nullptr); },
          [&] { return ingot_run(e.get(), ins, 2, outs, 1, &never_stall); },
          [&] { return ingot_call_bind(call.get(), ins, 2, outs, 1); },
          [&] { return ingot_executable_output_shape(e.get(), ins, 2, 0, nullptr, 0, &rank); },
          [&] { return ingot_executable_scratch_size(e.get(), ins, 2, &bytes); },
          [&] { return ingot_executable_prepare(e.get(), ins, 2, nullptr, nullptr); },
      };
      for (const auto& way : ways) CHECK(refused(way(), k.said) == INGOT_INVALID_ARGUMENT);
      CHECK(z.data == std::vector<float>(8, 7));
    }
  }
}

TEST_CASE("sizes that break what an op needs are refused with the op's name") {
  struct Case {
    const char *head, *body;
    int64_t a, b;
    const char* said;
  };
  const Context c = context();
  for (const Case& k :
       {Case{"-> (f32[])", "matmul %x, %y", 3, 2, "matmul: A == B does not hold: A = 3 and B = 2"},
        Case{"-> (f32[2, A/2])", "reshape %x {shape = [2, A/2]}", 3, 2, "reshape: A = 3, not divisible by 2"},
        Case{"-> (f32[2, A])", "stack %x, %y {axis = 0}", 3, 2, "stack: A == B does not hold"}}) {
    CAPTURE(std::string(k.body));
    const Graph g = parse(c, std::string("ingot 1.0\ngraph @g(%x: f32[A], %y: f32[B]) ") + k.head +
                                 " {\n  %0 = " + k.body + "\n  return %0\n}\n");
    const Executable e = compile(c, g, INGOT_BACKEND_INTERPRETER);
    Floats x({k.a}, std::vector<float>(8, 1)), y({k.b}, std::vector<float>(8, 1));
    const ingot_tensor* ins[] = {&x.tensor, &y.tensor};
    size_t rank = 0;
    const auto run = [&] { return ingot_executable_output_shape(e.get(), ins, 2, 0, nullptr, 0, &rank); };
    CHECK(refused(run(), k.said) == INGOT_INVALID_ARGUMENT);
  }
}
