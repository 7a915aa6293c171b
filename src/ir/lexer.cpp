#include "ir/lexer.h"

#include <algorithm>

#include "ir/utf8.h"

namespace ingot::ir {

namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '.'; }
}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  if (const size_t bad = find_bad_utf8(text); bad != std::string_view::npos) {
    text_ = text.substr(0, bad);  // so that the column can be counted
    fail_at(bad, "the text is not UTF-8 here");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) fail_at(nul, "the text holds a NUL character");
}

std::string Lexer::place(size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const auto line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
  const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0, the first line
  return cat(line, ":", count_code_points(before.substr(start)) + 1, ": ");
}

std::string Lexer::found(const Token& t) {
  if (t.kind == TokenKind::end) return "the end of the text";
  const std::string_view part = shortened(t.text, 40);
  return cat("'", part, part.size() < t.text.size() ? "..." : "", "'");
}

Token Lexer::make(TokenKind kind, size_t begin) { return {kind, begin, text_.substr(begin, at_ - begin)}; }

Token Lexer::string_token(size_t begin) {
  for (at_ = begin + 1; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      return make(TokenKind::string, begin);
    }
  }
  fail_at(begin, "the string that begins here has no closing quote on its line");
}

Token Lexer::next() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '/' && text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size()) break;
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      break;
    }
  }
  const size_t begin = at_;
  if (begin == text_.size()) return make(TokenKind::end, begin);
  const char c = text_[begin];
  if (is_word_start(c)) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return make(TokenKind::word, begin);
  }
  if (is_digit(c)) {
    const bool hex = text_.substr(begin, 2) == "0x" || text_.substr(begin, 2) == "0X";
    for (; at_ < text_.size(); ++at_) {
      const char d = text_[at_];
      if (is_word(d)) continue;
      const char last = at_ > begin ? text_[at_ - 1] : ' ';
      const bool exponent = hex ? last == 'p' || last == 'P' : last == 'e' || last == 'E';
      if ((d != '+' && d != '-') || !exponent) break;
    }
    return make(TokenKind::number, begin);
  }
  if (c == '"') return string_token(begin);
  const std::string_view two = text_.substr(begin, 2);
  at_ += two == "->" || two == "==" || two == ">=" || two == "<=" ? 2 : 1;
  while (at_ < text_.size() && (text_[at_] & 0xc0) == 0x80) ++at_;  // the whole of a character outside ASCII
  return make(TokenKind::punct, begin);
}

Token Lexer::next_name() {
  const size_t begin = at_;
  if (begin < text_.size() && text_[begin] == '"') return string_token(begin);
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (at_ == begin) fail_at(begin, "expected a name right after '", text_.substr(begin - 1, 1), "'");
  return make(TokenKind::word, begin);
}

std::string Lexer::unescape(const Token& string) const {
  std::string out;
  const std::string_view s = string.text.substr(1, string.text.size() - 2);
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out.push_back(s[i]);
      continue;
    }
    const size_t at = string.at + 1 + i;
    const char c = s[++i];
    if (c == 'n') {
      out.push_back('\n');
    } else if (c == 't') {
      out.push_back('\t');
    } else if (c == '"' || c == '\\') {
      out.push_back(c);
    } else if (c == 'u' && s.substr(i + 1, 1) == "{") {
      uint32_t point = 0;
      size_t digits = 0;
      for (i += 2; i < s.size() && s[i] != '}' && digits < 7; ++i, ++digits) {
        const auto at_digit = std::string_view("0123456789abcdef").find(s[i]);
        if (at_digit == std::string_view::npos) digits = 7;
        else point = point * 16 + static_cast<uint32_t>(at_digit);
      }
      if (digits == 0 || digits > 6 || i >= s.size() || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        fail_at(at, "expected \\u{...} with the hex digits of a character");
      append_utf8(out, point);
    } else {
      fail_at(at, "unknown escape, expected \\n, \\t, \\\", \\\\ or \\u{...}");
    }
  }
  return out;
}

}  // namespace ingot::ir
