// The n-th allocation of Ingot's own code fails, for every n over the life of contexts, graphs and executables: the
// call says OUT_OF_MEMORY (or did without), nothing is leaked, and the same call on the same handles then succeeds,
// with the right numbers at the end. Once with one allocation failing and once with all from there on.
#include "sweep.h"

using namespace ingot::oom;

namespace {

void describe(ingot_executable* e, const char* what) {
  ingot_buffer* text = nullptr;
  step(what, [&] { return ingot_executable_describe(e, what, INGOT_NUL, &text); });
  ingot_buffer_release(text);
}

ingot_attr ints_attr(const char* name, const std::vector<int64_t>& v) {
  ingot_attr a{};
  a.name = name, a.name_length = INGOT_NUL, a.kind = INGOT_ATTR_I64S, a.value.i64s = v.data(), a.count = v.size();
  return a;
}
ingot_attr dims_attr(const char* name, const std::vector<ingot_dim>& v) {
  ingot_attr a{};
  a.name = name, a.name_length = INGOT_NUL, a.kind = INGOT_ATTR_DIMS, a.value.dims = v.data(), a.count = v.size();
  return a;
}
ingot_attr number_attr(const char* name, ingot_attr_kind kind, int64_t v) {
  ingot_attr a{};
  a.name = name, a.name_length = INGOT_NUL, a.kind = kind, a.value.i64 = v;
  return a;
}

// Every op, symbols, expressions and facts of every kind.
void build(ingot_context* context) {
  Handles h;
  STEP(ingot_graph_create(context, "all", INGOT_NUL, &h.graph));
  ingot_graph* const g = h.graph;
  STEP(ingot_graph_set_flags(g, INGOT_GRAPH_RELAXED_PRECISION));
  const auto constant = [&](int64_t v) {
    ingot_dim d = 0;
    STEP(ingot_graph_dim_expr(g, INGOT_DIM_CONSTANT, v, nullptr, 0, &d));
    return d;
  };
  const auto expr = [&](ingot_dim_kind kind, ingot_dim a, ingot_dim b) {
    const ingot_dim both[] = {a, b};
    ingot_dim d = 0;
    STEP(ingot_graph_dim_expr(g, kind, 0, both, 2, &d));
    return d;
  };
  ingot_dim b = 0, n = 0, m = 0, k = 0;
  STEP(ingot_graph_dim_symbol(g, "B", 1, 1, INT64_MAX, &b));
  STEP(ingot_graph_dim_symbol(g, "N", 1, 0, INT64_MAX, &n));
  STEP(ingot_graph_dim_symbol(g, "M", 1, 0, INT64_MAX, &m));
  STEP(ingot_graph_dim_symbol(g, "a symbol of some length", INGOT_NUL, 2, 1000, &k));
  const ingot_dim two = constant(2), three = constant(3), twice = expr(INGOT_DIM_MUL, n, two);
  for (ingot_dim_kind kind = INGOT_DIM_ADD; kind <= INGOT_DIM_BCAST; ++kind) expr(kind, expr(kind, twice, k), three);
  for (int64_t i = 10; i < 80; ++i) expr(INGOT_DIM_ADD, n, constant(i));  // tables grow
  const auto assume = [&](ingot_fact fact, ingot_dim x, ingot_dim y) {
    const ingot_dim both[] = {x, y};
    STEP(ingot_graph_assume(g, fact, both, 2));
  };
  assume(INGOT_FACT_DIVISIBLE, n, two);
  assume(INGOT_FACT_EQUAL, m, expr(INGOT_DIM_FLOOR_DIV, n, two));
  assume(INGOT_FACT_DIVISIBLE, expr(INGOT_DIM_MUL, n, b), k);
  assume(INGOT_FACT_EQUAL, expr(INGOT_DIM_MAX, constant(0), expr(INGOT_DIM_SUB, k, three)),
         expr(INGOT_DIM_SUB, k, three));
  STEP(ingot_graph_dim_symbol(g, "B", 1, 1, 4096, &b));

  ingot_value x = 0, y = 0, z = 0, i = 0, p = 0, narrow = 0;
  const ingot_dim bn[] = {b, n}, b2m[] = {b, m};
  STEP(ingot_graph_input(g, "x", 1, INGOT_F32, bn, 2, &x));
  STEP(ingot_graph_input(g, "an input of a longer name", INGOT_NUL, INGOT_F32, bn, 2, &y));
  STEP(ingot_graph_input(g, nullptr, 0, INGOT_F32, b2m, 2, &narrow));
  STEP(ingot_graph_input(g, "i", 1, INGOT_I32, bn, 2, &i));
  STEP(ingot_graph_input(g, "p", 1, INGOT_BOOL, bn, 2, &p));
  STEP(ingot_graph_dim_input(g, "k", 1, k, &z));
  int64_t three_items[] = {3};
  float data[] = {1, 2, 3, 4, 5};
  int64_t every_other[] = {2};
  ingot_tensor t{data, {1, 0}, 1, {2, 32, 1}, three_items, nullptr, 0};
  ingot_value c = 0;
  STEP(ingot_graph_constant(g, &t, 0, nullptr, nullptr, &c));
  t.strides = every_other;
  STEP(ingot_graph_constant(g, &t, 0, nullptr, nullptr, &c));
  t.strides = nullptr;
  int owed = destroyed;
  step("borrowed constant", [&] {
    ++owed;
    return ingot_graph_constant(g, &t, 0, count_destroy, nullptr, &c);
  });
  CHECK(destroyed == owed - 1);  // but for the one that the graph holds

  const auto op = [&](ingot_op code, std::vector<ingot_value> in, std::vector<ingot_attr> attrs = {}) {
    ingot_value v = 0;
    INFO("op ", code);
    STEP(ingot_graph_op(g, code, in.data(), in.size(), attrs.data(), attrs.size(), &v, 1));
    return v;
  };
  std::vector<ingot_value> made;
  for (const ingot_op code : {INGOT_OP_NEG, INGOT_OP_ABS, INGOT_OP_SQRT, INGOT_OP_FLOOR, INGOT_OP_CEIL, INGOT_OP_ROUND,
                              INGOT_OP_RSQRT, INGOT_OP_EXP, INGOT_OP_LOG, INGOT_OP_TANH, INGOT_OP_ERF, INGOT_OP_SILU,
                              INGOT_OP_RELU, INGOT_OP_SIGMOID, INGOT_OP_SOFTMAX})
    made.push_back(op(code, {x}));
  for (const ingot_op code :
       {INGOT_OP_ADD, INGOT_OP_SUB, INGOT_OP_MUL, INGOT_OP_DIV, INGOT_OP_MIN, INGOT_OP_MAX, INGOT_OP_POW, INGOT_OP_EQ,
        INGOT_OP_NE, INGOT_OP_LT, INGOT_OP_LE, INGOT_OP_GT, INGOT_OP_GE})
    made.push_back(op(code, {x, y}));
  for (const ingot_op code : {INGOT_OP_AND, INGOT_OP_OR, INGOT_OP_XOR}) made.push_back(op(code, {i, i}));
  ingot_attr tanh_attr{};
  tanh_attr.name = "approximate", tanh_attr.name_length = INGOT_NUL, tanh_attr.kind = INGOT_ATTR_STRING;
  tanh_attr.value.string = "tanh", tanh_attr.count = INGOT_NUL;
  made.push_back(op(INGOT_OP_GELU, {x}, {tanh_attr}));
  made.push_back(op(INGOT_OP_NOT, {p}));
  made.push_back(op(INGOT_OP_FMA, {x, y, x}));
  made.push_back(op(INGOT_OP_SELECT, {p, x, y}));
  made.push_back(op(INGOT_OP_CLAMP, {x, y, y}));
  made.push_back(op(INGOT_OP_CAST, {x}, {number_attr("to", INGOT_ATTR_DTYPE, INGOT_I64)}));
  made.push_back(op(INGOT_OP_IOTA, {}, {dims_attr("shape", {b, n}), number_attr("axis", INGOT_ATTR_I64, 1)}));
  // A shape that makes the op need facts of its own.
  const std::vector<ingot_dim> halves = {b, m, two}, rows = {b, expr(INGOT_DIM_FLOOR_DIV, n, k), k},
                               wide = {three, b, n}, none = {constant(0), constant(0)},
                               one = {constant(1), constant(1)}, full = {b, n};
  const std::vector<int64_t> turned = {1, 0}, last = {1}, first = {0};
  made.push_back(op(INGOT_OP_RESHAPE, {x}, {dims_attr("shape", halves)}));
  made.push_back(op(INGOT_OP_RESHAPE, {x}, {dims_attr("shape", rows)}));
  made.push_back(op(INGOT_OP_TRANSPOSE, {x}, {ints_attr("perm", turned)}));
  made.push_back(op(INGOT_OP_BROADCAST, {x}, {dims_attr("shape", wide)}));
  made.push_back(op(INGOT_OP_SLICE, {x}, {dims_attr("starts", none), dims_attr("limits", full)}));
  made.push_back(op(INGOT_OP_SLICE, {x}, {dims_attr("starts", one), dims_attr("limits", {b, m})}));
  float nought = 0;
  ingot_tensor zero{&nought, {1, 0}, 0, {2, 32, 1}, nullptr, nullptr, 0};
  ingot_value filler = 0;
  STEP(ingot_graph_constant(g, &zero, 0, nullptr, nullptr, &filler));
  made.push_back(op(INGOT_OP_PAD, {x, filler}, {dims_attr("low", one), dims_attr("high", {two, k})}));
  made.push_back(op(INGOT_OP_CONCAT, {x, narrow}, {number_attr("axis", INGOT_ATTR_I64, 1)}));
  made.push_back(op(INGOT_OP_REVERSE, {x}, {ints_attr("axes", last)}));
  for (ingot_op code = INGOT_OP_REDUCE_SUM; code <= INGOT_OP_REDUCE_ALL; ++code)
    made.push_back(op(code, {code >= INGOT_OP_REDUCE_ANY ? p : x}, {ints_attr("axes", first)}));
  made.push_back(op(INGOT_OP_MATMUL, {x, op(INGOT_OP_TRANSPOSE, {y}, {ints_attr("perm", turned)})}));
  const ingot_value scale = op(INGOT_OP_REDUCE_MAX, {x}, {ints_attr("axes", first)});
  made.push_back(op(INGOT_OP_LAYER_NORM, {x, scale, scale}));
  made.push_back(op(INGOT_OP_RMS_NORM, {x, scale}));
  for (size_t v = 0; v < made.size(); ++v) {
    const std::string name = "output " + std::to_string(v);
    STEP(ingot_graph_output(g, name.c_str(), name.size(), made[v]));
  }
  STEP(ingot_graph_finish(g));
  ingot_value found = 0;
  STEP(ingot_graph_find_value(g, "an input of a longer name", INGOT_NUL, &found));
  CHECK(found == y);
  ingot_buffer* text = nullptr;
  STEP(ingot_graph_print(g, &text));
  const char* bytes = nullptr;
  ingot_buffer_data(text, &bytes, nullptr);
  // As simple as a graph that met no failure: nothing known was lost.
  static std::string whole;
  if (whole.empty()) whole = bytes;
  CHECK(whole == bytes);
  ingot_buffer_release(text);
}

}  // namespace

