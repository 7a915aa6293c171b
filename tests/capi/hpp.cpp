// The C++ face: the same calls with handles that release themselves and failures as exceptions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "ingot/ingot.hpp"

using namespace ingot_cpp;

namespace {

template <class F>
ingot_code code_of(F run) {
  try {
    run();
  } catch (const std::exception& e) {  // as a host without this header's names catches it
    const auto* error = dynamic_cast<const Error*>(&e);
    CHECK(std::string(e.what()) != "");
    return error ? error->code() : INGOT_INTERNAL;
  }
  return INGOT_OK;
}

}  // namespace

TEST_CASE("a graph is built, printed, parsed back and run") {
  const Context context;
  Graph g(context, "axpy");
  const Dim n = g.symbol("N");
  const Value x = g.input("x", INGOT_F64, {n});
  const Value y = g.op(INGOT_OP_FMA, {x, g.scalar(2.0), g.scalar(1.0)});
  g.output(g.op(INGOT_OP_REDUCE_SUM, {y}, {{"axes", {0}}, {"keepdims", true}}), "total");
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

TEST_CASE("an op of several results gives each, and a wrong number of them changes nothing") {
  const Context context;
  Graph g(context);
  const Value x = g.input<float>("x", {6});
  const std::vector<Value> parts = g.op(INGOT_OP_SPLIT, {x}, {{"sizes", {1, 2, 3}}}, 3);
  REQUIRE(parts.size() == 3);
  g.output(parts[2]);
  g.output(g.op(INGOT_OP_NEG, {parts[1]}));
  for (const size_t wrong : {size_t{0}, size_t{1}, size_t{2}, size_t{4}})
    CHECK(code_of([&] { g.op(INGOT_OP_SPLIT, {x}, {{"sizes", {1, 2, 3}}}, wrong); }) == INGOT_INVALID_ARGUMENT);
  CHECK(code_of([&] { g.op(INGOT_OP_SPLIT, {x}, {{"parts", 2}}); }) == INGOT_INVALID_ARGUMENT);
  CHECK(g.op(INGOT_OP_SPLIT, {x}, {{"parts", 1}}).id == parts[2].id + 2);  // after neg
  g.finish();
  const Graph again = Graph::parse(context, g.print());
  CHECK(again.print() == g.print());
  const Executable e(context, again);
  float in[6] = {1, 2, 3, 4, 5, 6}, last[3] = {}, middle[2] = {};
  e.run({Tensor(in, {6})}, {Tensor(last, {3}), Tensor(middle, {2})});
  CHECK((last[0] == 4 && last[1] == 5 && last[2] == 6));
  CHECK((middle[0] == -2 && middle[1] == -3));
}

TEST_CASE("shapes mix dims and numbers, and every way to write an attribute arrives as what it says") {
  const Context context;
  Graph g(context);
  const Dim n = g.symbol("N", 1);
  const int rows = 2;
  const size_t cols = 3;
  const Value x = g.input<float>("x", {rows, cols, n});
  const std::vector<int64_t> axes{0, 1};
  const ingot_dtype type = INGOT_F64;
  Value v = g.op(INGOT_OP_RESHAPE, {x}, {{"shape", {6, n}}});
  v = g.op(INGOT_OP_RESHAPE, {v}, {{"shape", std::vector<Dim>{g.dim(INGOT_DIM_MUL, {n, 6})}}});
  v = g.op(INGOT_OP_RESHAPE, {v}, {{"shape", {rows, cols, g.dim(INGOT_DIM_MUL, {n, 1})}}});
  v = g.op(INGOT_OP_GELU, {v}, {{"approximate", "tanh"}});
  v = g.op(INGOT_OP_GELU, {v}, {{"approximate", std::string("none")}});
  v = g.op(INGOT_OP_CAST, {v}, {{"to", INGOT_F64}});
  v = g.op(INGOT_OP_CAST, {v}, {Attr::dtype("to", type)});
  v = g.op(INGOT_OP_LAYER_NORM, {v, g.scalar(1.0)}, {{"axis", -1}, {"epsilon", 0.5f}});
  v = g.op(INGOT_OP_REDUCE_SUM, {v}, {{"axes", axes}, {"keepdims", false}});
  g.output(v);
  g.output(g.op(INGOT_OP_REDUCE_SUM, {x}, {{"axes", {}}}));
  g.output(g.op(INGOT_OP_IOTA, {}, {{"shape", {4}}, {"dtype", INGOT_I32}}));
  g.finish();
  const std::string text = g.print();
  for (const char* part :
       {"f32[2, 3, N]", "shape = [6, N]", "shape = [6*N]", "shape = [2, 3, N]", "approximate = \"tanh\"",
        "to = \"f64\"", "epsilon = 0.5", "axes = [0, 1]", "axes = []", "dtype = \"i32\""})
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part) << " in\n" << text);
}

