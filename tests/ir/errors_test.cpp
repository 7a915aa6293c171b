// What the parser says about wrong text, and where; hostile text of every kind.
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

std::string wrong(const std::string& text) {
  std::string message;
  try {
    parse(text);
  } catch (const Error& e) {
    CHECK((e.code() == Code::invalid_argument || e.code() == Code::unimplemented));
    message = e.message();
  }
  CHECK(message.size() < 2000);  // messages do not grow with the text
  return message;
}

// A body in a graph of one input; its first line is line 3.
std::string body(const std::string& statements) {
  return wrong("ingot 1.0\ngraph @g(%x: f32[B, 4]) -> (f32[B, 4]) {\n" + statements + "\n}\n");
}

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("errors of the head") {
  CHECK(wrong("") == "1:1: expected 'ingot 1.0' before everything else, found the end of the text");
  CHECK(wrong("// f\n  graph @f") == "2:3: expected 'ingot 1.0' before everything else, found 'graph'");
  CHECK(wrong("\n// f\n\n  ingot 1.0\n  kernel") == "5:3: expected 'graph' after the version, found 'kernel'");
  CHECK(wrong("ingot 2.0") == "1:7: expected a version, 1.0, found '2.0'");
  CHECK(wrong("ingot 1.7\ngraph") == "1:7: version 1.7 is newer than 1.0, the newest that is known here");
  CHECK(wrong("ingot 1.0\nkernel") == "2:1: expected 'graph' after the version, found 'kernel'");
  CHECK(wrong("ingot 1.0\ngraph g") == "2:7: expected the name of the graph, '@name', found 'g'");
  CHECK(wrong("ingot 1.0\ngraph @ g") == "2:8: expected a name right after '@'");
  CHECK(wrong("ingot 1.0\ngraph @g(x)") == "2:10: expected an input, '%name: type', or ')', found 'x'");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f33[])") ==
        "2:14: expected the type of an input, such as f32[B, 4], found 'f33'");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[B, ])") == "2:21: expected a dim: a number, a symbol or '(', found ']'");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[B, 4") == "2:22: expected ']' after the dims, found the end of the text");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[-1])") == "2:14: input x: extent -1 is negative");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: c64[2])").starts_with("2:14: input"));
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32, %x: f32)") == "2:20: the name 'x' is taken by another value");
  CHECK(wrong("ingot 1.0\ngraph @g() {") == "2:12: expected '->' between inputs and outputs, found '{'");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) flags(relaxed_precision) where N >= 2 {") ==
        "2:59: where stands once, before flags");
  CHECK(wrong("ingot 1.0\ngraph @g() -> (f32) flags(fast) {") ==
        "2:27: expected relaxed_precision or relaxed_contractions, found 'fast'");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32) -> (y: f32, y: f32) {return %x, %x}") ==
        "2:31: the output name y is taken");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[2*N]) -> (f32[2*N]) {return %x}") ==
        "2:7: symbol N is bound by no input: expected an input with it as an extent of its own, or a dim input");
  CHECK(wrong("ingot 1.0\ngraph @g() -> () {return}") == "2:7: the graph \"g\" has no output");
}

