// The parser's parts: what reads tokens, and what reads dims and literals with them. Nothing here recurses by the depth
// of the text.
#pragma once

#include "ir/graph.h"
#include "ir/lexer.h"
#include "ir/literal.h"

namespace ingot::ir {

// Brackets and parentheses inside each other, in dims and lists.
inline constexpr size_t max_nesting = 256;

// One token of lookahead over a Lexer.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

  const Token& token() const { return token_; }
  const Lexer& lexer() const { return lexer_; }
  Token take() {
    const Token t = token_;
    token_ = lexer_.next();
    return t;
  }
  bool accept(std::string_view punct) {
    if (!token_.is(punct)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!token_.is_word(word)) return false;
    take();
    return true;
  }
  void expect(std::string_view punct, std::string_view where);
  void expect_word(std::string_view word, std::string_view where);
  // The name after a sigil, '%' or '@', that is the present token.
  Token take_name(std::string_view sigil, std::string_view what);
  // A word or the characters of a string.
  std::string take_word_or_string(std::string_view what);
  std::string take_string(std::string_view what);

  // "line:column: expected `what`, found ..."
  [[noreturn]] void fail_expected(std::string_view what) const;
  template <class... Args>
  [[noreturn]] void fail_at(size_t at, const Args&... args) const {
    lexer_.fail_at(at, args...);
  }

 private:
  Lexer lexer_;
  Token token_;
};

// A dim expression, and whether its outermost operation was a remainder: `a % b == 0` is a fact about a and b.
struct ParsedDim {
  DimId dim;
  DimId dividend = no_dim, divisor = no_dim;
};
ParsedDim parse_dim(TokenReader& in, DimTable& dims);

// Whether the token can begin a literal.
bool begins_literal(const Token& t);
Literal parse_literal(TokenReader& in);

// A constant's data, from a literal, nested lists or hex bytes; `in` stands at its first token and is left behind it.
// The shape is all constants.
std::vector<uint8_t> parse_elements(TokenReader& in, DType type, const std::vector<int64_t>& shape);
// Moves past one without reading it, since its type stands behind it.
void skip_elements(TokenReader& in);

// The attributes of an op in braces, the brace already read.
std::vector<NamedAttr> parse_attrs(TokenReader& in, DimTable& dims, const OpInfo& info);

// ", did you mean `x`?" for a name near enough, else nothing.
std::string suggestion(std::string_view name, std::span<const std::string_view> known);

}  // namespace ingot::ir
