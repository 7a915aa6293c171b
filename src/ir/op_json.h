// The op table for tools and docs.
#pragma once

#include <string>
#include <string_view>

namespace ingot::ir {

// {"schema": 1, "ops": [{"name", "number", "class", "operands": [min, max], "dtypes", "attributes", "doc", "example"},
// ...]}, one op a line, in the order of their numbers. Only grows.
std::string op_table_json();

// The inputs of a graph in which every op's example is a statement: "%x: f32[B, N], ...".
std::string_view example_inputs();

// docs/ops.md: a table per class, in Markdown.
std::string op_table_markdown();

}  // namespace ingot::ir
