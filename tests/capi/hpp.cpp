// The C++ face: the same calls with handles that release themselves and failures as exceptions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

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
