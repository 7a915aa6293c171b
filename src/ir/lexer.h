// Tokens of the text form, made on demand: a text of any length costs no memory here.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace ingot::ir {

enum class TokenKind : uint8_t {
  end,
  word,    // letters, digits, '_' and '.', beginning with a letter or '_'
  number,  // beginning with a digit; may be no number that anything accepts
  string,  // with its quotes; escapes are unread
  punct,   // one character, or -> == >= <=
};

struct Token {
  TokenKind kind = TokenKind::end;
  size_t at = 0;  // offset in the text
  std::string_view text;

  bool is(std::string_view punct) const { return kind == TokenKind::punct && text == punct; }
  bool is_word(std::string_view word) const { return kind == TokenKind::word && text == word; }
};

// Copyable: a copy is a place to come back to.
class Lexer {
 public:
  // Throws invalid_argument at the first byte that is not UTF-8 or is NUL.
  explicit Lexer(std::string_view text);

  Token next();
  // What follows a '%' or '@' without a space: a word, digits, or a string.
  Token next_name();
  std::string_view text() const { return text_; }

  // The characters of a string token.
  std::string unescape(const Token& string) const;
  // "line:column: ...", both from 1, columns in characters.
  template <class... Args>
  [[noreturn]] void fail_at(size_t at, const Args&... args) const {
    throw Error(Code::invalid_argument, place(at) + cat(args...));
  }
  std::string place(size_t at) const;
  // "'token'" or "the end of the text", for messages.
  static std::string found(const Token& t);

 private:
  Token make(TokenKind kind, size_t begin);
  Token string_token(size_t begin);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace ingot::ir
