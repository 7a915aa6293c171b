// The text form: what is printed, that it reads back, and what is inferred on the way.
#include <cmath>
#include <cstring>

#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

// Prints as itself.
void golden(const std::string& text) {
  const std::string printed = print(parse(text));
  CHECK(printed == text);
  CHECK(print(parse(printed)) == printed);
}

// `text` parses, and prints as `expected`, which prints as itself.
void reads_as(const std::string& text, const std::string& expected) {
  CHECK(print(parse(text)) == expected);
  golden(expected);
}

std::string graph(const std::string& head, const std::string& body) {
  return "ingot 1.0\ngraph @g" + head + " {\n" + body + "}\n";
}

// Two sealed graphs are one: same values, ops, attributes, constants and outputs, with the same ids.
void check_equal(const Graph& a, const Graph& b) {
  REQUIRE(a.value_count() == b.value_count());
  REQUIRE(a.op_count() == b.op_count());
  CHECK(a.name() == b.name());
  CHECK(a.flags() == b.flags());
  for (ValueId v = 0; v < a.value_count(); ++v) {
    CHECK(a.value(v).kind == b.value(v).kind);
    CHECK(a.value(v).dtype == b.value(v).dtype);
    CHECK(a.value_name(v) == b.value_name(v));
    REQUIRE(a.value(v).shape.size() == b.value(v).shape.size());
    for (size_t d = 0; d < a.value(v).shape.size(); ++d) {
      CHECK(a.dims().to_string(a.dims().canonical(a.value(v).shape[d])) ==
            b.dims().to_string(b.dims().canonical(b.value(v).shape[d])));
    }
    if (a.value(v).kind != ValueKind::constant) continue;
    const Constant &x = a.constant_data(v), &y = b.constant_data(v);
    REQUIRE(x.size == y.size);
    CHECK((x.size == 0 || std::memcmp(x.data, y.data, x.size) == 0));
  }
  for (uint32_t i = 0; i < a.op_count(); ++i) {
    CHECK(a.op(i).code == b.op(i).code);
    CHECK(a.op(i).operands == b.op(i).operands);
    CHECK(a.op(i).results == b.op(i).results);
  }
  REQUIRE(a.outputs().size() == b.outputs().size());
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    CHECK(a.outputs()[i].name == b.outputs()[i].name);
    CHECK(a.outputs()[i].value == b.outputs()[i].value);
  }
}

}  // namespace

TEST_CASE("a graph prints as it is documented") {
  golden(R"(ingot 1.0
graph @bias_gelu(%x: f32[B, 3072], %bias: f32[3072]) -> (f32[B, 3072]) {
  %0 = add %x, %bias
  %1 = gelu %0 {approximate = "tanh"}
  return %1
}
)");
}

TEST_CASE("names, named outputs, dim inputs, where and flags") {
  golden(R"(ingot 1.0
graph @"my graph"(%p: f32[N, M], %"a \"b\"\n\u{1}\u{7f}": i64[], %n: dim B, %"7": bool["odd name", 0]) -> (y: f32[N, M], "z z": bool["odd name", 0]) where M <= 4096, N >= 1, N % 8 == 0, (B+N) % 3 == 0, M == 2*B flags(relaxed_precision, relaxed_contractions) {
  return %p, %"7"
}
)");
}

TEST_CASE("comments, spaces and omitted things") {
  reads_as(
      "ingot 1.0 // the version\n\n\tgraph\r\n@g ( %x : f32 [ B , 4 ] )->( f32[B,4] ){// body\n"
      "%0=neg %x{}\n%1 = softmax %0 : f32[B, 4]\nreturn %1}// end",
      graph("(%x: f32[B, 4]) -> (f32[B, 4])", "  %0 = neg %x\n  %1 = softmax %0 {axis = 1}\n  return %1\n"));
}

