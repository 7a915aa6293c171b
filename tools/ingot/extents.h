// Symbolic extents as the library prints them ("[B, 2*N+1, ceil_div(B, 4)]"), evaluated for given symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::tool {

using Symbols = std::map<std::string, int64_t, std::less<>>;

// "[a, b]" cut at its commas: the text of each extent.
std::vector<std::string_view> split_shape(std::string_view text);
// The name if the extent's text is one symbol alone ("B", "\"any name\""); "" otherwise.
std::string plain_symbol(std::string_view extent);
// Calls `found` with each symbol that the text of a shape mentions, as often as it does.
void visit_symbols(std::string_view shape, const std::function<void(const std::string&)>& found);
// The extents of a shape's text. Every symbol in it must have a value.
std::vector<int64_t> evaluate_shape(std::string_view shape, const Symbols& symbols);
// "B=64" of the command line.
void parse_binding(const std::string& text, Symbols& symbols);
// Refuses what was given for a symbol that no input has.
void check_known(const Symbols& given, const Symbols& known);

}  // namespace ingot::tool