TEST_CASE("creating a context with every option") {
  const Directory cache;
  const uint64_t n = sweep([&] {
    Handles h;
    ingot_context_options o = quiet();
    o.no_disk_cache = 0;
    o.no_threads = 0;
    o.num_threads = 2;
    o.cache_dir = cache.path.c_str();
    o.log = [](void*, ingot_log_level, const char*, size_t) {};
    o.trust_host_cache = 1;
    o.cache_get = [](void*, const char*, size_t, void (*)(void*, const void*, size_t), void*) { return 0; };
    o.cache_put = [](void*, const char*, size_t, const void*, size_t) { return 0; };
    o.parallel_for = [](void*, uint32_t tasks, void (*task)(void*, uint32_t), void* context) {
      for (uint32_t i = 0; i < tasks; ++i) task(context, i);
    };
    o.log_destroy = o.cache_destroy = o.parallel_destroy = count_destroy;
    int creations = 0;
    const int before = destroyed;
    step("create", [&] {
      ++creations;
      return ingot_context_create(&o, &h.context);
    });
    CHECK(destroyed == before + 3 * (creations - 1));
    ingot_stats stats = INGOT_STATS_INIT;
    STEP(ingot_context_stats(h.context, &stats));
    STEP(ingot_context_trim(h.context, 0));
    for (const char* command : {"info", "list", "verify", "clear"}) {
      ingot_buffer* report = nullptr;
      step(command, [&] { return ingot_context_cache(h.context, command, INGOT_NUL, &report); });
      ingot_buffer_release(report);
    }
    h.release();
    CHECK(destroyed == before + 3 * creations);
  });
  MESSAGE(n, " allocations");
}