TEST_CASE("literals are constants of the other operand's dtype") {
  const std::string text =
      graph("(%x: f32[N], %i: i32[N], %m: bool[N], %h: f16[])  -> (f32[N], i32[N], f32[N], bool[N], f16[], f32[3*N+2])",
            "%a = mul 2, %x %b = add %i, -7 %c = select %m, %a, -inf %d = or %m, false %e = fma %h, 0.1, -1e-3\n"
            "%f = pad %c, bits(0xffc00000) {low = [N], high = [2]}\n"
            "%g = select true, %f, nan %z = concat %f, %x\n"
            "return %a, %b, %c, %d, %e, %z");
  Graph g = parse(text);
  CHECK(g.value(g.find_value("a")).dtype == DType::f32);
  const Op& b = g.op(g.value(g.find_value("b")).source);
  CHECK(g.value(b.operands[1]).dtype == DType::i32);
  reads_as(
      text,
      graph("(%x: f32[N], %i: i32[N], %m: bool[N], %h: f16[]) -> (f32[N], i32[N], f32[N], bool[N], f16[], f32[3*N+2])",
            "  %a = mul 2.0, %x\n  %b = add %i, -7\n  %c = select %m, %a, -inf\n  %d = or %m, false\n"
            "  %e = fma %h, 0.1, -0.001\n  %f = pad %c, bits(0xffc00000) {low = [N], high = [2]}\n"
            "  %g = select true, %f, nan\n  %z = concat %f, %x\n  return %a, %b, %c, %d, %e, %z\n"));
}

TEST_CASE("a literal zero point of quantize is of the dtype that its attribute names") {
  reads_as(graph("(%x: f32[N], %i: i8[]) -> (u8[N], i8[N], i8[N])",
                 "%a = quantize %x, 0.5, 200 {dtype = \"u8\"} %b = quantize %x, 0.5, -128 %c = quantize %x, 2, %i\n"
                 "return %a, %b, %c"),
           graph("(%x: f32[N], %i: i8[]) -> (u8[N], i8[N], i8[N])",
                 "  %a = quantize %x, 0.5, 200 {dtype = \"u8\"}\n  %b = quantize %x, 0.5, -128\n"
                 "  %c = quantize %x, 2.0, %i\n  return %a, %b, %c\n"));
  CHECK_THROWS_WITH(parse(graph("(%x: f32[N]) -> (i8[N])", "%a = quantize %x, 0.5, 200 return %a")),
                    doctest::Contains("200' is out of the range of i8"));
}

TEST_CASE("constants: scalars, lists, hex floats, exact bits, and hex bytes beyond") {
  reads_as(
      graph("() -> (f32[2, 2], f64[], i8[0, 3], i8[2, 0], u64[], f16[3], bool[2])",
            "%a = constant [[1, 0x1.8p3], [-0.0, bits(0x7fc00001)]] : f32[2, 2]\n%b = constant 0.1 : f64[]\n"
            "%c = constant [] : i8[0, 3]\n%d = constant [[], []] : i8[2, 0]\n%e = constant 18446744073709551615 : u64\n"
            "%f = constant [0.1, inf, nan] : f16[3]\n%g = constant [true, false] : bool[2]\n"
            "return %a, %b, %c, %d, %e, %f, %g"),
      graph("() -> (f32[2, 2], f64[], i8[0, 3], i8[2, 0], u64[], f16[3], bool[2])",
            "  %a = constant [[1.0, 12.0], [-0.0, bits(0x7fc00001)]] : f32[2, 2]\n  %b = constant 0.1 : f64\n"
            "  %c = constant hex(\"\") : i8[0, 3]\n  %d = constant hex(\"\") : i8[2, 0]\n  %e = constant "
            "18446744073709551615 : u64\n"
            "  %f = constant [0.1, inf, nan] : f16[3]\n  %g = constant [true, false] : bool[2]\n"
            "  return %a, %b, %c, %d, %e, %f, %g\n"));
  golden(
      graph("() -> (u8[7, 7])",
            "  %0 = constant hex(\n"
            "    \"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f\"\n"
            "    \"ff\") : u8[7, 7]\n  return %0\n"));
}

