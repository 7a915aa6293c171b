// Every composite op against its formula in docs/numerics.md written out as ops: the same bits. In f16 and bf16 the
// written-out form has the casts: all in f32 inside, one rounding at each result.
#include <doctest/doctest.h>

#include <set>
#include <sstream>

#include "base/error.h"
#include "check.h"
#include "ir/text.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::DType;
using ir::OpClass;

namespace {

// T is the dtype of the case, W the one that it computes in.
struct Case {
  const char* op;       // a statement without its left side
  const char* inputs;   // "name dtype[dims]", separated by semicolons
  const char* results;  // "dtype[dims]", likewise
  const char* spelled;  // statements that end with %r (%r, %r1, ...)
};

const Case cases[] = {
    {"softmax %x {axis = 1}", "x T[M, N]", "T[M, N]", R"(
  %m = reduce_max %x {axes = [1], keepdims = true}
  %s = sub %x, %m
  %e = exp %s
  %t = reduce_sum %e {axes = [1], keepdims = true}
  %r = div %e, %t)"},
    {"log_softmax %x {axis = 0}", "x T[M, N]", "T[M, N]", R"(
  %m = reduce_max %x {axes = [0], keepdims = true}
  %s = sub %x, %m
  %e = exp %s
  %t = reduce_sum %e {axes = [0], keepdims = true}
  %l = log %t
  %r = sub %s, %l)"},
    {"layer_norm %x, %w, %b", "x T[M, N]; w T[N]; b T[N]", "T[M, N]", R"(
  %size = dim {size = N}
  %n = cast %size {to = "W"}
  %t = reduce_sum %x {axes = [1], keepdims = true}
  %mean = div %t, %n
  %c = sub %x, %mean
  %q = mul %c, %c
  %u = reduce_sum %q {axes = [1], keepdims = true}
  %var = div %u, %n
  %v = add %var, 1e-05
  %i = rsqrt %v
  %y = mul %c, %i
  %z = mul %y, %w
  %r = add %z, %b)"},
    {"rms_norm %x, %w {epsilon = 0.25}", "x T[M, N]; w T[N]", "T[M, N]", R"(
  %q = mul %x, %x
  %mean = reduce_mean %q {axes = [1], keepdims = true}
  %v = add %mean, 0.25
  %i = rsqrt %v
  %y = mul %x, %i
  %r = mul %y, %w)"},
    {"group_norm %x, %w, %b {groups = 2}", "x T[M, 4, N]; w T[4]; b T[4]", "T[M, 4, N]", R"(
  %g = reshape %x {shape = [M, 2, 2, N]}
  %mean = reduce_mean %g {axes = [2, 3], keepdims = true}
  %c = sub %g, %mean
  %q = mul %c, %c
  %var = reduce_mean %q {axes = [2, 3], keepdims = true}
  %v = add %var, 1e-05
  %i = rsqrt %v
  %y = mul %c, %i
  %whole = reshape %y {shape = [M, 4, N]}
  %w1 = reshape %w {shape = [4, 1]}
  %b1 = reshape %b {shape = [4, 1]}
  %z = mul %whole, %w1
  %r = add %z, %b1)"},
    {"instance_norm %x, %w", "x T[M, 4, N]; w T[4]", "T[M, 4, N]", R"(
  %mean = reduce_mean %x {axes = [2], keepdims = true}
  %c = sub %x, %mean
  %q = mul %c, %c
  %var = reduce_mean %q {axes = [2], keepdims = true}
  %v = add %var, 1e-05
  %i = rsqrt %v
  %y = mul %c, %i
  %w1 = reshape %w {shape = [4, 1]}
  %r = mul %y, %w1)"},
    {"batch_norm %x, %mean, %var, %w, %b", "x T[M, N]; mean T[N]; var T[N]; w T[N]; b T[N]", "T[M, N]", R"(
  %c = sub %x, %mean
  %v = add %var, 1e-05
  %i = rsqrt %v
  %y = mul %c, %i
  %z = mul %y, %w
  %r = add %z, %b)"},
    {"batch_norm_training %x, %w, %b", "x T[M, N]; w T[N]; b T[N]", "T[M, N]; T[N]; T[N]", R"(
  %r1 = reduce_mean %x {axes = [0]}
  %r2 = reduce_var %x {axes = [0]}
  %r = batch_norm %x, %r1, %r2, %w, %b)"},
    {"quantize %x, %s, %z {dtype = \"i8\"}", "x T[M, N]; s T[]; z i8[]", "i8[M, N]", R"(
  %q = div %x, %s
  %n = isnan %q
  %w = round %q
  %zero = cast %z {to = "W"}
  %m = add %w, %zero
  %k = clamp %m, -128.0, 127.0
  %i = cast %k {to = "i8"}
  %r = select %n, %z, %i)"},
    {"dequantize %q, %s, %z {axis = 1}", "q u8[M, N]; s T[N]; z u8[N]", "T[M, N]", R"(
  %a = cast %q {to = "i16"}
  %b = cast %z {to = "i16"}
  %d = sub %a, %b
  %w = cast %d {to = "W"}
  %r = mul %w, %s)"},
    {"rope %x, %c, %s", "x T[M, 2*N]; c T[M, N]; s T[N]", "T[M, 2*N]", R"(
  %a, %b = split %x {axis = 1, parts = 2}
  %ac = mul %a, %c
  %bs = mul %b, %s
  %bc = mul %b, %c
  %as = mul %a, %s
  %first = sub %ac, %bs
  %second = add %bc, %as
  %r = concat %first, %second {axis = 1})"},
    {"rope %x, %c, %s {interleaved = true}", "x T[M, 2*N]; c T[M, N]; s T[N]", "T[M, 2*N]", R"(
  %p = reshape %x {shape = [M, N, 2]}
  %a0, %b0 = split %p {axis = 2, parts = 2}
  %a = squeeze %a0 {axes = [2]}
  %b = squeeze %b0 {axes = [2]}
  %ac = mul %a, %c
  %bs = mul %b, %s
  %bc = mul %b, %c
  %as = mul %a, %s
  %first = sub %ac, %bs
  %second = add %bc, %as
  %t = stack %first, %second {axis = 2}
  %r = reshape %t {shape = [M, 2*N]})"},
    {"cross_entropy %x, %l", "x T[M, N]; l i64[M]", "T[]", R"(
  %m = reduce_max %x {axes = [1], keepdims = true}
  %s = sub %x, %m
  %e = exp %s
  %t = reduce_sum %e {axes = [1]}
  %log = log %t
  %ignored = eq %l, -100
  %safe = select %ignored, 0, %l
  %place = expand_dims %safe {axes = [1]}
  %picked = take_along_axis %s, %place {axis = 1}
  %one = squeeze %picked {axes = [1]}
  %loss = sub %log, %one
  %kept = select %ignored, 0.0, %loss
  %sum = reduce_sum %kept
  %counts = not %ignored
  %some = cast %counts {to = "i64"}
  %number = reduce_sum %some
  %n = cast %number {to = "W"}
  %r = div %sum, %n)"},
    {"attention %q, %k, %v, %mask", "q T[M, 5]; k T[N, 5]; v T[N, 3]; mask bool[M, N]", "T[M, 3]", R"(
  %five = constant 5.0 : W[]
  %root = sqrt %five
  %one = constant 1.0 : W[]
  %scale = div %one, %root
  %turned = transpose %k {perm = [1, 0]}
  %p = matmul %q, %turned
  %s = mul %p, %scale
  %seen = select %mask, %s, -inf
  %m = reduce_max %seen {axes = [1], keepdims = true}
  %nothing = eq %m, -inf
  %shift = select %nothing, 0.0, %m
  %d = sub %seen, %shift
  %e = exp %d
  %ev = matmul %e, %v
  %sum = reduce_sum %e {axes = [1], keepdims = true}
  %y = div %ev, %sum
  %none = eq %sum, 0.0
  %r = select %none, 0.0, %y)"},
    {"attention %q, %k, %v, %mask {causal = true, scale = 0.3}", "q T[M, 5]; k T[N, 5]; v T[N, 3]; mask T[N]",
     "T[M, 3]", R"(
  %turned = transpose %k {perm = [1, 0]}
  %p = matmul %q, %turned
  %s = mul %p, 0.3
  %masked = add %s, %mask
  %key = iota {shape = [M, N], axis = 1}
  %query = iota {shape = [M, N], axis = 0}
  %above = gt %key, %query
  %seen = select %above, -inf, %masked
  %m = reduce_max %seen {axes = [1], keepdims = true}
  %nothing = eq %m, -inf
  %shift = select %nothing, 0.0, %m
  %d = sub %seen, %shift
  %e = exp %d
  %ev = matmul %e, %v
  %sum = reduce_sum %e {axes = [1], keepdims = true}
  %y = div %ev, %sum
  %none = eq %sum, 0.0
  %r = select %none, 0.0, %y)"},
    {"dropout %x, 7 {p = 0.25, stream = 3}", "x T[M, N]", "T[M, N]", R"(
  %u = random_uniform 7 {shape = [M, N], dtype = "f32", stream = 3}
  %keep = ge %u, 0.25
  %y = mul %x, 1.3333333333333333
  %r = select %keep, %y, 0.0)"},
    {"random_bernoulli 7, %p {shape = [M, N], stream = 3}", "p f32[M, N]", "bool[M, N]", R"(
  %u = random_uniform 7 {shape = [M, N], dtype = "f32", stream = 3}
  %r = lt %u, %p)"},
    {"unpack_bits %p", "p u8[M, N]", "bool[M, 8*N]", R"(
  %each = expand_dims %p {axes = [2]}
  %at = iota {shape = [8], dtype = "u8"}
  %moved = shift_right %each, %at
  %bit = and %moved, 1
  %b = cast %bit {to = "bool"}
  %r = reshape %b {shape = [M, 8*N]})"},
    {"reduce_mean %x {axes = [1]}", "x T[M, N]", "T[M]", R"(
  %size = dim {size = N}
  %n = cast %size {to = "W"}
  %t = reduce_sum %x {axes = [1]}
  %r = div %t, %n)"},
    {"reduce_var %x {axes = [1], ddof = 1}", "x T[M, N]", "T[M]", R"(
  %mean = reduce_mean %x {axes = [1], keepdims = true}
  %c = sub %x, %mean
  %q = mul %c, %c
  %t = reduce_sum %q {axes = [1]}
  %size = dim {size = N}
  %less = sub %size, 1
  %n = cast %less {to = "W"}
  %r = div %t, %n)"},
    {"reduce_std %x {axes = [0]}", "x T[M, N]", "T[N]", R"(
  %mean = reduce_mean %x {axes = [0], keepdims = true}
  %c = sub %x, %mean
  %q = mul %c, %c
  %var = reduce_mean %q {axes = [0]}
  %r = sqrt %var)"},
    {"reduce_logsumexp %x {axes = [1]}", "x T[M, N]", "T[M]", R"(
  %most = reduce_max %x {axes = [1], keepdims = true}
  %infinite = isinf %most
  %m = select %infinite, 0.0, %most
  %s = sub %x, %m
  %e = exp %s
  %t = reduce_sum %e {axes = [1], keepdims = true}
  %l = log %t
  %y = add %l, %m
  %r = squeeze %y {axes = [1]})"},
    {"reduce_l1 %x {axes = [1]}", "x T[M, N]", "T[M]", R"(
  %a = abs %x
  %r = reduce_sum %a {axes = [1]})"},
    {"reduce_l2 %x {axes = [0]}", "x T[M, N]", "T[N]", R"(
  %q = mul %x, %x
  %t = reduce_sum %q {axes = [0]}
  %r = sqrt %t)"},
    {"count_nonzero %x {axes = [1]}", "x T[M, N]", "i64[M]", R"(
  %n = ne %x, 0.0
  %i = cast %n {to = "i64"}
  %r = reduce_sum %i {axes = [1]})"},
    {"argmax %x {axis = 1}", "x T[M, N]", "i64[M]", R"(
  %nan = isnan %x
  %some = reduce_any %nan {axes = [1], keepdims = true}
  %most = reduce_max %x {axes = [1], keepdims = true}
  %equal = eq %x, %most
  %right = select %some, %nan, %equal
  %at = iota {shape = [N], dtype = "i64"}
  %index = select %right, %at, 1000000
  %r = reduce_min %index {axes = [1]})"},
    {"argmin %x {axis = 0}", "x T[M, N]", "i64[N]", R"(
  %nan = isnan %x
  %some = reduce_any %nan {axes = [0], keepdims = true}
  %least = reduce_min %x {axes = [0], keepdims = true}
  %equal = eq %x, %least
  %right = select %some, %nan, %equal
  %at = iota {shape = [M, 1], dtype = "i64"}
  %index = select %right, %at, 1000000
  %r = reduce_min %index {axes = [0]})"},
};

// What is no formula but a pattern of bits; the oracle's answer is C's nextafter and frexp.
const std::set<std::string_view> by_bits = {"nextafter", "frexp"};

struct Value {
  std::string name, type, dims;
};

std::vector<Value> values(const char* list, bool named) {
  std::vector<Value> out;
  std::istringstream text(list);
  for (std::string item; std::getline(text, item, ';');) {
    std::istringstream words(item);
    Value v;
    if (named) words >> v.name;
    words >> std::ws;
    std::getline(words, v.type, '[');
    std::getline(words, v.dims, ']');
    out.push_back(v);
  }
  return out;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

struct Pair {
  Pair(const Case& c, DType type) : inputs(values(c.inputs, true)) {
    const bool narrow = type == DType::f16 || type == DType::bf16;
    const std::string own{ir::name(type)}, wide = narrow ? "f32" : own;
    std::string head = "ingot 1.0\ngraph @g(", spelled_head = head, casts, types, results, rounded, back;
    for (Value& v : inputs) {
      const bool converts = narrow && v.type == "T";
      if (v.type == "T") v.type = own;
      const std::string shape = ": " + v.type + "[" + v.dims + "]" + (&v == &inputs.back() ? "" : ", ");
      head += "%" + v.name + shape;
      spelled_head += "%" + v.name + (converts ? "_" : "") + shape;
      if (converts) casts += "  %" + v.name + " = cast %" + v.name + "_ {to = \"f32\"}\n";
    }
    size_t count = 0;
    for (const Value& v : values(c.results, false)) {
      const bool converts = narrow && v.type == "T";
      const std::string name = "%r" + (count ? std::to_string(count) : ""), comma = count++ ? ", " : "";
      types += comma + (v.type == "T" ? own : v.type) + "[" + v.dims + "]";
      results += comma + name;
      rounded += comma + name + (converts ? "_" : "");
      if (converts) back += "  " + name + "_ = cast " + name + " {to = \"" + own + "\"}\n";
    }
    std::string body = c.spelled + 1;
    replace(body, "\"W\"", "\"" + wide + "\"");
    replace(body, " W[]", " " + wide + "[]");
    const std::string arrow = ") -> (" + types + ") {\n";
    op = parsed(head + arrow + "  " + results + " = " + c.op + "\n  return " + results + "\n}\n");
    spelled = parsed(spelled_head + arrow + casts + body + "\n" + back + "  return " + rounded + "\n}\n");
  }

  static std::shared_ptr<const ir::Graph> parsed(const std::string& text) {
    INFO(text);
    try {
      return std::make_shared<const ir::Graph>(ir::parse(text));
    } catch (const Error& e) {
      FAIL(e.message());
      throw;
    }
  }

  std::vector<Array> arrays(uint64_t seed, int64_t m, int64_t n) const {
    std::vector<Array> out;
    for (const Value& v : inputs) {
      std::vector<int64_t> shape;
      std::istringstream dims(v.dims);
      for (std::string d; std::getline(dims >> std::ws, d, ',');)
        shape.push_back(d == "M" ? m : d == "N" ? n : d == "2*N" ? 2 * n : std::stoll(d));
      out.push_back(random_array(++seed, ir::parse_dtype(v.type), shape));
      if (v.name != "l") continue;
      for (uint64_t& label : out.back().bits)
        label = label % 5 == 0 ? static_cast<uint64_t>(-100) : label % static_cast<uint64_t>(n);
    }
    return out;
  }

  std::vector<Value> inputs;
  std::shared_ptr<const ir::Graph> op, spelled;
};

}  // namespace

TEST_CASE("every composite is its formula written out, to the bit") {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    for (const Case& c : cases) {
      INFO(ir::name(type), ": ", std::string(c.op));
      const Pair pair(c, type);
      for (const Way& way : main_ways()) {
        INFO(std::string(way.name));
        const auto op = compile(pair.op, way), spelled = compile(pair.spelled, way);
        uint64_t seed = 1;
        for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 17}, {17, 3}, {4, 1027}}) {
          for (int round = 0; round < 3; ++round) {
            const std::vector<Array> inputs = pair.arrays(seed += 10, m, n);
            const std::vector<Array> want = run(*spelled, inputs), got = run(*op, inputs);
            REQUIRE(want.size() == got.size());
            for (size_t i = 0; i < got.size(); ++i) {
              const std::string text = difference(want[i], got[i]);
              INFO(m, "x", n, ", result ", i, ": ", text);
              CHECK(text.empty());
            }
          }
        }
      }
    }
  }
}

TEST_CASE("every composite of the table is written out, and every reduction that others make") {
  std::set<std::string_view> known = by_bits;
  for (const Case& c : cases) known.insert(std::string_view(c.op).substr(0, std::string_view(c.op).find(' ')));
  for (const ir::OpInfo& info : ir::op_table()) {
    INFO(info.name);
    const bool derived = info.code >= ir::OpCode::op_reduce_var && info.code <= ir::OpCode::op_argmin;
    if (derived || info.cls == OpClass::composite) CHECK(known.contains(info.name));
  }
}