TEST_CASE("graphs from text, good and bad, and the op table") {
  Handles outer;
  const ingot_context_options o = quiet();
  REQUIRE(!ingot_context_create(&o, &outer.context));
  const uint64_t n = sweep([&] {
    Handles h;
    STEP(ingot_graph_parse(outer.context, softmax_text, INGOT_NUL, &h.graph));
    ingot_graph* none = nullptr;
    ingot_status* status = in_library(
        [&] { return ingot_graph_parse(outer.context, "ingot 1.0\ngraph @g(%x: f33[N])", INGOT_NUL, &none); });
    const ingot_code code = ingot_status_code(status);
    CHECK((code == INGOT_INVALID_ARGUMENT || (failed() && code == INGOT_OUT_OF_MEMORY)));
    ingot_status_release(status);
    CHECK(none == nullptr);
    ingot_buffer* table = nullptr;
    STEP(ingot_ops_json(&table));
    ingot_buffer_release(table);
  });
  MESSAGE(n, " allocations");
}

TEST_CASE("graphs by the builder: symbols, expressions, facts, every op") {
  Handles outer;
  const ingot_context_options o = quiet();
  REQUIRE(!ingot_context_create(&o, &outer.context));
  MESSAGE(sweep([&] { build(outer.context); }), " allocations");
}