TEST_CASE("errors of statements") {
  CHECK(body("  %0 = ad %x, %x\n return %0") == "3:8: unknown op 'ad', did you mean add?");
  CHECK(body("  %0 = reducesum %x\n return %0") == "3:8: unknown op 'reducesum', did you mean reduce_sum?");
  CHECK(body("  %0 = quux %x\n return %0") == "3:8: unknown op 'quux'");
  CHECK(body("  %0 = acme.add %x\n") ==
        "3:8: unknown op 'acme.add': names with a dot are a host's own, and none is known");
  CHECK(body("  %0 = add %x, %y\n") == "3:17: no value before this is named 'y'");
  CHECK(body("  %0 = neg %0\n") == "3:13: no value before this is named '0'");
  CHECK(body("  %x = neg %x\n") == "3:4: the name 'x' is taken by another value");
  CHECK(body("  %a, %b = neg %x\n") == "3:4: neg has 1 result, 2 are named");
  CHECK(body("  %0 = add %x\n") == "3:8: add: takes 2 operands, not 1");
  CHECK(body("  %0 = add %x,\n") == "5:1: expected an operand: '%name' or a number, found '}'");
  CHECK(body("  %0 = add %x\n") == "3:8: add: takes 2 operands, not 1");
  CHECK(body("  %0 = add 1, 2\n") ==
        "3:12: the dtype of this number is that of another operand of add, but all are numbers");
  CHECK(body("  %i = constant 1 : i32\n  %0 = ldexp 1.0, %i\n") ==
        "4:14: the dtype of this number is that of another operand of ldexp, but the others have one of their own");
  CHECK(body("  %0 = add %x, true\n") == "3:16: true is no value of f32");
  CHECK(body("  %0 = add %x, 1e99\n") == "3:16: '1e99' is out of the range of f32");
  CHECK(body("  %é = neg %x\n") == "3:4: expected a name right after '%'");
  CHECK(body("  %0 = softmax %x {axs = 1}\n") ==
        "3:20: unknown attribute 'axs' of softmax, did you mean axis? softmax takes axis");
  CHECK(body("  %0 = softmax %x {axis = 1, axis = 1}\n") == "3:30: attribute axis is given twice");
  CHECK(body("  %0 = softmax %x {axis = \"1\"}\n") == "3:27: expected an integer for attribute axis, found '\"1\"'");
  CHECK(body("  %0 = softmax %x {axis = 2}\n") ==
        "3:8: softmax: attribute axis: 2 is not an axis of rank 2, expected -2 to 1");
  CHECK(body("  %0 = softmax %x {axis}\n") == "3:24: expected '=' after the name of an attribute, found '}'");
  CHECK(body("  %0 = softmax %x {axis = 1\n  return %0") == "4:3: expected '}' after the attributes, found 'return'");
  CHECK(body("  %0 = cast %x {to = f16}\n") ==
        "3:22: expected a dtype in quotes, such as \"f32\" for attribute to, found 'f16'");
  CHECK(body("  %0 = cast %x {to = \"half\"}\n") == "3:22: unknown dtype \"half\" for attribute to, did you mean f16?");
  CHECK(body("  %0 = reduce_sum %x {keepdims = 1}\n") ==
        "3:34: expected true or false for attribute keepdims, found '1'");
  CHECK(body("  %0 = reduce_sum %x {axes = 1}\n") == "3:30: expected '[' before the list of attribute axes, found '1'");
  CHECK(body("  %0 = reduce_sum %x {axes = [99999999999999999999]}\n").find("3:31: ") == 0);
  CHECK(body("  %0 = reshape %x {shape = [B*]}\n") == "3:31: expected a dim: a number, a symbol or '(', found ']'");
  CHECK(body("  %0 = reshape %x {shape = [B/0]}\n") == "3:32: dim expression divides by 0");
  CHECK(body("  %0 = reshape %x {shape = [9999999999999999999]}\n") ==
        "3:29: the integer '9999999999999999999' is too large");
  CHECK(body("  %0 = layer_norm %x, %x {epsilon = \"a\"}\n") ==
        "3:37: expected a number for attribute epsilon, found '\"a\"'");
  CHECK(body("  return %x, %x") == "3:3: return gives 2 values, but the graph's head names 1 output");
  CHECK(body("  return") == "3:3: return gives 0 values, but the graph's head names 1 output");
  CHECK(body("  return %x }\n graph @h") == "4:2: several graphs in one text are not supported");
  CHECK(body("  return %x } tail") == "3:15: expected the end of the text, found 'tail'");
  CHECK(body("  jump %x") == "3:3: expected a statement '%name = op ...' or return, found 'jump'");
}

TEST_CASE("the names of other languages lead to the op, and only near spellings are guessed at") {
  const auto said = [](const std::string& op) {
    const std::string message = body("  %0 = " + op + " %x\n"), start = "3:8: unknown op '" + op + "'";
    CHECK(message.starts_with(start));
    return message.substr(std::min(message.size(), start.size()));
  };
  for (const auto& [name, op] : std::initializer_list<std::pair<const char*, const char*>>{
           {"sum", "reduce_sum"},       {"mean", "reduce_mean"},
           {"prod", "reduce_prod"},     {"amax", "reduce_max"},
           {"any", "reduce_any"},       {"all", "reduce_all"},
           {"where", "select"},         {"power", "pow"},
           {"dot", "matmul"},           {"mm", "matmul"},
           {"concatenate", "concat"},   {"cat", "concat"},
           {"astype", "cast"},          {"subtract", "sub"},
           {"multiply", "mul"},         {"divide", "div"},
           {"negative", "neg"},         {"absolute", "abs"},
           {"minimum", "min"},          {"maximum", "max"},
           {"clip", "clamp"},           {"permute", "transpose"},
           {"expand", "broadcast"},     {"flip", "reverse"},
           {"arange", "iota"},          {"equal", "eq"},
           {"less_equal", "le"},        {"logical_and", "and"},
           {"bitwise_xor", "xor"},      {"invert", "not"},
           {"view", "reshape"},         {"swish", "silu"},
           {"layernorm", "layer_norm"}, {"rmsnorm", "rms_norm"},
           {"Softmax", "softmax"},      {"expp", "exp"},
           {"arcsin", "asin"},          {"arctan2", "atan2"},
           {"arccosh", "acosh"},        {"unsqueeze", "expand_dims"},
           {"chunk", "split"},          {"var", "reduce_var"}}) {
    CHECK(said(name) == std::string(", did you mean ") + op + "?");
  }
  // Near the spelling of an op, but nothing like it.
  CHECK(said("sort") == ", and no op here does the same");
  for (const char* name : {"quux", "x", "convolution", "fft"}) CHECK(said(name) == "");
}

