// JSON text, written as it comes. In the library instead of a JSON type with a tree of its own: those allocate in their
// destructors, which memory that has run out does not forgive, and give up on text that is no UTF-8.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace ingot::engine {

// begin_*() and end() balance; a key is given for what stands in an object, "" in an array. No nesting check.
class JsonWriter {
 public:
  void begin_object(std::string_view key = {}) { begin(key, '{'); }
  void begin_array(std::string_view key = {}) { begin(key, '['); }
  void end();
  void field(std::string_view key, std::string_view value);
  void field(std::string_view key, const char* value) { field(key, std::string_view(value)); }
  void field(std::string_view key, std::integral auto value) { raw(key, cat(value)); }
  void null(std::string_view key) { raw(key, "null"); }

  std::string take() { return std::move(text_); }

 private:
  void begin(std::string_view key, char bracket);
  void raw(std::string_view key, std::string_view value);
  void next(std::string_view key);  // the comma, line and key before a value
  void string(std::string_view text);

  std::string text_;
  std::string open_;  // closing brackets owed, innermost last
  bool first_ = true;
};

}  // namespace ingot::engine