TEST_CASE("constants stay apart from literals where reading back would differ") {
  Graph g("g");
  const ValueId early = g.scalar(DType::f32, 1.0);  // before an input, but in the text inputs stand first
  const ValueId x = g.input("x", DType::f32, {g.dims().symbol("N")});
  const ValueId y = apply(g, "add", {x, early});
  const ValueId twice = g.scalar(DType::f32, 2.0);
  const ValueId z = apply(g, "mul", {y, twice});
  const ValueId w = apply(g, "mul", {z, twice});
  const ValueId low = g.scalar(DType::f32, 0.0), high = g.scalar(DType::f32, 6.0);
  const ValueId v = apply(g, "clamp", {w, low, high});
  const ValueId swapped = apply(g, "sub", {g.scalar(DType::f32, 3.0), v});
  const ValueId both = apply(g, "add", {g.scalar(DType::f32, 3.0), g.scalar(DType::f32, 4.0)});
  const ValueId named = g.scalar(DType::f32, 9.0);
  g.set_name(named, "nine");
  const ValueId last = apply(g, "add", {apply(g, "add", {swapped, both}), named});
  g.output("", last);
  g.seal();
  CHECK(print(g) ==
        graph("(%x: f32[N]) -> (f32[N])",
              "  %0 = add %x, 1.0\n  %1 = constant 2.0 : f32\n  %2 = mul %0, %1\n"
              "  %3 = mul %2, %1\n  %4 = clamp %3, 0.0, 6.0\n  %5 = sub 3.0, %4\n  %6 = constant 3.0 : f32\n"
              "  %7 = constant 4.0 : f32\n  %8 = add %6, %7\n  %nine = constant 9.0 : f32\n  %9 = add %5, %8\n"
              "  %10 = add %9, %nine\n  return %10\n"));
  golden(print(g));
}

