// The op table: numbers, names, attribute lists and what is derived from them.
#include <algorithm>
#include <set>

#include "ir/op_json.h"
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

TEST_CASE("op numbers and names are unique, ascending, and found both ways") {
  std::set<std::string_view> names;
  uint32_t last = 0;
  for (const OpInfo& op : op_table()) {
    CHECK(static_cast<uint32_t>(op.code) > last);
    last = static_cast<uint32_t>(op.code);
    CHECK(names.insert(op.name).second);
    CHECK(op_info(op.code) == &op);
    CHECK(find_op(op.name) == &op);
    CHECK(op.min_operands <= op.max_operands);
    CHECK_FALSE(op.doc.empty());
    CHECK(last < 0x10000);  // those from there on are hosts'
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    CHECK(letter(op.name.front()));
    CHECK(std::ranges::all_of(op.name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); }));
  }
  CHECK(op_info(OpCode::invalid) == nullptr);
  CHECK(op_info(static_cast<OpCode>(0x10000)) == nullptr);
  CHECK(find_op("") == nullptr);
  CHECK(find_op("constant") == nullptr);  // the text form's own word
}

TEST_CASE("op numbers are those released, for ever") {
  const std::pair<const char*, uint32_t> released[] = {
      {"add", 1},
      {"sub", 2},
      {"mul", 3},
      {"div", 4},
      {"neg", 5},
      {"abs", 6},
      {"min", 7},
      {"max", 8},
      {"sqrt", 9},
      {"floor", 10},
      {"ceil", 11},
      {"round", 12},
      {"fma", 13},
      {"rsqrt", 20},
      {"exp", 21},
      {"log", 22},
      {"tanh", 23},
      {"erf", 24},
      {"sigmoid", 25},
      {"pow", 26},
      {"gelu", 27},
      {"silu", 28},
      {"relu", 29},
      {"eq", 40},
      {"ne", 41},
      {"lt", 42},
      {"le", 43},
      {"gt", 44},
      {"ge", 45},
      {"and", 46},
      {"or", 47},
      {"xor", 48},
      {"not", 49},
      {"select", 50},
      {"clamp", 51},
      {"cast", 52},
      {"iota", 60},
      {"reshape", 61},
      {"transpose", 62},
      {"broadcast", 63},
      {"slice", 64},
      {"pad", 65},
      {"concat", 66},
      {"reverse", 67},
      {"dim", 68},
      {"reduce_sum", 80},
      {"reduce_prod", 81},
      {"reduce_max", 82},
      {"reduce_min", 83},
      {"reduce_mean", 84},
      {"reduce_any", 85},
      {"reduce_all", 86},
      {"matmul", 100},
      {"dot_general", 101},
      {"softmax", 110},
      {"layer_norm", 111},
      {"rms_norm", 112},
      {"exp2", 200},
      {"expm1", 201},
      {"log2", 202},
      {"log1p", 203},
      {"exp10", 204},
      {"log10", 205},
      {"sin", 206},
      {"cos", 207},
      {"tan", 208},
      {"sinpi", 209},
      {"cospi", 210},
      {"asin", 211},
      {"acos", 212},
      {"atan", 213},
      {"atan2", 214},
      {"sinh", 215},
      {"cosh", 216},
      {"asinh", 217},
      {"acosh", 218},
      {"atanh", 219},
      {"cbrt", 220},
      {"hypot", 221},
      {"erfc", 222},
      {"softplus", 223},
      {"log_sigmoid", 224},
      {"elu", 225},
      {"selu", 226},
      {"mish", 227},
      {"logaddexp", 228},
      {"erfinv", 229},
      {"lgamma", 230},
      {"digamma", 231},
      {"frexp", 262},
      {"squeeze", 300},
      {"expand_dims", 301},
      {"stack", 302},
      {"split", 303},
      {"roll", 304},
      {"tile", 305},
      {"repeat", 306},
      {"diagonal", 307},
      {"tril", 308},
      {"triu", 309},
      {"eye", 310},
      {"reduce_var", 330},
      {"reduce_std", 331},
      {"reduce_logsumexp", 332},
      {"reduce_l1", 333},
      {"reduce_l2", 334},
      {"count_nonzero", 335},
      {"argmax", 336},
      {"argmin", 337},
      {"log_softmax", 350},
      {"group_norm", 351},
      {"instance_norm", 352},
      {"batch_norm", 353},
      {"quantize", 354},
      {"dequantize", 355},
      {"rope", 356},
      {"dropout", 358},
      {"unpack_bits", 359},
      {"batch_norm_training", 360},
      {"attention", 361},
      {"cumsum", 430},
      {"cumprod", 431},
      {"cummax", 432},
      {"cummin", 433},
      {"random_bits", 440},
      {"random_uniform", 441},
      {"random_normal", 442},
      {"random_bernoulli", 443},
  };
  for (const auto& [name, number] : released) {
    const OpInfo* op = find_op(name);
    REQUIRE_MESSAGE(op != nullptr, std::string(name));
    CHECK_MESSAGE(static_cast<uint32_t>(op->code) == number, std::string(name));
  }
}