TEST_CASE("what other notations write is told how to write it here") {
  CHECK(body("  %0 = exp(%x)\n") == "3:11: operands follow the op without parentheses, as in exp %x");
  CHECK(body("  %0 = add (%x, %x)\n") == "3:12: operands follow the op without parentheses, as in add %x, %y");
  CHECK(body("  %0 = add exp %x, %x\n") == "3:12: ops do not nest: give the result of exp a name on a line of its own");
  CHECK(body("  %0 = add %x, exp(%x)\n") ==
        "3:16: ops do not nest: give the result of exp a name on a line of its own");
  CHECK(body("  %0 = softmax %x, axis = 1\n") ==
        "3:20: attributes stand in braces after the operands, as in {axis = ...}");
  CHECK(body("  %0 = softmax %x axis = 1\n") ==
        "3:19: attributes stand in braces after the operands, as in {axis = ...}");
  CHECK(body("  %0 = add %x %x\n") == "3:15: expected ',' between operands, found '%'");
  CHECK(body("  %0 = add %x 1.0\n") == "3:15: expected ',' between operands, found '1.0'");
  CHECK(body("  %0 = clamp %x, 0.0 1.0\n") == "3:22: expected ',' between operands, found '1.0'");
  CHECK(body("  %0 = add %x\n  %1 = exp %x\n") == "3:8: add: takes 2 operands, not 1");
  CHECK(body("  %0 = cast %x {to = \"float64\"}\n") ==
        "3:22: unknown dtype \"float64\" for attribute to, did you mean f64?");
  CHECK(body("  %0 = cast %x {to = \"f128\"}\n") == "3:22: unknown dtype \"f128\" for attribute to");
  CHECK(body("  %0 = exp %x : float\n") == "3:17: unknown dtype 'float', did you mean f32?");
  CHECK(body("  %0 = add x, %x\n") == "3:12: expected an operand: '%name' or a number, found 'x'");
  CHECK(body("  %0 = add %x, y\n") == "3:16: expected an operand: '%name' or a number, found 'y'");
  CHECK(body("  %0 = add\n  return %0\n") == "3:8: add: takes 2 operands, not 0");
  CHECK(body("  %0 = max %x {axes = [0]}\n").starts_with("3:16: unknown attribute 'axes' of max"));
  CHECK(body("  %0 = max %x\n") == "3:8: max: takes 2 operands, not 1; over the dims of one operand it is reduce_max");
  CHECK(body("  %0 = exp %x, %x\n") == "3:8: exp: takes 1 operand, not 2");
}