TEST_CASE("every op prints and reads back to an equal graph") {
  Graph g("all ops");
  DimTable& t = g.dims();
  const DimId b = t.symbol("B"), n = t.symbol("N", 4, 1000), six = t.constant(6);
  const DimId eight[] = {n, t.constant(8)};
  t.assume(DimFact::divisible, eight);
  const ValueId x = g.input("x", DType::f32, {b, n, six}), y = g.input("y", DType::f32, {n, six});
  const ValueId m = g.input("", DType::boolean, {b, n, t.constant(1)}), i = g.input("i", DType::i16, {six});
  const ValueId power = g.input("power", DType::i32, {});
  const ValueId s = g.input("s", DType::f32, {}), w = g.input("w", DType::f32, {six});
  const ValueId one = g.input("one", DType::f32, {t.constant(1), b, t.constant(1)});
  const ValueId channels = g.input("channels", DType::f32, {n}),
                angles = g.input("angles", DType::f32, {n, t.constant(3)});
  const ValueId bytes = g.input("bytes", DType::u8, {b, six}), zeros = g.input("zeros", DType::u8, {six});
  const ValueId zero_u8 = g.input("zero_u8", DType::u8, {}), zero_i8 = g.input("zero_i8", DType::i8, {});
  const ValueId places = g.input("places", DType::i64, {b, n, six}), labels = g.input("labels", DType::i8, {b, n});
  const ValueId pairs = g.input("pairs", DType::u16, {n, t.constant(2)});
  const ValueId bytes_of_n = g.input("bytes_of_n", DType::u8, {b, six, t.constant(1)});
  const ValueId seed = g.input("seed", DType::u64, {});
  for (const OpInfo& op : op_table()) {
    const ValueId of_type = op.types == TypeSet::boo ? m : op.types == TypeSet::bit || op.types == TypeSet::itg ? i : x;
    std::vector<ValueId> operands(op.min_operands, of_type);
    std::vector<std::vector<NamedAttr>> variants{{}};
    std::vector<std::pair<std::vector<ValueId>, std::vector<NamedAttr>>> more;
    switch (op.rule) {
      case Rule::nary: operands.back() = of_type == i ? i : y; break;
      case Rule::compare: operands[1] = y; break;
      case Rule::select: operands = {m, x, y}; break;
      case Rule::cast:
        variants = {{{"to", Attr::of_dtype(DType::bf16)}}, {{"to", Attr::of_dtype(DType::f8e4m3)}}};
        break;
      case Rule::iota: variants = {{dims("shape", {b, t.add(n, six)}), integer("axis", 1)}}; break;
      case Rule::reshape:
        variants = {{ints("shape", {-1, 4})}, {dims("shape", {t.constant(2), t.constant(-1), b})}};
        break;
      case Rule::transpose: variants = {{ints("perm", {2, 0, 1})}}; break;
      case Rule::broadcast: variants = {{dims("shape", {t.constant(3), b, n, six})}}; break;
      case Rule::slice:
        variants = {{ints("starts", {1, -3, 0}), ints("limits", {INT64_MAX, -1, 2})},
                    {ints("starts", {-1, -1, 5}), ints("limits", {INT64_MIN, 2, -7}), ints("steps", {-1, -2, -1})}};
        break;
      case Rule::pad:
        operands = {x, s}, variants = {{dims("low", {n, t.constant(-2), t.constant(0)}), ints("high", {1, 0, -1})}};
        for (const char* mode : {"edge", "reflect", "wrap"})
          more.push_back({{x}, {ints("low", {0, 2, 1}), ints("high", {0, 3, 0}), {"mode", Attr::of_string(mode)}}});
        break;
      case Rule::concat: operands = {x, x, x}, variants = {{}, {integer("axis", -1)}}; break;
      case Rule::dim: variants = {{{"size", {.kind = AttrKind::dim, .i = t.add(b, six)}}}, {integer("size", 7)}}; break;
      case Rule::reverse: variants = {{ints("axes", {1})}, {ints("axes", {})}}; break;
      case Rule::reduce:
        variants = {{}, {ints("axes", {-1, 0}), {"keepdims", Attr::of_bool(true)}}};
        if (op.attrs.size() > 2) variants.push_back({integer("ddof", 1)});
        break;
      case Rule::matmul: operands = {x, w}; break;
      case Rule::dot_general:
        variants = {{},
                    {ints("lhs_batch", {0}), ints("rhs_batch", {0})},
                    {ints("lhs_batch", {-3}), ints("rhs_batch", {0}), ints("lhs_contract", {2, 1}),
                     ints("rhs_contract", {2, -2})}};
        break;
      case Rule::attention:
        operands = {x, x, y};
        variants = {{}, {{"causal", Attr::of_bool(true)}, {"scale", Attr::of_float(0.5)}}};
        more = {{{x, x, x, x}, {}}};
        break;
      case Rule::softmax: variants = {{}, {integer("axis", 0)}}; break;
      case Rule::norm:
        operands = op.max_operands == 3 ? std::vector{x, w, w} : std::vector{x, w};
        variants = {{}, {{"epsilon", Attr::of_float(1.0 / 3)}}};
        break;
      case Rule::test: break;
      case Rule::ldexp: operands[1] = power; break;
      case Rule::bitcast: variants = {{{"to", Attr::of_dtype(DType::u32)}}}; break;
      case Rule::frexp: break;
      case Rule::squeeze: operands = {one}, variants = {{ints("axes", {0, -1})}, {ints("axes", {})}}; break;
      case Rule::expand_dims: variants = {{ints("axes", {0, -2})}, {ints("axes", {})}}; break;
      case Rule::stack: operands = {x, x}, variants = {{}, {integer("axis", -1)}}; break;
      case Rule::split:
        variants = {{integer("axis", 1), integer("parts", 8)},
                    {integer("axis", -1), ints("sizes", {1, 0, 5})},
                    {dims("sizes", {b})}};
        break;
      case Rule::roll: variants = {{dims("shifts", {b, t.constant(-7)}), ints("axes", {-1, 0})}}; break;
      case Rule::tile: variants = {{dims("repeats", {t.constant(2), n, t.constant(1)})}}; break;
      case Rule::repeat:
        variants = {{integer("repeats", 3)}, {{"repeats", {.kind = AttrKind::dim, .i = b}}, integer("axis", 1)}};
        break;
      case Rule::diagonal: variants = {{}, {integer("offset", -2), integer("axis1", -1), integer("axis2", 0)}}; break;
      case Rule::tri: variants = {{}, {integer("diagonal", -1)}}; break;
      case Rule::eye:
        variants = {{dims("shape", {b, n})},
                    {dims("shape", {b, n, six}), integer("diagonal", 2), {"dtype", Attr::of_dtype(DType::i8)}}};
        break;
      case Rule::count: break;
      case Rule::argument: variants = {{}, {integer("axis", 2), {"keepdims", Attr::of_bool(true)}}}; break;
      case Rule::channel_norm:
        variants = {{{"epsilon", Attr::of_float(0.1)}}};
        if (op.name == "group_norm") variants[0].push_back(integer("groups", 4));
        more = {{{x, channels, channels}, variants[0]}};
        break;
      case Rule::batch_norm:
        operands = std::vector<ValueId>(op.min_operands, w), operands[0] = x;
        variants = {{integer("axis", -1)}, {integer("axis", 2), integer("epsilon", 1)}};
        break;
      case Rule::quantize:
        operands = {x, w, zeros};
        variants = {{{"dtype", Attr::of_dtype(DType::u8)}}};
        more = {{{x, s, zero_i8}, {integer("axis", 1)}}};
        break;
      case Rule::dequantize:
        operands = {bytes, w, zero_u8};
        variants = {{}, {integer("axis", 1)}};
        break;
      case Rule::rope: operands = {x, angles, angles}, variants = {{}, {{"interleaved", Attr::of_bool(true)}}}; break;
      case Rule::cross_entropy:
        operands = {x, labels};
        variants = {{}, {integer("ignore_index", 5), {"reduction", Attr::of_string("none")}}};
        break;
      case Rule::gather: operands = {x, bytes}, variants = {{}, {integer("axis", -1)}}; break;
      case Rule::take_along: operands = {x, places}; break;
      case Rule::gather_nd: operands = {x, pairs}, more = {{{x, bytes_of_n}, {integer("batch_dims", 1)}}}; break;
      case Rule::one_hot:
        variants = {{integer("depth", 3)},
                    {{"depth", {.kind = AttrKind::dim, .i = n}},
                     integer("axis", 0),
                     {"dtype", Attr::of_dtype(DType::boolean)}}};
        break;
      case Rule::scatter: operands = {x, places, x}, variants = {{}, {integer("axis", 1)}}; break;
      case Rule::searchsorted: operands = {w, x}, variants = {{}, {{"side", Attr::of_string("right")}}}; break;
      case Rule::dropout:
        operands = {x, seed}, variants = {{{"p", Attr::of_float(0.25)}, integer("stream", -1)}};
        break;
      case Rule::unpack_bits:
        operands = {bytes}, variants = {{}, {integer("count", 41), {"bitorder", Attr::of_string("big")}}};
        break;
      case Rule::scan:
        variants = {{}, {integer("axis", 0), {"exclusive", Attr::of_bool(true)}, {"reverse", Attr::of_bool(true)}}};
        break;
      case Rule::random: operands = {seed}, variants = {{dims("shape", {b, six}), integer("stream", 3)}}; break;
      case Rule::bernoulli: operands = {seed, w}, variants = {{dims("shape", {b, six})}}; break;
      case Rule::unary:
        if (op.name == "gelu") variants.push_back({{"approximate", Attr::of_string("tanh")}});
        if (op.name == "elu") variants.push_back({{"alpha", Attr::of_float(1.0 / 3)}});
        break;
    }
    for (const auto& attrs : variants) more.emplace_back(operands, attrs);
    for (const auto& [over, attrs] : more) g.output("", apply(g, op.name, over, attrs));
  }
  g.seal();
  const std::string text = print(g);
  const Graph back = parse(text);
  CHECK(print(back) == text);
  check_equal(g, back);
}

