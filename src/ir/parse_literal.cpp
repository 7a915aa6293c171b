// Literals and the data of constants.
#include <algorithm>

#include "ir/counted.h"
#include "ir/parser.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

class ElementReader {
 public:
  ElementReader(TokenReader& in, DType type, const std::vector<int64_t>& shape)
      : in_(in), type_(type), size_(item_size(type)), shape_(shape), bytes_(size_) {
    for (const int64_t extent : shape) bytes_ *= static_cast<size_t>(extent);
  }

  std::vector<uint8_t> run() {
    if (in_.token().is_word("hex")) {
      hex();
    } else {
      level(0);
    }
    return std::move(data_);
  }

 private:
  // As deep as the shape has dims. A list has to have its dim's extent, so a short text cannot ask for much memory.
  void level(size_t d) {
    if (d == shape_.size()) {
      if (!begins_literal(in_.token())) in_.fail_expected("a number");
      const size_t at = in_.token().at;
      const Literal literal = parse_literal(in_);
      uint64_t bits;
      try {
        bits = literal_bits(literal, type_);
      } catch (const Error& e) {
        in_.fail_at(at, e.message());
      }
      for (size_t i = 0; i < size_; ++i) data_.push_back(static_cast<uint8_t>(bits >> (8 * i)));
      return;
    }
    const size_t at = in_.token().at;
    in_.expect("[", cat("a list of ", shape_[d], " for dim ", d));
    int64_t count = 0;
    if (!in_.token().is("]")) {
      do {
        if (count == shape_[d])
          in_.fail_at(in_.token().at, "the list for dim ", d, " has more than ",
                      counted(shape_[d], "entry", "entries"));
        level(d + 1);
        ++count;
      } while (in_.accept(","));
    }
    if (count != shape_[d])
      in_.fail_at(at, "the list for dim ", d, " has ", counted(count, "entry", "entries"), ", expected ", shape_[d]);
    in_.expect("]", "after the last entry of a list");
  }

  void hex() {
    const size_t begin = in_.take().at;
    in_.expect("(", "after hex");
    while (in_.token().kind == TokenKind::string) {
      const Token t = in_.take();
      const std::string_view digits = t.text.substr(1, t.text.size() - 2);
      for (size_t i = 0; i < digits.size(); i += 2) {
        const int high = hex_digit(digits[i]), low = i + 1 < digits.size() ? hex_digit(digits[i + 1]) : -1;
        if (high < 0 || low < 0) in_.fail_at(t.at + 1 + i, "expected two hex digits for a byte");
        data_.push_back(static_cast<uint8_t>(high << 4 | low));
      }
    }
    in_.expect(")", "after the bytes of hex");
    if (data_.size() != bytes_)
      in_.fail_at(begin, "hex gives ", data_.size(), data_.size() == 1 ? " byte, expected " : " bytes, expected ",
                  bytes_);
  }

  TokenReader& in_;
  DType type_;
  size_t size_;
  const std::vector<int64_t>& shape_;
  size_t bytes_;
  std::vector<uint8_t> data_;
};

}  // namespace

bool begins_literal(const Token& t) {
  return t.kind == TokenKind::number || t.is("-") || t.is_word("inf") || t.is_word("nan") || t.is_word("true") ||
         t.is_word("false") || t.is_word("bits");
}

Literal parse_literal(TokenReader& in) {
  Literal l;
  if (in.accept_word("bits")) {
    in.expect("(", "after bits");
    l.kind = Literal::Kind::bits;
    if (in.token().kind != TokenKind::number) in.fail_expected("the bits as 0x...");
    l.digits = in.take().text;
    in.expect(")", "after the bits");
    return l;
  }
  if (in.token().is_word("true") || in.token().is_word("false")) {
    l.kind = Literal::Kind::boolean;
    l.truth = in.take().text == "true";
    return l;
  }
  if (in.accept_word("nan")) {
    l.kind = Literal::Kind::nan;
    return l;
  }
  l.negative = in.accept("-");
  if (in.accept_word("inf")) {
    l.kind = Literal::Kind::infinity;
    return l;
  }
  if (in.token().kind != TokenKind::number) in.fail_expected("a number or inf");
  l.digits = in.take().text;
  return l;
}

std::vector<uint8_t> parse_elements(TokenReader& in, DType type, const std::vector<int64_t>& shape) {
  return ElementReader(in, type, shape).run();
}

void skip_elements(TokenReader& in) {
  if (in.accept_word("hex")) {
    in.expect("(", "after hex");
    while (in.token().kind == TokenKind::string) in.take();
    in.expect(")", "after the bytes of hex");
    return;
  }
  size_t depth = 0;
  do {
    const Token& t = in.token();
    if (t.is("[")) {
      if (++depth > max_nesting) in.fail_at(t.at, "lists nest deeper than ", max_nesting);
      in.take();
    } else if (t.is("]") && depth > 0) {
      --depth;
      in.take();
    } else if (t.is(",") && depth > 0) {
      in.take();
    } else if (begins_literal(t)) {
      parse_literal(in);
    } else {
      in.fail_expected(depth > 0 ? "a number, '[' or ']'" : "a number, a list or hex(\"...\")");
    }
  } while (depth > 0);
}

}  // namespace ingot::ir
