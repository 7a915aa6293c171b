// The C++ face: the same calls with handles that release themselves and failures as exceptions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstring>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "ingot/ingot.hpp"

using namespace ingot_cpp;

TEST_CASE("a graph is built, printed, parsed back and run") {
  const Context context;
  Graph g(context, "axpy");
  const ingot_dim n = g.symbol("N");
  const ingot_value x = g.input("x", INGOT_F64, {n});
  const ingot_value y = g.op(INGOT_OP_FMA, {x, g.scalar(2.0), g.scalar(1.0)});
  g.output(g.op(INGOT_OP_REDUCE_SUM, {y}, {Attr("axes", std::vector<int64_t>{0}), Attr("keepdims", true)}), "total");
  g.finish();
  const Graph again = Graph::parse(context, g.print());
  const Executable e(context, again);
  double in[5] = {1, 2, 3, 4, 5}, out[1] = {};
  const Tensor a(in, {3}, {2}), b(out, {1});
  CHECK(e.output_shape({&a}, 0) == std::vector<int64_t>{1});
  e.run({&a}, {&b});
  CHECK(out[0] == 21);  // 3 + 7 + 11
  const Executable copy = e;
  CHECK(copy.describe("fusion").find("reduce_sum") != std::string::npos);
  CHECK(context.stats().runs == 1);
}

#if defined(__x86_64__)
TEST_CASE("the caller's rounding, flushing and traps reach neither parsing nor compiling nor a run") {
  const char* text =
      "ingot 1.0\ngraph @g(%x: f64[N]) -> (f64[N]) {\n  %0 = mul %x, 4.9e-324\n  %1 = add %0, 0.1\n  return %1\n}\n";
  const unsigned saved = _mm_getcsr();
  std::string printed;
  double x[3] = {1, 2, 3}, y[3], z[3];
  const Tensor a(x, {3}), b(y, {3}), c(z, {3});
  {
    const Context context;
    const Graph g = Graph::parse(context, text);
    printed = g.print();
    Executable(context, g).run({&a}, {&b});
  }
  CHECK(printed.find("e-324") != std::string::npos);
  // Flush to zero and denormals are zero; round up; all traps unmasked.
  for (const unsigned mode : {0x9fc0u, 0x5f80u, 0x0000u}) {
    _mm_setcsr(mode);
    ingot_context* context = nullptr;
    ingot_graph* graph = nullptr;
    ingot_executable* e = nullptr;
    ingot_buffer* buffer = nullptr;
    ingot_status* bad = ingot_context_create(nullptr, &context);
    if (!bad) bad = ingot_graph_parse(context, text, INGOT_NUL, &graph);
    if (!bad) bad = ingot_graph_print(graph, &buffer);
    if (!bad) bad = ingot_compile(context, graph, nullptr, &e);
    const ingot_tensor *ins[] = {a.get()}, *outs[] = {c.get()};
    if (!bad) bad = ingot_run(e, ins, 1, outs, 1, nullptr);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    CHECK(after == mode);
    check(bad);
    CHECK(take(buffer) == printed);
    CHECK(std::memcmp(y, z, sizeof y) == 0);
    ingot_executable_release(e);
    ingot_graph_release(graph);
    ingot_context_release(context);
  }
}
#endif

TEST_CASE("a failure is an exception with its code") {
  const Context context;
  try {
    Graph::parse(context, "ingot 1.0\nnonsense");
    FAIL("parsed");
  } catch (const Error& e) {
    CHECK(e.code() == INGOT_INVALID_ARGUMENT);
    CHECK(std::string(e.what()).rfind("2:1", 0) == 0);
  }
}