TEST_CASE("written result types are checked") {
  const auto with = [](const std::string& type) {
    return fault([&] {
      parse(graph("(%x: f32[N, 2]) -> (f32[2*N])", "%0 = reshape %x {shape = [-1]} : " + type + "\nreturn %0"));
    });
  };
  CHECK(with("f32[2*N]") == "");
  CHECK(with("f32[N+N]") == "");
  CHECK(with("f32[N]") == "3:34: the type here is f32[N], but of %0: f32[2*N]");
  CHECK(with("f64[2*N]") == "3:34: the type here is f64[2*N], but of %0: f32[2*N]");
  CHECK(fault([&] { parse(graph("(%x: f32[N]) -> (f32[M], f32[N])", "return %x, %x")); }) ==
        "2:26: the type here is f32[M], but of %x: f32[N]");
}

TEST_CASE("dim expressions of every kind") {
  const std::string dims =
      "[2*B+1, B-1, -B+3, (A+B)*(A-B), A/4, (A+1)/B, A%B, ceil_div(A, 8), ceil_div(A, B), floor_div(A, 3), mod(A, 5), "
      "min(A, B, 3), max(A, 1), bcast(A, B), ((A))]";
  const Graph g =
      parse(graph("(%a: dim A, %b: dim B) -> (i64" + dims + ")", "%0 = iota {shape = " + dims + "} return %0"));
  const DimTable& t = g.dims();
  const std::vector<DimId>& shape = g.value(g.outputs()[0].value).shape;
  const int64_t expected[] = {7, 2, 0, 91, 2, 3, 1, 2, 4, 3, 0, 3, 10, 0, 10};  // at A = 10, B = 3
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == 13) continue;  // 10 and 3 do not broadcast
    CAPTURE(i);
    CAPTURE(t.to_string(shape[i]));
    // bcast(A, B) is in the table, so the others are evaluated in a graph of their own.
    const Graph one = parse(graph("(%a: dim A, %b: dim B) -> (i64[" + t.to_string(shape[i]) + "])",
                                  "%0 = iota {shape = [" + t.to_string(shape[i]) + "]} return %0"));
    CHECK(value_of(one.dims(), one.value(one.outputs()[0].value).shape[0], {10, 3}) == expected[i]);
  }
}

