#include <algorithm>

#include "ir/counted.h"
#include "ir/dim_consistency.h"
#include "ir/op_aliases.h"
#include "ir/op_rules.h"
#include "ir/parser.h"
#include "ir/text.h"
#include "ir/utf8.h"

namespace ingot::ir {

void TokenReader::expect(std::string_view punct, std::string_view where) {
  if (!accept(punct)) fail_expected(cat("'", punct, "' ", where));
}

void TokenReader::expect_word(std::string_view word, std::string_view where) {
  if (!accept_word(word)) fail_expected(cat("'", word, "' ", where));
}

Token TokenReader::take_name(std::string_view sigil, std::string_view what) {
  if (!token_.is(sigil)) fail_expected(what);
  const Token name = lexer_.next_name();
  token_ = lexer_.next();
  return name;
}

std::string TokenReader::take_word_or_string(std::string_view what) {
  if (token_.kind == TokenKind::word) return std::string(take().text);
  return take_string(what);
}

std::string TokenReader::take_string(std::string_view what) {
  if (token_.kind != TokenKind::string) fail_expected(what);
  return lexer_.unescape(take());
}

void TokenReader::fail_expected(std::string_view what) const {
  fail_at(token_.at, "expected ", what, ", found ", Lexer::found(token_));
}

namespace {

struct ParsedType {
  DType dtype;
  std::vector<DimId> shape;
};

class Parser {
  // Runs what may throw about the content and says where in the text that is.
  template <class F>
  auto placed(size_t at, F run) {
    try {
      return run();
    } catch (const Error& e) {
      throw Error(e.code(), in_.lexer().place(at) + e.message());
    }
  }

 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Graph run() {
    version();
    in_.expect_word("graph", "after the version");
    const size_t at = in_.token().at;
    graph_ = Graph(text_of(in_.take_name("@", "the name of the graph, '@name'")));
    signature();
    const size_t where = in_.token().at;
    if (in_.accept_word("where")) {
      facts();
      placed(where, [&] { check_facts_together(graph_.dims()); });
    }
    if (in_.accept_word("flags")) flags();
    if (in_.token().is_word("where")) in_.fail_at(in_.token().at, "where stands once, before flags");
    in_.expect("{", "before the graph's body");
    while (in_.token().is("%")) statement();
    if (!in_.token().is_word("return")) in_.fail_expected("a statement '%name = op ...' or return");
    results();
    in_.expect("}", "after return");
    if (in_.token().is_word("graph")) in_.fail_at(in_.token().at, "several graphs in one text are not supported");
    if (in_.token().kind != TokenKind::end) in_.fail_expected("the end of the text");
    for (const ValueId v : labelled_) graph_.set_name(v, {});
    placed(at, [&] { graph_.seal(); });
    return std::move(graph_);
  }

 private:
  std::string text_of(const Token& name) const {
    return name.kind == TokenKind::string ? in_.lexer().unescape(name) : std::string(name.text);
  }

  void version() {
    const Token word = in_.token();
    if (!word.is_word("ingot")) in_.fail_expected("'ingot 1.0' before everything else");
    in_.take();
    const Token number = in_.token();
    uint64_t minor;
    if (number.kind != TokenKind::number || !number.text.starts_with("1.") ||
        !parse_unsigned(number.text.substr(2), minor) || number.text.substr(2).starts_with("0x")) {
      in_.fail_expected("a version, 1.0");
    }
    if (minor > 0)
      in_.fail_at(number.at, "version ", shortened(number.text, 40),
                  " is newer than 1.0, the newest that is known here");
    in_.take();
  }

  // Digits alone are a label that lasts as long as the text; everything else is the value's name.
  static bool is_label(const Token& name) {
    return name.kind == TokenKind::word && std::ranges::all_of(name.text, [](char c) { return c >= '0' && c <= '9'; });
  }

  std::string checked_name(const Token& name) const {
    std::string text = text_of(name);
    if (text.empty()) in_.fail_at(name.at, "a value's name is empty");
    if (graph_.find_value(text) != no_value)
      in_.fail_at(name.at, "the name ", Lexer::found(name), " is taken by another value");
    return text;
  }

  void name_value(ValueId v, const Token& name) {
    const std::string text = checked_name(name);
    placed(name.at, [&] { graph_.set_name(v, text); });
    if (is_label(name)) labelled_.push_back(v);
  }