TEST_CASE("a refused op leaves the graph as it was, whatever fails in refusing it") {
  Handles outer;
  const ingot_context_options o = quiet();
  REQUIRE(!ingot_context_create(&o, &outer.context));
  sweep([&] {
    Handles h;
    ingot_dim a = 0, b = 0, c = 0, two = 0;
    STEP(ingot_graph_create(outer.context, nullptr, 0, &h.graph));
    STEP(ingot_graph_dim_symbol(h.graph, "A", 1, 0, 100, &a));
    STEP(ingot_graph_dim_symbol(h.graph, "B", 1, 0, 100, &b));
    STEP(ingot_graph_dim_symbol(h.graph, "C", 1, 0, 100, &c));
    STEP(ingot_graph_dim_expr(h.graph, INGOT_DIM_CONSTANT, 2, nullptr, 0, &two));
    const ingot_dim even[] = {a, two}, same[] = {a, b, two, c}, alike[] = {a, b};
    STEP(ingot_graph_assume(h.graph, INGOT_FACT_DIVISIBLE, even, 2));
    STEP(ingot_graph_assume(h.graph, INGOT_FACT_EQUAL, alike, 2));
    ingot_dim three = 0;
    STEP(ingot_graph_dim_expr(h.graph, INGOT_DIM_CONSTANT, 3, nullptr, 0, &three));
    const ingot_dim wrong[] = {c, b, two, three};  // refused at the third, after C == B and C == 2 were taken in
    ingot_status* status = in_library([&] { return ingot_graph_assume(h.graph, INGOT_FACT_EQUAL, wrong, 4); });
    const ingot_code code = ingot_status_code(status);
    CHECK((code == INGOT_INVALID_ARGUMENT || (failed() && code == INGOT_OUT_OF_MEMORY)));
    ingot_status_release(status);
    STEP(ingot_graph_assume(h.graph, INGOT_FACT_EQUAL, same, 4));  // all 2, which no fact forbids
    ingot_value x = 0, v = 0;
    const ingot_dim shape[] = {a, c};
    STEP(ingot_graph_input(h.graph, "x", 1, INGOT_F32, shape, 2, &x));
    STEP(ingot_graph_input(h.graph, "y", 1, INGOT_F32, &b, 1, &v));
    const ingot_value both[] = {x, v};
    STEP(ingot_graph_op(h.graph, INGOT_OP_ADD, both, 2, nullptr, 0, &v, 1));
    STEP(ingot_graph_output(h.graph, nullptr, 0, v));
    STEP(ingot_graph_finish(h.graph));
    ingot_buffer* text = nullptr;
    STEP(ingot_graph_print(h.graph, &text));
    const char* bytes = nullptr;
    ingot_buffer_data(text, &bytes, nullptr);
    static std::string whole;
    if (whole.empty()) whole = bytes;
    CHECK(whole == bytes);
    ingot_buffer_release(text);
  });
}

