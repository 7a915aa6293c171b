#include "extents.h"

#include <algorithm>
#include <charconv>

#include "error.h"

namespace ingot::tool {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Recursive descent over one extent; the library bounds how deep it nests.
class Parser {
 public:
  Parser(std::string_view text, const std::function<int64_t(const std::string&)>& value) : text_(text), value_(value) {}

  int64_t run() {
    const int64_t v = sum();
    if (peek() != '\0') bad();
    return v;
  }

 private:
  [[noreturn]] void bad() const {
    fail(exit_failed, "the library printed an extent that this tool cannot read: ", text_);
  }
  [[noreturn]] void overflow() const { fail(exit_bad_input, "the extent ", text_, " overflows 63 bits"); }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad();
  }

  int64_t sum() {
    int64_t v = product();
    for (;;) {
      if (take('+')) {
        if (__builtin_add_overflow(v, product(), &v)) overflow();
      } else if (take('-')) {
        if (__builtin_sub_overflow(v, product(), &v)) overflow();
      } else {
        return v;
      }
    }
  }
  int64_t product() {
    int64_t v = factor();
    for (;;) {
      if (take('*')) {
        if (__builtin_mul_overflow(v, factor(), &v)) overflow();
      } else if (take('/')) {
        v = floor_div(v, factor());
      } else if (take('%')) {
        const int64_t w = factor();
        v -= floor_div(v, w) * w;
      } else {
        return v;
      }
    }
  }
  int64_t floor_div(int64_t a, int64_t b) const {
    if (b == 0) fail(exit_bad_input, "the extent ", text_, " divides by zero");
    return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
  }
  int64_t factor() {
    const char c = peek();
    if (c == '-') {
      ++at_;
      return -factor();
    }
    if (c == '(') {
      ++at_;
      const int64_t v = sum();
      expect(')');
      return v;
    }
    if (is_digit(c)) {
      int64_t v = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
      if (error != std::errc{}) overflow();
      at_ = static_cast<size_t>(end - text_.data());
      return v;
    }
    if (c == '"') return value_(quoted());
    const size_t end = std::min(text_.find_first_of(" ,()[]+-*/%\"", at_), text_.size());
    const std::string name(text_.substr(at_, end - at_));
    if (name.empty()) bad();
    at_ = end;
    return at_ < text_.size() && text_[at_] == '(' ? call(name) : value_(name);
  }
  std::string quoted() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) out += text_[at_];
    }
    expect('"');
    return out;
  }
  int64_t call(const std::string& function) {
    expect('(');
    std::vector<int64_t> v{sum()};
    while (take(',')) v.push_back(sum());
    expect(')');
    if (function == "ceil_div" && v.size() == 2) return -floor_div(-v[0], v[1]);
    if (function == "min") return *std::ranges::min_element(v);
    if (function == "max") return *std::ranges::max_element(v);
    if (function != "bcast") bad();
    const auto wide = std::ranges::find_if(v, [](int64_t extent) { return extent != 1; });
    return wide == v.end() ? 1 : *wide;
  }

  std::string_view text_;
  const std::function<int64_t(const std::string&)>& value_;
  size_t at_ = 0;
};

}  // namespace

std::vector<std::string_view> split_shape(std::string_view text) {
  std::vector<std::string_view> out;
  if (text.size() <= 2) return out;
  text = text.substr(1, text.size() - 2);
  size_t begin = 0;
  int depth = 0;
  bool in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes && c == '\\') ++i;
    else if (c == '"') in_quotes = !in_quotes;
    else if (in_quotes) continue;
    else if (c == '(') ++depth;
    else if (c == ')') --depth;
    else if (c == ',' && depth == 0) {
      out.push_back(text.substr(begin, i - begin));
      begin = std::min(text.find_first_not_of(' ', i + 1), text.size());
    }
  }
  out.push_back(text.substr(begin));
  return out;
}

std::string plain_symbol(std::string_view extent) {
  if (extent.empty() || is_digit(extent[0])) return {};
  if (extent[0] != '"')
    return extent.find_first_of(" ,()+-*/%\"") == std::string_view::npos ? std::string(extent) : std::string();
  // Quoted from end to end: the only symbol, and nothing else that could be evaluated.
  std::string name;
  int count = 0;
  const std::function<int64_t(const std::string&)> note = [&](const std::string& s) {
    name = s;
    ++count;
    return 1;
  };
  Parser(extent, note).run();
  return count == 1 && extent.back() == '"' ? name : std::string();
}

void visit_symbols(std::string_view shape, const std::function<void(const std::string&)>& found) {
  const std::function<int64_t(const std::string&)> one = [&](const std::string& s) {
    found(s);
    return 1;
  };
  for (const std::string_view extent : split_shape(shape)) {
    // Ones may make a divisor zero ("N/(B-1)"): the symbols before it were seen.
    try {
      Parser(extent, one).run();
    } catch (const ToolError& e) {
      if (e.exit != exit_bad_input) throw;
    }
  }
}

std::vector<int64_t> evaluate_shape(std::string_view shape, const Symbols& symbols) {
  std::vector<int64_t> out;
  const std::function<int64_t(const std::string&)> value = [&](const std::string& s) {
    const auto at = symbols.find(s);
    if (at == symbols.end())
      fail(exit_usage, "the extent ", s, " of ", shape, " has no value; give it as --shape ", s, "=NUMBER");
    return at->second;
  };
  for (const std::string_view extent : split_shape(shape)) {
    out.push_back(Parser(extent, value).run());
    if (out.back() < 0) fail(exit_bad_input, "the extent ", extent, " is ", out.back(), ", which is negative");
  }
  return out;
}

void parse_binding(const std::string& text, Symbols& symbols) {
  const size_t equals = text.rfind('=');
  int64_t value = -1;
  if (equals != std::string::npos && equals > 0) {
    const auto [end, error] = std::from_chars(text.data() + equals + 1, text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) value = -1;
  }
  if (value < 0) fail(exit_usage, "--shape ", text, ": expected SYMBOL=NUMBER, the number from 0 to 2^63-1");
  const auto [at, added] = symbols.emplace(text.substr(0, equals), value);
  if (!added && at->second != value)
    fail(exit_usage, "--shape ", at->first, " is given as ", at->second, " and as ", value);
}

void check_known(const Symbols& given, const Symbols& known) {
  std::string names;
  for (const auto& [name, unused] : known) names += (names.empty() ? "" : ", ") + name;
  for (const auto& [name, value] : given)
    if (!known.contains(name))
      fail(exit_usage, "--shape ", name, "=", value, ": no input has the extent ", name, "; there are ",
           names.empty() ? "none" : names);
}

}  // namespace ingot::tool