TEST_CASE("errors of constants") {
  CHECK(body("%c = constant 1.0\n") == "5:1: expected ':' between a constant and its type, found '}'");
  CHECK(body("%c = constant : f32\n") == "3:15: expected a number, a list or hex(\"...\"), found ':'");
  CHECK(body("%c = constant 1.5 : i32\n") == "3:15: '1.5' is not an integer, expected a value of i32");
  CHECK(body("%c = constant [1, 2] : f32[3]\n") == "3:15: the list for dim 0 has 2 entries, expected 3");
  CHECK(body("%c = constant [1, 2, 3] : f32[2]\n") == "3:22: the list for dim 0 has more than 2 entries");
  CHECK(body("%c = constant [1, [2]] : f32[2]\n") == "3:19: expected a number, found '['");
  CHECK(body("%c = constant [1] : f32[1, 1]\n") == "3:16: expected '[' a list of 1 for dim 1, found '1'");
  CHECK(body("%c = constant 1 : f32[B]\n") == "3:19: a constant has constant extents, not B");
  CHECK(body("%c = constant 1 : f32[9000000000000000000]\n") ==
        "3:19: constant: the size of f32[9000000000000000000] overflows 63 bits");
  CHECK(body("%c = constant 1 : f32[1000000000000]\n") ==
        "3:15: expected '[' a list of 1000000000000 for dim 0, found '1'");
  CHECK(body("%c = constant [] : f32[1000000000000]\n") ==
        "3:15: the list for dim 0 has 0 entries, expected 1000000000000");
  CHECK(body("%c = constant hex(\"00\") : f32[1000000000000]\n") == "3:15: hex gives 1 byte, expected 4000000000000");
  CHECK(body("%c = constant hex(\"0g\") : u8\n") == "3:20: expected two hex digits for a byte");
  CHECK(body("%c = constant hex(\"001\") : u8[2]\n") == "3:22: expected two hex digits for a byte");
  CHECK(body("%c = constant bits(0x1ff) : u8\n") == "3:15: '0x1ff' has more bits than u8");
  CHECK(body("%c = constant bits(x) : u8\n") == "3:20: expected the bits as 0x..., found 'x'");
  const std::string complex = "ingot 1.0\ngraph @g() -> (f32[]) {\n  %c = constant 1 : c64\n}\n";
  CHECK(fault([&] { parse(complex); }, Code::unimplemented) == "3:21: complex constants are not implemented");
}

TEST_CASE("columns count characters, not bytes") {
  CHECK(wrong("ingot 1.0\ngraph @\"äöü€\"(x") == "2:15: expected an input, '%name: type', or ')', found 'x'");
}

TEST_CASE("hostile bytes: not UTF-8, NUL, control characters") {
  CHECK(wrong("ingot 1.0\ngraph @g(%x\xff: f32)") == "2:12: the text is not UTF-8 here");
  CHECK(wrong(std::string("ingot 1.0\n\0graph", 16)) == "2:1: the text holds a NUL character");
  for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"})
    CHECK(wrong(std::string("ingot 1.0 // ") + bad).ends_with("1:14: the text is not UTF-8 here"));
  for (int c = 1; c < 256; ++c) wrong(std::string("ingot 1.0\ngraph @g(%x") + static_cast<char>(c) + ": f32");
  CHECK(wrong("ingot 1.0\ngraph @\"open") == "2:8: the string that begins here has no closing quote on its line");
  CHECK(wrong("ingot 1.0\ngraph @\"\\q\"(") == "2:9: unknown escape, expected \\n, \\t, \\\", \\\\ or \\u{...}");
  for (const char* bad : {"\\u{}", "\\u{110000}", "\\u{d800}", "\\u{12", "\\u{1234567}", "\\u{G}"})
    CHECK(wrong(std::string("ingot 1.0\ngraph @\"") + bad + "\"(") ==
          "2:9: expected \\u{...} with the hex digits of a character");
  CHECK(wrong("ingot 1.0\ngraph @\"\\") != "");
}