  ParsedType type(std::string_view what) {
    const Token t = in_.token();
    const DType dtype = t.kind == TokenKind::word ? parse_dtype(t.text) : DType::invalid;
    if (dtype == DType::invalid) {
      if (const std::string hint = dtype_hint(t.text); t.kind == TokenKind::word && !hint.empty())
        in_.fail_at(t.at, "unknown dtype ", Lexer::found(t), hint);
      in_.fail_expected(cat(what, ", such as f32[B, 4]"));
    }
    in_.take();
    ParsedType result{dtype, {}};
    if (!in_.accept("[") || in_.accept("]")) return result;
    do {
      if (result.shape.size() == max_rank) in_.fail_at(in_.token().at, "more than ", max_rank, " dims");
      result.shape.push_back(parse_dim(in_, graph_.dims()).dim);
    } while (in_.accept(","));
    in_.expect("]", "after the dims");
    return result;
  }

  void input() {
    const Token name = in_.take_name("%", "an input, '%name: type', or ')'");
    in_.expect(":", "after the name of an input");
    const std::string text = checked_name(name);
    ValueId v;
    if (in_.accept_word("dim")) {
      const Token t = in_.token();
      const std::string symbol = in_.take_word_or_string("the symbol that the input binds");
      v = placed(t.at, [&] { return graph_.dim_input(text, graph_.dims().symbol(symbol)); });
    } else {
      const size_t at = in_.token().at;
      ParsedType t = type("the type of an input");
      v = placed(at, [&] { return graph_.input(text, t.dtype, std::move(t.shape)); });
    }
    if (is_label(name)) labelled_.push_back(v);
  }

  void signature() {
    in_.expect("(", "before the inputs");
    if (!in_.token().is(")")) {
      do input();
      while (in_.accept(","));
    }
    in_.expect(")", "after the inputs");
    in_.expect("->", "between inputs and outputs");
    in_.expect("(", "before the outputs");
    if (!in_.token().is(")")) {
      do {
        const Token t = in_.token();
        TokenReader ahead = in_;
        std::string name;
        if (t.kind == TokenKind::word || t.kind == TokenKind::string) {
          name = ahead.take_word_or_string("");
          if (ahead.accept(":")) in_ = ahead;
          else name.clear();
        }
        const size_t at = in_.token().at;
        outputs_.push_back({std::move(name), t.at, at, type("the type of an output")});
      } while (in_.accept(","));
    }
    in_.expect(")", "after the outputs");
  }

  // Bounds first, whatever the order in the text: facts are simplified under them, and print() writes them first.
  void facts() {
    const TokenReader start = in_;
    for (const bool bounds : {true, false}) {
      in_ = start;
      do {
        const size_t at = in_.token().at;
        TokenReader ahead = in_;
        const bool word = in_.token().kind == TokenKind::word || in_.token().kind == TokenKind::string;
        if (word) ahead.take();
        const bool is_bound = word && (ahead.token().is(">=") || ahead.token().is("<="));
        if (is_bound == bounds) is_bound ? bound(at) : fact(at);
        else skip_clause();
      } while (in_.accept(","));
    }
  }

  void skip_clause() {
    size_t depth = 0;
    for (;; in_.take()) {
      const Token& t = in_.token();
      if (t.kind == TokenKind::end || t.is("{") || t.is_word("flags")) return;
      if (t.is(",") && depth == 0) return;
      if (t.is("(")) ++depth;
      if (t.is(")") && depth > 0) --depth;
    }
  }

  void bound(size_t at) {
    const std::string name = in_.take_word_or_string("a symbol");
    const bool lower = in_.take().is(">=");
    const size_t number_at = in_.token().at;
    const auto value = graph_.dims().as_constant(parse_dim(in_, graph_.dims()).dim);
    if (!value) in_.fail_at(number_at, "a bound is a constant, as in N >= 1");
    placed(at, [&] { return graph_.dims().symbol(name, lower ? *value : 0, lower ? max_extent : *value); });
  }