TEST_CASE("facts and dim inputs are checked at each run") {
  const Context context;
  Graph g(context);
  const Dim n = g.symbol("N"), m = g.symbol("M"), k = g.symbol("K");
  const Value x = g.input<int32_t>("x", {n}), y = g.input<int32_t>("y", {m});
  g.dim_input("k", k);
  g.assume_equal({n, m});
  g.assume_divisible(n, 4);
  g.output(g.op(INGOT_OP_ADD, {x, y}));
  g.output(g.op(INGOT_OP_IOTA, {}, {{"shape", {k}}}));
  g.finish();
  CHECK(g.find("x").id == x.id);
  const Executable e(context, g);
  std::vector<int32_t> a(8, 1), b(8, 2), c(8);
  std::vector<int64_t> counted(3);
  int64_t three = 3;
  const Tensor extent(&three, {});
  e.run({Tensor(a), Tensor(b), extent}, {Tensor(c), Tensor(counted)});
  CHECK(c == std::vector<int32_t>(8, 3));
  CHECK(counted == std::vector<int64_t>{0, 1, 2});
  const Tensor a6(a.data(), {6}), b6(b.data(), {6}), c6(c.data(), {6}), a4(a.data(), {4}), out(counted);
  const Tensor b8(b), c8(c);
  CHECK(code_of([&] { e.run({&a6, &b6, &extent}, {&c6, &out}); }) == INGOT_INVALID_ARGUMENT);  // not by 4
  CHECK(code_of([&] { e.run({&a4, &b8, &extent}, {&c8, &out}); }) == INGOT_INVALID_ARGUMENT);  // not equal
}

TEST_CASE("inputs and outputs of an executable describe themselves") {
  const Context context;
  const Graph g = Graph::parse(context,
                               "ingot 1.0\ngraph @g(%x: f32[B, 3], %\"two words\": u8[]) -> (y: f32[B, 6], u8[]) {\n"
                               "  %0 = concat %x, %x {axis = 1}\n  return %0, %\"two words\"\n}\n");
  const Executable e(context, g);
  const std::vector<IoInfo> in = e.inputs(), out = e.outputs();
  REQUIRE((in.size() == 2 && out.size() == 2));
  CHECK((in[0].name == "x" && in[0].dtype == INGOT_F32 && in[0].shape_text == "[B, 3]"));
  CHECK(in[0].extents == std::vector<int64_t>{-1, 3});
  CHECK((in[1].name == "two words" && in[1].dtype == INGOT_U8 && in[1].extents.empty()));
  CHECK((out[0].name == "y" && out[0].shape_text == "[B, 6]" && out[1].name == ""));
}

