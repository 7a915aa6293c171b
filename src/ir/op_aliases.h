// What other array languages call things, for messages about unknown ops.
#pragma once

#include <string>
#include <string_view>

namespace ingot::ir {

// The end of a message about an op that does not exist: the op that NumPy's or PyTorch's name stands for, else one
// spelled nearly so, else nothing. Begins with punctuation.
std::string op_hint(std::string_view name);

}  // namespace ingot::ir