  void fact(size_t at) {
    const ParsedDim left = parse_dim(in_, graph_.dims());
    if (in_.token().is(">=") || in_.token().is("<="))
      in_.fail_at(in_.token().at, "a bound has its symbol on the left and a constant on the right, as in N >= 1");
    if (!in_.token().is("==")) in_.fail_expected("'==', or '>=' or '<=' after a symbol");
    in_.take();
    const ParsedDim right = parse_dim(in_, graph_.dims());
    placed(at, [&] {
      const bool divisible = left.dividend != no_dim && graph_.dims().is_constant(right.dim, 0);
      const DimId equal[] = {left.dim, right.dim}, multiple[] = {left.dividend, left.divisor};
      graph_.dims().assume(divisible ? DimFact::divisible : DimFact::equal, divisible ? multiple : equal);
    });
  }

  void flags() {
    in_.expect("(", "after flags");
    uint32_t flags = 0;
    do {
      if (in_.accept_word("relaxed_precision")) flags |= relaxed_precision;
      else if (in_.accept_word("relaxed_contractions")) flags |= relaxed_contractions;
      else in_.fail_expected("relaxed_precision or relaxed_contractions");
    } while (in_.accept(","));
    in_.expect(")", "after the flags");
    graph_.set_flags(flags);
  }

  ValueId value_ref() {
    const Token name = in_.take_name("%", "a value, '%name'");
    const ValueId v = graph_.find_value(text_of(name));
    if (v == no_value) in_.fail_at(name.at, "no value before this is named ", Lexer::found(name));
    return v;
  }

  void statement() {
    std::vector<Token> names;
    do names.push_back(in_.take_name("%", "the name of a result, '%name'"));
    while (in_.accept(","));
    in_.expect("=", "after the names of results");
    const Token op = in_.token();
    if (op.kind != TokenKind::word) in_.fail_expected("the name of an op");
    const size_t before = graph_.op_count();
    std::vector<ValueId> results;
    in_.take();
    if (op.text == "constant") {
      results = {constant(op.at)};
    } else {
      operation(op);
      results = graph_.op(static_cast<uint32_t>(before)).results;
    }
    if (names.size() != results.size()) {
      in_.fail_at(names[0].at, op.text, " has ", counted(results.size(), "result"), ", ", names.size(),
                  names.size() == 1 ? " is named" : " are named");
    }
    for (size_t i = 0; i < names.size(); ++i) name_value(results[i], names[i]);
    if (op.text != "constant" && in_.accept(":")) check_types(results);
  }

  ValueId constant(size_t at) {
    const TokenReader start = in_;
    skip_elements(in_);
    in_.expect(":", "between a constant and its type");
    const size_t type_at = in_.token().at;
    ParsedType t = type("the type of a constant");
    std::vector<int64_t> extents;
    for (const DimId d : t.shape) {
      const auto extent = graph_.dims().as_constant(d);
      if (!extent) in_.fail_at(type_at, "a constant has constant extents, not ", graph_.dims().to_string(d));
      extents.push_back(*extent);
    }
    placed(type_at, [&] { check_shape(graph_.dims(), t.dtype, t.shape, "constant"); });
    if (t.dtype == DType::c64 || t.dtype == DType::c128)
      throw Error(Code::unimplemented, in_.lexer().place(type_at) + "complex constants are not implemented");
    TokenReader data_in = start;
    const auto data = std::make_shared<std::vector<uint8_t>>(parse_elements(data_in, t.dtype, extents));
    return placed(at, [&] { return graph_.constant(t.dtype, t.shape, {data, data->data(), data->size()}); });
  }

  // Neither a value nor a number where an operand must be: what is often meant instead.
  [[noreturn]] void fail_operand(const OpInfo& info) {
    const Token& t = in_.token();
    if (t.kind == TokenKind::word && (find_op(t.text) || t.text == "constant"))
      in_.fail_at(t.at, "ops do not nest: give the result of ", t.text, " a name on a line of its own");
    check_no_attribute(info);
    in_.fail_expected("an operand: '%name' or a number");
  }

  void check_no_attribute(const OpInfo& info) {
    const Token& t = in_.token();
    if (t.kind == TokenKind::word && std::ranges::find(info.attrs, t.text, &AttrSpec::name) != info.attrs.end())
      in_.fail_at(t.at, "attributes stand in braces after the operands, as in {", t.text, " = ...}");
  }

  // What no statement can go on with: an operand behind an operand, on one line, where the op needs more of them; the
  // name of an attribute.
  void check_behind_operands(const OpInfo& info, size_t operands, size_t op_at) {
    const Token& t = in_.token();
    if (operands < info.min_operands && (t.is("%") || begins_literal(t)) &&
        in_.lexer().text().substr(op_at, t.at - op_at).find('\n') == std::string_view::npos)
      in_.fail_expected("',' between operands");
    check_no_attribute(info);
  }

