// Indices that are known only in a run: every call that meets one out of range says so and names it.
#include <functional>

#include "host.h"

using namespace host;

TEST_CASE(
    "an index out of range is told with its op, operand and value by every kind of run, and the next run is fine") {
  const Context c = context();
  const Graph g = parse(c,
                        "ingot 1.0\ngraph @g(%x: f32[N], %i: i32[M]) -> (f32[M]) {\n  %0 = gather %x, %i\n"
                        "  %1 = neg %0\n  return %1\n}\n");
  for (const ingot_backend backend : {INGOT_BACKEND_INTERPRETER, INGOT_BACKEND_AUTO}) {
    const Executable e = compile(c, g, backend);
    for (const int32_t bad : {3, -4, INT32_MAX, INT32_MIN}) {
      Floats x({3}, {1, 2, 3}), y({4}, {0, 0, 0, 0});
      int32_t index[] = {0, 1, bad, -3};
      int64_t four = 4;
      ingot_tensor i = x.tensor;
      i.data = index, i.dtype = {0, 32, 1}, i.shape = &four;
      const ingot_tensor *ins[] = {&x.tensor, &i}, *outs[] = {&y.tensor};
      ingot_run_options never_stall = INGOT_RUN_OPTIONS_INIT;
      never_stall.never_stall = 1;
      ingot_call* raw = nullptr;
      ok(ingot_call_create(e.get(), &raw));
      const Call call(raw);
      ok(ingot_call_bind(call.get(), ins, 2, outs, 1));
      const std::function<ingot_status*()> ways[] = {
          [&] { return ingot_run(e.get(), ins, 2, outs, 1, nullptr); },
          [&] { return ingot_run(e.get(), ins, 2, outs, 1, &never_stall); },
          [&] { return ingot_call_run(call.get(), nullptr); },
      };
      const std::string said = "gather: an index along axis 0 of %x: f32[N] is " + std::to_string(bad);
      for (int again = 0; again < 2; ++again)
        for (const auto& way : ways) CHECK(refused(way(), said.c_str()) == INGOT_OUT_OF_RANGE);
      index[2] = 2;
      for (const auto& way : ways) {
        y.data.assign(4, 0);
        ok(way());
        CHECK(y.data == std::vector<float>{-1, -2, -3, -1});
      }
    }
  }
}

TEST_CASE("steps that are no kernel are cancelled, too") {
  const Context c = context();
  for (const char* op : {"gather %x, %i", "scatter %x, %j, %x", "scatter_add %x, %j, %x", "searchsorted %x, %x"}) {
    CAPTURE(std::string(op));
    const std::string text = std::string("ingot 1.0\ngraph @g(%x: f32[N, D], %i: i32[N], %j: i32[N, D]) -> (") +
                             (std::string(op).starts_with("search") ? "i64" : "f32") + "[N, D]) {\n  %0 = " + op +
                             "\n  return %0\n}\n";
    const Graph g = parse(c, text.c_str());
    const Executable e = compile(c, g, INGOT_BACKEND_INTERPRETER);
    Floats x({2, 3}, {1, 2, 3, 4, 5, 6});
    int32_t index[] = {0, 1, 0, 1, 0, 1};
    int64_t result[6], two = 2, both[] = {2, 3};
    ingot_tensor i = x.tensor, j = x.tensor, out = x.tensor;
    i.data = j.data = index, i.dtype = j.dtype = {0, 32, 1};
    i.ndim = 1, i.shape = &two, j.shape = both;
    out.data = result, out.shape = both;
    if (text.find("-> (i64") != std::string::npos) out.dtype = {0, 64, 1};
    const ingot_tensor *ins[] = {&x.tensor, &i, &j}, *outs[] = {&out};
    uint32_t cancel = 1;
    ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
    options.cancel = &cancel;
    CHECK(refused(ingot_run(e.get(), ins, 3, outs, 1, &options), "cancelled") == INGOT_CANCELLED);
    cancel = 0;
    ok(ingot_run(e.get(), ins, 3, outs, 1, &options));
  }
}
