// The text form of graphs (ABI.md): prints and parses back to an equal graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace ingot::ir {

// The lowest minor version that the content needs is printed in the first line.
std::string print(const Graph& graph);

// Per value: the name that print() gives it, "%x" or "%12". Of a scalar that is written in place the name means
// nothing.
std::vector<std::string> printed_names(const Graph& graph);

// Returns a sealed graph. Throws invalid_argument "line:column: what is wrong, what was expected". Any bytes are safe
// input.
Graph parse(std::string_view text);

}  // namespace ingot::ir
