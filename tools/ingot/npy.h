// NumPy's .npy files, versions 1 to 3, little-endian, in C or Fortran order.
#pragma once

#include <string>
#include <string_view>

#include "array.h"

namespace ingot::tool {

// `name` is the file in messages. `wanted` resolves raw bytes ('V2' is bf16, 'V1' an fp8), which numpy has no dtype for; 0 accepts none.
Array read_npy(std::string_view bytes, const std::string& name, ingot_dtype wanted);
// Version 1, C order. `path` may be "-".
void write_npy(const Array& array, const std::string& path);

}  // namespace ingot::tool