TEST_CASE("constants take the dtype and shape of what they are made from") {
  const Context context;
  Graph g(context);
  const std::vector<float> f{1, 2, 3, 4};
  const std::array<int16_t, 2> i16{5, 6};
  const std::vector<uint16_t> halves{0x3c00, 0xc000};
  g.output(g.constant(f));
  g.output(g.constant(f, {2, 2}));
  g.output(g.constant(i16));
  g.output(g.constant({1.5, 2.5}));
  g.output(g.constant({1LL, 2LL}, {2, 1}));
  g.output(g.constant(std::vector<bool>{true, false, true}));
  g.output(g.constant(std::vector<uint8_t>{}));
  g.output(g.constant(Tensor(INGOT_F16, halves.data(), {2})));
  g.output(g.constant(Tensor(f.data() + 3, {2}, {-2})));
  g.output(g.scalar(int8_t{-1}));
  g.finish();
  const std::string text = g.print();
  for (const char* part : {"[1.0, 2.0, 3.0, 4.0] : f32[4]", "[[1.0, 2.0], [3.0, 4.0]] : f32[2, 2]", "[5, 6] : i16[2]",
                           "[1.5, 2.5] : f64[2]", "[[1], [2]] : i64[2, 1]", "[true, false, true] : bool[3]",
                           "hex(\"\") : u8[0]", "[1.0, -2.0] : f16[2]", "[4.0, 2.0] : f32[2]", "-1 : i8"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part) << " in\n" << text);
  // A shape with another number of items would read beyond the container.
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{5}, {3}, {2, 3}, {}, {-2, -2}, {0}, {4, INT64_MAX}, {INT64_MAX, INT64_MAX}})
    CHECK(code_of([&] { Tensor(f, shape); }) == INGOT_INVALID_ARGUMENT);
  const std::vector<float> none;
  CHECK(code_of([&] { Tensor(none, {1}); }) == INGOT_INVALID_ARGUMENT);
  CHECK(code_of([&] { Tensor(none, {3, 0}); }) == INGOT_OK);
  CHECK(code_of([&] { Tensor(ingot_dtype{77}, nullptr, {0}); }) == INGOT_INVALID_ARGUMENT);
}

TEST_CASE("the dtype of every C++ number and of every DLPack code agree") {
  const auto same = [](ingot_dtype expected, ingot_dtype dtype, ingot_dlpack_type a) {
    const ingot_dlpack_type b = dlpack_of(expected);
    CHECK((dtype == expected && a.code == b.code && a.bits == b.bits && a.lanes == b.lanes));
  };
#define SAME(number, type) same(number, dtype_of<type>::value, dtype_of<type>::dlpack())
  SAME(INGOT_BOOL, bool);
  SAME(INGOT_I8, int8_t);
  SAME(INGOT_I16, int16_t);
  SAME(INGOT_I32, int32_t);
  SAME(INGOT_I64, int64_t);
  SAME(INGOT_I64, long long);
  SAME(INGOT_U8, uint8_t);
  SAME(INGOT_U16, uint16_t);
  SAME(INGOT_U32, uint32_t);
  SAME(INGOT_U64, uint64_t);
  SAME(INGOT_U64, unsigned long long);
  SAME(INGOT_F32, float);
  SAME(INGOT_F64, double);
#undef SAME
}

TEST_CASE("the number of tensors may be known at run time only") {
  const Context context;
  for (const size_t count : {1, 3, 20}) {
    Graph g(context);
    const Dim n = g.symbol("N");
    std::vector<Value> parts;
    for (size_t i = 0; i < count; ++i) parts.push_back(g.input<double>("", {n}));
    g.output(g.op(INGOT_OP_CONCAT, parts));
    g.finish();
    const Executable e(context, g);
    std::vector<std::vector<double>> data;
    std::vector<double> expected;
    for (size_t i = 0; i < count; ++i) {
      data.push_back({double(i), double(i) + 0.5});
      expected.insert(expected.end(), data[i].begin(), data[i].end());
    }
    std::vector<Tensor> in;  // grows, so the tensors move
    for (auto& d : data) in.emplace_back(d);
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : in) pointers.push_back(&t);
    CHECK(e.output_shape(in, 0) == std::vector<int64_t>{int64_t(2 * count)});
    std::vector<double> out(2 * count), again(2 * count);
    e.run(in, {Tensor(out)});
    CHECK(out == expected);
    const std::array<Tensor, 1> outs{Tensor(again)};
    e.run(pointers, outs);
    CHECK(again == expected);
    CHECK(e.scratch_size(in) < 1u << 20);
  }
}

TEST_CASE("a copy of a tensor is its own, and a graph without inputs runs") {
  std::vector<float> data(6);
  Tensor a(data, {2, 3});
  Tensor b = a, c(data);
  c = b;
  const Tensor d = std::move(b);
  a = Tensor(data);
  CHECK((a.shape() == std::vector<int64_t>{6} && a.get()->ndim == 1 && a.get()->shape[0] == 6));
  for (const Tensor* t : {&std::as_const(c), &d})
    CHECK((t->get()->shape == t->shape().data() && t->get()->ndim == 2 && t->get()->shape[1] == 3));
  const Context context;
  Graph g(context);
  g.output(g.op(INGOT_OP_IOTA, {}, {{"shape", {6}}, {"dtype", INGOT_F32}}));
  g.finish();
  Executable(context, g).run({}, {&a});
  CHECK(data[5] == 5);
}