TEST_CASE("hostile nesting") {
  for (const size_t depth : {size_t{10'000}, size_t{1'000'000}}) {
    const std::string open = repeated("(", depth), close = repeated(")", depth);
    CHECK(body("%0 = reshape %x {shape = [" + open + "B" + close + "]}") == "3:283: parentheses nest deeper than 256");
    CHECK(body("%0 = reshape %x {shape = [" + repeated("min(B,", depth)).find("nest deeper than 256") !=
          std::string::npos);
    CHECK(body("%0 = constant " + repeated("[", depth)) == "3:271: lists nest deeper than 256");
    CHECK(body("%0 = reduce_sum %x {axes = " + repeated("[", depth)) ==
          "3:29: expected an integer for attribute axes, found '['");
    CHECK(body(repeated("{", depth)) != "");
    CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[B]) -> (f32[B]) where " + repeated("(", depth)) != "");
  }
  CHECK(body("%0 = reshape %x {shape = [" + repeated("(", 200) + "B" + repeated(")", 200) + ", 4]} return %0") == "");
  CHECK(body("%0 = reshape %x {shape = [" + repeated("-", 100'001) + "-B, 4]} return %0") == "");
  CHECK(body("%0 = iota {shape = [" + repeated("min(C,1+", 150) + "B" + repeated(")", 150) + "]}")
            .find("nested deeper than 100") != std::string::npos);
}

TEST_CASE("hostile lengths: a 10 MB line, name, number, comment and string") {
  const size_t size = 10'000'000;
  const std::string long_word(size, 'a'), digits(size, '7');
  CHECK(wrong(long_word) != "");
  CHECK(wrong("ingot " + digits) != "");
  CHECK(wrong("ingot 1.0 //" + long_word) != "");
  CHECK(wrong("ingot 1.0\ngraph @" + long_word) != "");
  CHECK(wrong("ingot 1.0\ngraph @g(%" + long_word + ": " + long_word) != "");
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[" + long_word + "])").find("has 10000000 bytes") != std::string::npos);
  CHECK(wrong("ingot 1.0\ngraph @g(%x: f32[" + digits + "])") != "");
  CHECK(body("%0 = " + long_word) != "");
  CHECK(body("%0 = neg %" + long_word) != "");
  CHECK(body("%0 = mul %x, " + digits) != "");
  CHECK(body("%0 = mul %x, 0." + digits) != "");
  CHECK(body("%0 = softmax %x {" + long_word) != "");
  CHECK(body("%0 = softmax %x {axis = " + digits) != "");
  CHECK(body("%0 = gelu %x {approximate = \"" + long_word + "\"}") != "");
  CHECK(body("%0 = concat " + repeated("%x, ", size / 4) + "%x return %x") != "");
  CHECK(body("%0 = reduce_sum %x {axes = [" + repeated("0,", size / 2) + "0]}") != "");
  CHECK(body("%0 = constant [" + repeated("1,", size / 2) + "1] : u8[5]") ==
        "3:26: the list for dim 0 has more than 5 entries");
  CHECK(body("%0 = iota {shape = [" + repeated("B+", size / 2) + "B]} %1 = neg %x return %1") == "");
  CHECK(body("%0 = iota {shape = [" + repeated("B*", size / 2) + "B]} %1 = neg %x return %1") != "");
}

TEST_CASE("hostile dims: many symbols, facts and overflowing numbers") {
  std::string sum, where, inputs;
  for (int i = 0; i < 20'000; ++i) {
    const std::string s = cat("s", i);
    sum += (i ? "+" : "") + s;
    inputs += cat(i ? ", " : "", "%", i, ": dim ", s);
    where += cat(i ? ", " : "", s, " % ", i % 50 + 2, " == 0, ", s, " == 2*t", i % 100, ", ", s, " >= ", i % 7);
  }
  CHECK(wrong("ingot 1.0\ngraph @g(" + inputs + ") -> (i64[" + sum + "]) where " + where + " {\n%a = iota {shape = [" +
              sum + "]} return %a}") != "");
  CHECK(wrong("ingot 1.0\ngraph @g(" + inputs + ") -> (i64[" + sum + "]) {\n%a = iota {shape = [" + sum +
              "]} return %a}") == "");
  CHECK(body("%0 = iota {shape = [9223372036854775807*B*B*3]}").find("overflow") == std::string::npos);
  CHECK(body("%0 = iota {shape = [9223372036854775807*3]}") == "3:42: overflow in a constant dim");
  CHECK(body("%0 = iota {shape = [-9223372036854775808]}") ==
        "3:6: iota: an extent of shape is -9223372036854775808, which is negative");
}

TEST_CASE("every prefix of a good text is refused with a place") {
  const std::string good =
      "ingot 1.0\ngraph @g(%x: f32[B, 4], %n: dim N) -> (y: f32[B, 4]) where N >= 1, B % 8 == 0 "
      "flags(relaxed_precision) {\n"
      "  %c = constant [1.0, bits(0x7fc00001)] : f32[2]\n  %0 = mul %x, 2.0 {}\n  %1 = softmax %0 {axis = -1} : f32[B, "
      "4]\n"
      "  return %1\n}";
  CHECK(wrong(good) == "");
  for (size_t length = 0; length < good.size(); ++length) {
    const std::string message = wrong(good.substr(0, length));
    CHECK(message.find(": ") != std::string::npos);
    CHECK(message[0] >= '1');
    CHECK(message[0] <= '9');
  }
}

TEST_CASE("every byte of a good text changed: an error or a graph, never more") {
  const std::string good =
      "ingot 1.0\ngraph @g(%x: f32[B, 4], %n: dim N) -> (f32[B, 4]) where N >= 1, B % 8 == 0 {\n"
      "  %0 = mul %x, 2.0\n  %1 = reshape %0 {shape = [B/2, -1]}\n  %2 = reshape %1 {shape = [B, 4]}\n  return %2\n}";
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'(', ')', '%', '-', '0', '9', 'B', '"', '/', '{', '\n', ',', '.', 'e'}) {
      std::string text = good;
      text[i] = c;
      if (wrong(text) != "") continue;
      const std::string printed = print(parse(text));
      CHECK_MESSAGE(print(parse(printed)) == printed, text);
    }
  }
}
