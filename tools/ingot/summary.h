// One line that tells an output apart from another: dtype, shape, statistics, first values and a checksum of its bits.
#pragma once

#include <string>

#include "array.h"

namespace ingot::tool {

// "y: f32[2, 3] min -1 max 2 mean 0.5 [0.1, 0.2, ...] fnv1a64 0123456789abcdef". The checksum is FNV-1a, 64 bits, over the bytes.
std::string summary(const std::string& name, const Array& array);

}  // namespace ingot::tool