TEST_CASE("compiling, running and describing on the interpreter") {
  Handles outer;
  const ingot_context_options o = quiet();
  REQUIRE(!ingot_context_create(&o, &outer.context));
  REQUIRE(!ingot_graph_parse(outer.context, softmax_text, INGOT_NUL, &outer.graph));
  const uint64_t n = sweep([&] {
    Handles h;
    ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
    c.backend = INGOT_BACKEND_INTERPRETER;
    STEP(ingot_compile(outer.context, outer.graph, &c, &h.executable));
    STEP(ingot_executable_prepare(h.executable, nullptr, 0, nullptr, nullptr));
    run_softmax(h.executable);
  });
  MESSAGE(n, " allocations");
  const uint64_t described = sweep([&] {
    Handles h;
    ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
    c.backend = INGOT_BACKEND_INTERPRETER;
    REQUIRE(!ingot_compile(outer.context, outer.graph, &c, &h.executable));
    for (const char* what : {"graph", "fusion", "kernel", "cuda", "json"}) describe(h.executable, what);
    run_softmax(h.executable);
  });
  MESSAGE(described, " allocations");
}

TEST_CASE("compiling and running on the CPU backend, kernels from its memory and disk caches") {
  const Directory cache;
  ingot_context_options o = quiet();
  Handles probe;
  REQUIRE(!ingot_context_create(&o, &probe.context));
  REQUIRE(!ingot_graph_parse(probe.context, softmax_text, INGOT_NUL, &probe.graph));
  ingot_compile_options c = INGOT_COMPILE_OPTIONS_INIT;
  c.backend = INGOT_BACKEND_CPU;
  REQUIRE(!ingot_compile(probe.context, probe.graph, &c, &probe.executable));
  if (!compiles(probe.executable)) return;
  const auto life = [&](const char* directory) {
    Handles h;
    ingot_context_options options = quiet();
    options.no_disk_cache = directory == nullptr;
    options.cache_dir = directory;
    STEP(ingot_context_create(&options, &h.context));
    STEP(ingot_compile(h.context, probe.graph, &c, &h.executable));
    STEP(ingot_executable_prepare(h.executable, nullptr, 0, nullptr, nullptr));
    run_softmax(h.executable);
  };
  MESSAGE(sweep([&] { life(cache.path.c_str()); }, 3), " allocations, from disk");
  MESSAGE(sweep([&] { life(nullptr); }, 61), " allocations, compiled");
}
