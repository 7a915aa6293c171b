// UTF-8 and quoted names of the text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ingot::ir {

// Offset of the first byte that is not part of well-formed UTF-8 (no overlong forms, no surrogates), or npos.
size_t find_bad_utf8(std::string_view text) noexcept;

// Code points, for columns; `text` is well-formed.
size_t count_code_points(std::string_view text) noexcept;

// Appends code point c, which is at most 0x10ffff and no surrogate.
void append_utf8(std::string& out, char32_t c);

// The first `bytes` bytes at most, cut between code points: for messages.
std::string_view shortened(std::string_view text, size_t bytes = 64) noexcept;

// "text" with quotes, backslashes and control characters escaped as the text form writes them.
std::string quoted(std::string_view text);

// Letters, digits, '_' and '.', not beginning with a digit: written without quotes.
bool is_identifier(std::string_view text) noexcept;

// The identifier, or the quoted text.
std::string name_or_quoted(std::string_view text);

}  // namespace ingot::ir
