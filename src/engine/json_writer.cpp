#include "engine/json_writer.h"

#include <algorithm>

#include "ir/utf8.h"

namespace ingot::engine {

void JsonWriter::begin(std::string_view key, char bracket) {
  next(key);
  text_ += bracket;
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
}

void JsonWriter::end() {
  const char bracket = open_.back();
  open_.pop_back();
  if (!first_) {
    text_ += '\n';
    text_.append(open_.size(), ' ');
  }
  text_ += bracket;
  first_ = false;
}

void JsonWriter::field(std::string_view key, std::string_view value) {
  next(key);
  string(value);
}

void JsonWriter::raw(std::string_view key, std::string_view value) {
  next(key);
  text_ += value;
}

void JsonWriter::next(std::string_view key) {
  if (!first_) text_ += ',';
  if (!open_.empty()) {
    text_ += '\n';
    text_.append(open_.size(), ' ');
  }
  first_ = false;
  if (key.empty()) return;
  string(key);
  text_ += ": ";
}

void JsonWriter::string(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  text_ += '"';
  while (!text.empty()) {
    const size_t good = std::min(ir::find_bad_utf8(text), text.size());
    for (const char c : text.substr(0, good)) {
      const auto code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (c == '\n') {
        text_ += "\\n";
      } else if (code < 0x20) {
        text_ += "\\u00";
        text_ += digits[code >> 4];
        text_ += digits[code & 15];
      } else {
        text_ += c;
      }
    }
    if (good == text.size()) break;
    text_ += "\\ufffd";  // the replacement character, for a byte that is no UTF-8
    text.remove_prefix(good + 1);
  }
  text_ += '"';
}

}  // namespace ingot::engine
