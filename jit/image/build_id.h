// The build-id of a loaded object; that of a file is module_build_id() in module.h.
#pragma once

#include <string>

namespace ingot::jit {

// In lower-case hex, of the loaded ELF object that holds `address`; empty if it has none.
std::string loaded_build_id(const void* address);

}  // namespace ingot::jit
