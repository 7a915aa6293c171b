#include <optional>

#include "ir/parser.h"

namespace ingot::ir {

namespace {

struct Function {
  std::string_view name;
  DimKind kind;
};
constexpr Function functions[] = {
    {"floor_div", DimKind::floor_div},
    {"ceil_div", DimKind::ceil_div},
    {"mod", DimKind::mod},
    {"min", DimKind::min},
    {"max", DimKind::max},
    {"bcast", DimKind::bcast},
};

std::optional<DimKind> find_function(std::string_view name) {
  for (const Function& f : functions)
    if (f.name == name) return f.kind;
  return {};
}

// A sum being read: the whole expression, one in parentheses, or an argument of a function.
struct Frame {
  std::optional<DimKind> function;  // none: parentheses
  size_t at = 0;                    // where it was opened
  std::vector<DimId> arguments;     // finished ones
  std::vector<DimId> terms;
  bool subtract = false;  // the sign of the term being read
  std::vector<DimId> factors;
  char pending = 0;     // operator before the next operand: * / % or none
  bool negate = false;  // unary minus before the next operand
};

class DimParser {
 public:
  DimParser(TokenReader& in, DimTable& dims) : in_(in), dims_(dims) { frames_.emplace_back(); }

  ParsedDim run() {
    for (;;) {
      operand();
      if (!operators()) return {end_sum(frames_[0]), dividend_, divisor_};
    }
  }

 private:
  // Builds an expression, placing what it throws.
  template <class F>
  DimId build(F make) {
    try {
      return make();
    } catch (const Error& e) {
      in_.fail_at(in_.token().at, e.message());
    }
  }
  DimId expr(DimKind kind, std::vector<DimId> operands) {
    return build([&] { return dims_.expr(kind, operands); });
  }

  // Reads up to and with the next symbol or number, opening frames on the way.
  void operand() {
    for (;;) {
      Frame& frame = frames_.back();
      const Token t = in_.token();
      if (t.is("-")) {
        in_.take();
        frame.negate = !frame.negate;
      } else if (t.is("(")) {
        in_.take();
        open({}, t.at);
      } else if (t.kind == TokenKind::number) {
        in_.take();
        return push(number(t, frame));
      } else if (t.kind == TokenKind::word || t.kind == TokenKind::string) {
        const std::string name = in_.take_word_or_string("a symbol");
        const auto function = t.kind == TokenKind::word ? find_function(name) : std::nullopt;
        if (function && in_.accept("(")) {
          open(function, t.at);
          continue;
        }
        return push(build([&] { return dims_.symbol(name); }));
      } else {
        in_.fail_expected("a dim: a number, a symbol or '('");
      }
    }
  }

  void open(std::optional<DimKind> function, size_t at) {
    if (frames_.size() > max_nesting) in_.fail_at(at, "parentheses nest deeper than ", max_nesting);
    Frame frame;
    frame.function = function;
    frame.at = at;
    frames_.push_back(std::move(frame));
  }

  // The sign is part of the number, so that the least integer can be written.
  DimId number(const Token& t, Frame& frame) {
    uint64_t magnitude;
    const bool negative = std::exchange(frame.negate, false);
    if (!parse_unsigned(t.text, magnitude)) in_.fail_at(t.at, "expected an integer, found ", Lexer::found(t));
    if (magnitude > uint64_t{INT64_MAX} + negative) in_.fail_at(t.at, "the integer ", Lexer::found(t), " is too large");
    return dims_.constant(negative ? static_cast<int64_t>(0 - magnitude) : static_cast<int64_t>(magnitude));
  }

  DimId product(std::vector<DimId>& factors) {
    const DimId d = factors.size() == 1 ? factors[0] : expr(DimKind::mul, factors);
    factors.clear();
    return d;
  }

  void push(DimId d) {
    Frame& frame = frames_.back();
    if (std::exchange(frame.negate, false)) d = expr(DimKind::mul, {dims_.constant(-1), d});
    const bool outermost = frames_.size() == 1 && frame.terms.empty() && !frame.subtract;
    if (frames_.size() == 1) dividend_ = divisor_ = no_dim;
    const char pending = std::exchange(frame.pending, 0);
    if (pending == '/' || pending == '%') {
      const DimId left = product(frame.factors);
      if (pending == '%' && outermost) dividend_ = left, divisor_ = d;
      d = expr(pending == '/' ? DimKind::floor_div : DimKind::mod, {left, d});
    }
    frame.factors.push_back(d);
  }

  void end_term(Frame& frame) {
    DimId d = product(frame.factors);
    if (std::exchange(frame.subtract, false)) d = expr(DimKind::mul, {dims_.constant(-1), d});
    frame.terms.push_back(d);
  }

  DimId end_sum(Frame& frame) {
    end_term(frame);
    const DimId d = frame.terms.size() == 1 ? frame.terms[0] : expr(DimKind::add, frame.terms);
    frame.terms.clear();
    return d;
  }

  // Reads what stands between operands; false at the end of the whole.
  bool operators() {
    for (;;) {
      Frame& frame = frames_.back();
      const Token& t = in_.token();
      if (t.is("*") || t.is("/") || t.is("%")) {
        frame.pending = in_.take().text[0];
        return true;
      }
      if (t.is("+") || t.is("-")) {
        end_term(frame);
        frame.subtract = in_.take().text[0] == '-';
        if (frames_.size() == 1) dividend_ = divisor_ = no_dim;
        return true;
      }
      if (frames_.size() == 1) return false;
      if (t.is(",") && frame.function) {
        frame.arguments.push_back(end_sum(frame));
        in_.take();
        return true;
      }
      if (!t.is(")")) in_.fail_expected(frame.function ? "an operator, ',' or ')'" : "an operator or ')'");
      DimId d = end_sum(frame);
      if (frame.function) {
        frame.arguments.push_back(d);
        d = expr(*frame.function, frame.arguments);
      }
      in_.take();
      frames_.pop_back();
      push(d);
    }
  }

  TokenReader& in_;
  DimTable& dims_;
  std::vector<Frame> frames_;
  DimId dividend_ = no_dim, divisor_ = no_dim;
};

}  // namespace

ParsedDim parse_dim(TokenReader& in, DimTable& dims) { return DimParser(in, dims).run(); }

}  // namespace ingot::ir
