// Where a library that dlopen() gave lies.
#pragma once

#include <string>

namespace ingot {

// The path under which the loader knows it; empty where it does not tell.
std::string loaded_path(void* handle);

}  // namespace ingot