// Numbers and dims, or dims and values, cannot be taken for one another.
static_assert(!std::is_constructible_v<Extent, ingot_dim> && !std::is_convertible_v<ingot_value, Value>);
static_assert(!std::is_constructible_v<Extent, Value> && !std::is_constructible_v<Extent, double>);
// A view of a temporary would dangle.
static_assert(!std::is_constructible_v<Tensor, std::vector<float>&&, std::vector<int64_t>>);
static_assert(std::is_nothrow_move_constructible_v<Tensor>);
static_assert(std::is_base_of_v<std::exception, Error>);

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

TEST_CASE("parts of a graph, calls and preparation in the background") {
  const Context context;
  Graph g(context, "chain");
  const Dim n = g.symbol("N");
  const Value x = g.input<float>("x", {n});
  const Value twice = g.op(INGOT_OP_ADD, {x, x}), result = g.op(INGOT_OP_MUL, {twice, twice});
  g.output(result, "y");
  g.finish();
  const Executable e(context, g);
  const Event event = e.prepare_async();
  CHECK(event.wait());
  CHECK(event.poll() == INGOT_OK);

  const Executable later = e.subset({twice}, {result});
  std::vector<float> in{3, 4}, out(2);
  later.run({Tensor(in)}, {Tensor(out)});
  CHECK(out == std::vector<float>{9, 16});
  CHECK_THROWS_AS(e.subset({result}, {twice}), Error);

  Call call(e);
  CHECK_THROWS_AS(call.run(), Error);
  call.bind({Tensor(in)});
  CHECK(call.output_shape(0) == std::vector<int64_t>{2});
  call.set_output(0, out.data());
  call.run();
  CHECK(out == std::vector<float>{36, 64});
  Call other(call);
  std::vector<float> elsewhere(2), from{1, 2};
  other.set_input(0, from.data());
  other.set_output(0, elsewhere.data());
  other.run();
  CHECK(elsewhere == std::vector<float>{4, 16});
  call = other;
  call.run();
  CHECK(out == std::vector<float>{36, 64});
}

TEST_CASE("an extent as a value") {
  const Context context;
  Graph g(context, "rows");
  const Dim n = g.symbol("N");
  g.input<float>("x", {n});
  g.output(g.op(INGOT_OP_DIM, {}, {{"size", n}}), "rows");
  g.finish();
  std::vector<float> in(7);
  int64_t rows = 0;
  Executable(context, g).run({Tensor(in)}, {Tensor(&rows, std::vector<int64_t>{})});
  CHECK(rows == 7);
}

TEST_CASE("const memory is taken as an input and a constant, and refused as an output") {
  const Context context;
  Graph g(context);
  const std::array<const float, 2> constant{1, 2};
  g.output(g.op(INGOT_OP_ADD, {g.input<float>("x", {2}), g.constant(Tensor(constant))}));
  g.finish();
  const Executable e(context, g);
  const std::vector<float> in{1, 2};
  const float fixed[2] = {3, 4};
  std::vector<float> out(2);
  const std::vector<float>& seen = out;
  const Tensor views[] = {Tensor(seen), Tensor(fixed, {2}), Tensor(INGOT_F32, seen.data(), {2}),
                          Tensor(std::as_const(in), {2})};
  for (const Tensor& view : views) {
    CHECK(view.is_const());
    CHECK(code_of([&] { e.run({Tensor(in)}, {view}); }) == INGOT_INVALID_ARGUMENT);
    const Tensor copy = view;
    CHECK(code_of([&] { e.run({Tensor(in)}, {&copy}); }) == INGOT_INVALID_ARGUMENT);
    CHECK(out == std::vector<float>{0, 0});
  }
  Tensor assigned(out);
  assigned = views[0];
  CHECK(assigned.is_const());
  e.run({views[1]}, {Tensor(INGOT_F32, out.data(), {2})});
  CHECK(out == std::vector<float>{4, 6});
  Call call(e);
  CHECK(code_of([&] { call.bind({Tensor(in)}, {views[0]}); }) == INGOT_INVALID_ARGUMENT);
}
