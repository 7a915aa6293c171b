// Attributes in braces, read by what the op's row says they are.
#include <algorithm>
#include <charconv>

#include "ir/parser.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

class AttrReader {
 public:
  AttrReader(TokenReader& in, DimTable& dims, const AttrSpec& spec) : in_(in), dims_(dims), spec_(spec) {}

  Attr run() {
    Attr a;
    a.kind = spec_.kind;
    switch (spec_.kind) {
      case AttrKind::i64: a.i = integer(); break;
      case AttrKind::f64: a.f = number(); break;
      case AttrKind::string: a.s = string(); break;
      case AttrKind::boolean: a.i = truth(); break;
      case AttrKind::dtype: a.i = dtype(); break;
      case AttrKind::dim: a.i = dim(); break;
      case AttrKind::i64s: list([&] { a.ints.push_back(integer()); }); break;
      case AttrKind::f64s: list([&] { a.floats.push_back(number()); }); break;
      case AttrKind::strings: list([&] { a.strings.push_back(string()); }); break;
      case AttrKind::booleans: list([&] { a.ints.push_back(truth()); }); break;
      case AttrKind::dtypes: list([&] { a.ints.push_back(dtype()); }); break;
      case AttrKind::dims: list([&] { a.ints.push_back(dim()); }); break;
    }
    return a;
  }

 private:
  std::string expected(std::string_view what) const { return cat(what, " for attribute ", spec_.name); }

  template <class F>
  void list(F read_one) {
    in_.expect("[", cat("before the list of attribute ", spec_.name));
    if (!in_.token().is("]")) {
      do read_one();
      while (in_.accept(","));
    }
    in_.expect("]", cat("after the list of attribute ", spec_.name));
  }

  int64_t integer() {
    const bool negative = in_.accept("-");
    const Token t = in_.token();
    uint64_t magnitude;
    if (t.kind != TokenKind::number || !parse_unsigned(t.text, magnitude)) in_.fail_expected(expected("an integer"));
    if (magnitude > uint64_t{INT64_MAX} + negative) in_.fail_at(t.at, "the integer ", Lexer::found(t), " is too large");
    in_.take();
    return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  }

  double number() {
    const Token t = in_.token();
    if (!begins_literal(t)) in_.fail_expected(expected("a number"));
    const Literal literal = parse_literal(in_);
    try {
      const uint64_t bits = literal_bits(literal, DType::f64);
      return std::bit_cast<double>(bits);
    } catch (const Error& e) {
      in_.fail_at(t.at, e.message());
    }
  }

  std::string string() { return in_.take_string(expected("a string in quotes")); }

  int64_t truth() {
    if (in_.accept_word("true")) return 1;
    if (in_.accept_word("false")) return 0;
    in_.fail_expected(expected("true or false"));
  }

  int64_t dtype() {
    const size_t at = in_.token().at;
    const std::string text = in_.take_string(expected("a dtype in quotes, such as \"f32\""));
    const DType type = parse_dtype(text);
    if (type == DType::invalid)
      in_.fail_at(at, "unknown dtype ", quoted(shortened(text, 40)), " for attribute ", spec_.name, dtype_hint(text));
    return static_cast<int64_t>(type);
  }

  int64_t dim() { return parse_dim(in_, dims_).dim; }

  TokenReader& in_;
  DimTable& dims_;
  const AttrSpec& spec_;
};

}  // namespace

std::vector<NamedAttr> parse_attrs(TokenReader& in, DimTable& dims, const OpInfo& info) {
  std::vector<NamedAttr> attrs;
  if (in.accept("}")) return attrs;
  do {
    const Token t = in.token();
    if (t.kind != TokenKind::word) in.fail_expected("the name of an attribute");
    const auto spec = std::ranges::find(info.attrs, t.text, &AttrSpec::name);
    if (spec == info.attrs.end()) {
      std::vector<std::string_view> names;
      std::string list;
      for (const AttrSpec& s : info.attrs) {
        names.push_back(s.name);
        list += cat(list.empty() ? "" : ", ", s.name);
      }
      const std::string hint = suggestion(t.text, names);
      in.fail_at(t.at, "unknown attribute ", Lexer::found(t), " of ", info.name, hint, hint.empty() ? "; " : " ",
                 info.name, " takes ", list.empty() ? "none" : list);
    }
    if (std::ranges::find(attrs, t.text, &NamedAttr::name) != attrs.end())
      in.fail_at(t.at, "attribute ", t.text, " is given twice");
    in.take();
    in.expect("=", "after the name of an attribute");
    attrs.push_back({std::string(spec->name), AttrReader(in, dims, *spec).run()});
  } while (in.accept(","));
  in.expect("}", "after the attributes");
  return attrs;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  constexpr size_t longest = 32, nearest = 2;
  if (name.size() > longest) return {};
  std::string_view best;
  size_t best_distance = nearest + 1;
  for (const std::string_view other : known) {
    // Levenshtein distance, one row at a time.
    std::vector<size_t> row(other.size() + 1);
    for (size_t j = 0; j <= other.size(); ++j) row[j] = j;
    for (size_t i = 0; i < name.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i + 1;
      for (size_t j = 0; j < other.size(); ++j) {
        const size_t replaced = diagonal + (name[i] != other[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      }
    }
    // A short name is near everything: it has to share more than it lacks.
    if (row.back() < best_distance && row.back() * 2 <= name.size()) {
      best = other;
      best_distance = row.back();
    }
  }
  return best.empty() ? std::string() : cat(", did you mean ", best, "?");
}

}  // namespace ingot::ir