TEST_CASE("attribute lists: unique names, and a default just where an attribute is not required") {
  for (const OpInfo& op : op_table()) {
    std::set<std::string_view> names;
    for (const AttrSpec& a : op.attrs) {
      CHECK(names.insert(a.name).second);
      CHECK(a.required == a.fallback.empty());
      CHECK_FALSE(a.doc.empty());
      CHECK(&op.attrs[attr_index(op, a.name)] == &a);
    }
    CHECK_THROWS_AS(attr_index(op, "no_such"), Error);
  }
}

TEST_CASE("dtype sets") {
  const DType all[] = {DType::boolean, DType::i8,     DType::i16,    DType::i32, DType::i64,  DType::u8,
                       DType::u16,     DType::u32,    DType::u64,    DType::f16, DType::bf16, DType::f32,
                       DType::f64,     DType::f8e4m3, DType::f8e5m2, DType::c64};
  //                       b  i8-i64      u8-u64      f16-f64     fp8   c64
  const char* const rows[] = {"0 1111 1111 1111 00 0", "0 0000 0000 1111 00 0", "1 1111 1111 1111 11 0",
                              "1 0000 0000 0000 00 0", "1 1111 1111 0000 00 0", "0 1111 0000 1111 00 0",
                              "0 1000 1000 0000 00 0", "0 0001 0001 0000 00 0", "0 0000 1000 0000 00 0"};
  const TypeSet sets[] = {TypeSet::num, TypeSet::flt, TypeSet::any, TypeSet::boo, TypeSet::bit,
                          TypeSet::sgn, TypeSet::qnt, TypeSet::key, TypeSet::byt};
  for (size_t s = 0; s < std::size(sets); ++s) {
    std::string got;
    for (const DType t : all) got += in_set(sets[s], t) ? '1' : '0';
    std::string expected(rows[s]);
    std::erase(expected, ' ');
    CHECK(got == expected);
  }
}

TEST_CASE("dtypes: names, sizes, and numbers that are none") {
  for (int i = 0; i < 256; ++i) {
    const auto t = static_cast<DType>(i);
    CHECK((item_size(t) == 0) == (name(t) == "invalid"));
    if (item_size(t) != 0) CHECK(parse_dtype(name(t)) == t);
  }
  CHECK(parse_dtype("float32") == DType::invalid);
  CHECK(item_size(DType::bf16) == 2);
  for (const char* known : {"f32", "bool", "f128", "quux", ""}) CHECK(dtype_hint(known).empty());
  CHECK(dtype_hint("float32") == ", did you mean f32?");
  CHECK(dtype_hint("uint8") == ", did you mean u8?");
}

TEST_CASE("the op table as JSON has a line per op and balanced brackets") {
  const std::string json = op_table_json();
  CHECK(
      json.starts_with("{\"schema\": 1, \"ops\": [\n{\"name\": \"add\", \"number\": 1, \"class\": \"elementwise\", "
                       "\"operands\": [2, 2], \"dtypes\": [\"i8\", "));
  CHECK(static_cast<size_t>(std::ranges::count(json, '\n')) == op_table().size() + 2);
  CHECK(std::ranges::count(json, '{') == std::ranges::count(json, '}'));
  CHECK(std::ranges::count(json, '[') == std::ranges::count(json, ']'));
  CHECK(json.find(
            "{\"name\": \"approximate\", \"kind\": \"string\", \"required\": false, \"default\": \"\\\"none\\\"\"") !=
        std::string::npos);
}

TEST_CASE("the op table as Markdown names every op and attribute") {
  const std::string page = op_table_markdown();
  for (const OpInfo& op : op_table()) {
    CHECK(page.find(cat("| `", op.name, "` | ", static_cast<uint32_t>(op.code), " |")) != std::string::npos);
    for (const AttrSpec& a : op.attrs) CHECK(page.find(cat("`", a.name, "`")) != std::string::npos);
  }
}

TEST_CASE("every op has an example that parses and uses it, and the op reference shows it") {
  const std::string page = op_table_markdown(), data = op_table_json();
  for (const OpInfo& op : op_table()) {
    const std::string start = cat("| `", op.name, "` | ");
    const size_t row = page.find(start);
    REQUIRE(row != std::string::npos);
    const size_t at = page.find(cat("`", op.name, " "), row + start.size());
    const std::string example = page.substr(at + 1, page.find('`', at + 1) - at - 1);
    CAPTURE(example);
    CHECK(example.starts_with(op.name));
    // A result of any dtype and shape is brought to one that the graph's head can name.
    const bool two = op.rule == Rule::split || op.code == OpCode::op_frexp;
    const char* names = two                                         ? "  %r, %r2 = "
                        : op.code == OpCode::op_batch_norm_training ? "  %r, %r2, %r3 = "
                                                                    : "  %r = ";
    const Graph g = parse(cat("ingot 1.0\ngraph @example(", example_inputs(), ") -> (bool[]) {\n", names, example,
                              "\n  %same = eq %r, %r\n  %all = reduce_all %same\n  return %all\n}\n"));
    CHECK(g.op(0).code == op.code);
  }
  CHECK(data.find("\"example\": \"cast %x {to = \\\"i32\\\"}\"") != std::string::npos);
}
