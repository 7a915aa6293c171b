// The op table for tools and docs.
#pragma once

#include <string>

namespace ingot::ir {

// {"schema": 1, "ops": [{"name", "number", "class", "operands": [min, max], "dtypes", "attributes", "doc"}, ...]}, one
// op a line, in the order of their numbers. Only grows.
std::string op_table_json();

// docs/ops.md: a table per class, in Markdown.
std::string op_table_markdown();

}  // namespace ingot::ir