TEST_CASE("where: bounds before facts, and contradictions with their place") {
  const auto head = [](const std::string& where) {
    return fault([&] { parse(graph("(%x: f32[N, B]) -> (f32[N, B]) where " + where, "return %x")); });
  };
  CHECK(head("N >= 1, N <= 10, N % 2 == 0, B == N/2") == "");
  CHECK(head("B == 3, B == 4") == "2:54: B (3) == 4 contradicts what is known of them");
  CHECK(head("B == 0, B >= 1") == "2:46: B == 0 contradicts what is known of them");
  CHECK(head("N >= 5, N <= 4") == "2:54: symbol N: bounds [0, 4] contradict the known [5, 9223372036854775807]");
  CHECK(head("N >= B") == "2:51: a bound is a constant, as in N >= 1");
  CHECK(head("N > 1") == "2:48: expected '==', or '>=' or '<=' after a symbol, found '>'");
  CHECK(head("N >= -1") == "2:46: symbol N: lower bound -1 is negative");
  CHECK(head("N + 1 >= 2") == "2:52: a bound has its symbol on the left and a constant on the right, as in N >= 1");
  CHECK(head("8 <= N") == "2:48: a bound has its symbol on the left and a constant on the right, as in N >= 1");
  CHECK(head("7 % 2 == 0") == "2:46: 7 cannot be divisible by 2");
}

