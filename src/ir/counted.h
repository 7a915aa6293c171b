// "1 operand", "2 operands": numbers in messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ingot::ir {

inline std::string counted(uint64_t n, std::string_view one, std::string_view many) {
  return cat(n, ' ', n == 1 ? one : many);
}
inline std::string counted(uint64_t n, std::string_view noun) { return counted(n, noun, cat(noun, 's')); }

}  // namespace ingot::ir
