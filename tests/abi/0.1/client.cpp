// A C++ host compiled against the headers of release 0.1, ingot.hpp among them. Part of the frozen release: it is not
// edited, and stands alone.
#include <cstdio>
#include <string>
#include <vector>

#include "ingot/ingot.hpp"

static_assert(INGOT_VERSION_MAJOR == 0 && INGOT_VERSION_MINOR == 1, "these are not the headers of release 0.1");

using namespace ingot_cpp;

namespace {

int failures = 0;
#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                                 \
    }                                                                             \
  } while (0)

Context context() {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.ignore_environment = 1;
  return Context(&o);
}

void built_by_calls() {
  const Context c = context();
  Graph g(c, "by_calls");
  const Dim n = g.symbol("N", 1);
  g.assume_divisible(n, 2);
  const Value x = g.input<float>("x", {2, n});
  const Value k = g.dim_input("n", n);
  Value v = g.op(INGOT_OP_ADD, {g.op(INGOT_OP_MUL, {x, g.scalar(2.0f)}), g.scalar(0.5f)});
  g.output(v, "y");
  v = g.op(INGOT_OP_RESHAPE, {v}, {{"shape", {g.dim(INGOT_DIM_MUL, {n, 2})}}});
  g.output(g.op(INGOT_OP_REDUCE_SUM, {v}, {{"axes", {0}}, {"keepdims", true}}), "total");
  g.finish();
  CHECK(g.find("n").id == k.id);
  CHECK(g.print().find("graph @by_calls(%x: f32[2, N], %n: dim N)") != std::string::npos);
  const Executable e(c, g);
  CHECK(e.inputs().size() == 2 && e.inputs()[0].shape_text == "[2, N]" && e.outputs()[1].name == "total");
  const std::vector<float> in{1, 2, 3, 4};
  std::vector<float> y(4), total(1);
  const int64_t two = 2;
  const Tensor tx(in, {2, 2}), tn(&two, {}), ty(y, {2, 2}), tt(total);
  e.prepare_async().wait();
  CHECK(e.output_shape({&tx, &tn}, 1) == std::vector<int64_t>{1});
  e.run({&tx, &tn}, {&ty, &tt});
  CHECK(y == std::vector<float>({2.5, 4.5, 6.5, 8.5}) && total[0] == 22);
  Call call(e);
  call.bind({&tx, &tn});
  call.set_output(0, y.data());
  call.set_output(1, total.data());
  y.assign(4, 0);
  Call(call).run();
  CHECK(y[3] == 8.5f);
  CHECK(c.stats().runs == 2);
}

void parsed_from_text() {
  const Context c = context();
  const Graph g = Graph::parse(c,
                               "ingot 1.0\ngraph @by_text(%x: f32[N]) -> (f32[N]) {\n"
                               "  %twice = mul %x, 2.0\n  %y = add %twice, 0.5\n  return %y\n}\n");
  const Executable e(c, g), part = e.subset({g.find("twice")}, {g.find("y")});
  std::vector<float> in{1, 2, 3}, out(3);
  part.run({Tensor(in)}, {Tensor(out)});
  CHECK(out == std::vector<float>({1.5, 2.5, 3.5}));
  CHECK(e.describe("fusion").find("mul") != std::string::npos);
  try {
    g.find("none");
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.code() == INGOT_NOT_FOUND);
  }
}

}  // namespace

int main() {
  try {
    built_by_calls();
    parsed_from_text();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures != 0;
}