TEST_CASE("facts that ops need are found again, stated ones are printed") {
  const std::string text = graph("(%x: f32[N], %y: f32[M]) -> (f32[N/4, 4], f32[])",
                                 "  %0 = reshape %x {shape = [N/4, 4]}\n  %1 = matmul %x, %y\n  return %0, %1\n");
  golden(text);
  const Graph g = parse(text);
  CHECK(g.dims().known_equal(g.dims().symbols()[0], g.dims().symbols()[1]));
  CHECK(fault([&] { value_of(g.dims(), 0, {6, 6}); }) ==
        "reshape: N = 6, not divisible by 4 (the elements of %x: f32[N] and of attribute shape)");
  CHECK(print(g.skeleton()).find(" where N % 4 == 0, N == M {") != std::string::npos);
}

TEST_CASE("facts stated after ops are printed as a text states them") {
  Graph g("g");
  DimTable& t = g.dims();
  const DimId n = t.symbol("N"), k = t.symbol("K");
  const ValueId x = g.input("x", DType::f32, {n}), y = g.input("y", DType::f32, {k});
  const ValueId r = apply(g, "reshape", {x}, {ints("shape", {-1, 8})});
  g.output("", apply(g, "add", {r, apply(g, "reshape", {y}, {dims("shape", {k, t.constant(1)})})}));
  g.set_name(r, "r");
  const DimId equal[] = {n, t.mul(k, t.constant(8))};
  t.assume(DimFact::equal, equal);
  t.symbol("K", 2);
  g.seal();
  CHECK(
      print(g) ==
      graph(
          "(%x: f32[N], %y: f32[K]) -> (f32[K, 8]) where K >= 2, N == 8*K",
          "  %r = reshape %x {shape = [K, 8]}\n  %0 = reshape %y {shape = [K, 1]}\n  %1 = add %r, %0\n  return %1\n"));
  golden(print(g));
}

TEST_CASE("an op of several results: each is named, and their number is the op's") {
  const std::string head = "(%x: f32[N, 6]) -> (f32[N, 2], f32[N, 2])";
  const std::string text = graph(head, "  %a, %0, %1 = split %x {axis = 1, parts = 3}\n  return %a, %1\n");
  golden(text);
  const Graph g = parse(text);
  CHECK(g.op(0).results.size() == 3);
  CHECK(g.outputs()[1].value == g.op(0).results[2]);
  CHECK(g.value(g.outputs()[1].value).result == 2);
  golden(graph("(%x: f32[M+N, 6], %y: f32[N], %z: f32[M]) -> (f32[N, 6], f32[M, 6])",
               "  %0, %1 = split %x {sizes = [N, M]}\n  return %0, %1\n"));
  const auto wrong = [&](const std::string& statement) {
    return fault([&] { parse(graph(head, statement + "\nreturn %a, %a")); });
  };
  CHECK(wrong("%a = split %x {axis = 1, parts = 3}") == "3:2: split has 3 results, 1 is named");
  CHECK(wrong("%a, %b = split %x {axis = 1, parts = 3}") == "3:2: split has 3 results, 2 are named");
  CHECK(wrong("%a, %b, %c, %d = split %x {axis = 1, parts = 3}") == "3:2: split has 3 results, 4 are named");
  CHECK(wrong("%a, %a, %c = split %x {axis = 1, parts = 3}") == "3:6: the name 'a' is taken by another value");
  CHECK(wrong("%a, %b, %c = split %x {axis = 1, parts = 3} : f32[N, 2], f32[N, 2]") != "");
  CHECK(wrong("%a, %b, %c = split %x {axis = 1, parts = 3} : f32[N, 2], f32[N, 2], f32[N, 2]") == "");
  CHECK(wrong("%a, %b, %c = split %x {axis = 1, parts = 3} : f32[N, 2], f32[N, 3], f32[N, 2]")
            .find("the type here is f32[N, 3]") != std::string::npos);
}