  void operation(const Token& name) {
    const OpInfo* info = find_op(name.text);
    if (!info) {
      if (name.text.find('.') != std::string_view::npos)
        in_.fail_at(name.at, "unknown op ", Lexer::found(name),
                    ": names with a dot are a host's own, and none is known");
      in_.fail_at(name.at, "unknown op ", Lexer::found(name), op_hint(name.text));
    }
    if (in_.token().is("("))
      in_.fail_at(in_.token().at, "operands follow the op without parentheses, as in ", info->name,
                  info->max_operands == 1 ? " %x" : " %x, %y");
    struct Pending {
      Literal literal;
      size_t at;
    };
    std::vector<ValueId> operands;
    std::vector<bool> literal;
    std::vector<Pending> literals;
    const bool other_word = in_.token().kind == TokenKind::word && !in_.token().is_word("return");
    if (in_.token().is("%") || begins_literal(in_.token()) || other_word) {
      do {
        if (operands.size() > info->max_operands) break;
        literal.push_back(!in_.token().is("%"));
        if (!literal.back()) {
          operands.push_back(value_ref());
          continue;
        }
        if (!begins_literal(in_.token())) fail_operand(*info);
        const size_t at = in_.token().at;
        literals.push_back({parse_literal(in_), at});
        operands.push_back(no_value);
      } while (in_.accept(","));
      check_behind_operands(*info, operands.size(), name.at);
    }
    std::vector<NamedAttr> attrs;
    if (in_.accept("{")) attrs = parse_attrs(in_, graph_.dims(), *info);
    DType result = DType::i8;  // of quantize, where nothing is said
    for (const NamedAttr& a : attrs)
      if (a.name == "dtype") result = static_cast<DType>(a.value.i);
    // Dtypes are known once all operands are; the constants come right before their op.
    for (size_t i = 0, k = 0; i < operands.size(); ++i) {
      if (!literal[i]) continue;
      const Pending& number = literals[k++];
      const DType dtype = literal_dtype(graph_, *info, operands, literal, i, result);
      if (dtype == DType::invalid)
        in_.fail_at(number.at, "the dtype of this number is that of another operand of ", info->name,
                    std::ranges::find(literal, false) == literal.end() ? ", but all are numbers"
                                                                       : ", but the others have one of their own");
      operands[i] = placed(number.at, [&] { return graph_.scalar(dtype, literal_bits(number.literal, dtype)); });
    }
    placed(name.at, [&] { return graph_.op(info->code, operands, attrs); });
  }

  void check_type(ValueId v, const ParsedType& t, size_t at) {
    const Value& value = graph_.value(v);
    bool same = value.dtype == t.dtype && value.shape.size() == t.shape.size();
    for (size_t d = 0; same && d < t.shape.size(); ++d) same = graph_.dims().known_equal(value.shape[d], t.shape[d]);
    if (!same)
      in_.fail_at(at, "the type here is ", type_text(graph_.dims(), t.dtype, t.shape), ", but of ", graph_.describe(v));
  }

  void check_types(const std::vector<ValueId>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) in_.expect(",", "between the types of results");
      const size_t at = in_.token().at;
      check_type(results[i], type("the type of a result"), at);
    }
  }

  void results() {
    const size_t at = in_.take().at;
    std::vector<ValueId> values;
    if (in_.token().is("%")) {
      do values.push_back(value_ref());
      while (in_.accept(","));
    }
    if (values.size() != outputs_.size()) {
      in_.fail_at(at, "return gives ", counted(values.size(), "value"), ", but the graph's head names ",
                  counted(outputs_.size(), "output"));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      check_type(values[i], outputs_[i].type, outputs_[i].type_at);
      placed(outputs_[i].at, [&] { graph_.output(outputs_[i].name, values[i]); });
    }
  }

  struct ParsedOutput {
    std::string name;
    size_t at, type_at;
    ParsedType type;
  };

  TokenReader in_;
  Graph graph_;
  std::vector<ParsedOutput> outputs_;
  std::vector<ValueId> labelled_;
};

}  // namespace

Graph parse(std::string_view text) { return Parser(text).run(); }

}  // namespace ingot::ir
