// Where the disk cache is, for looking at it without making it: opening a cache makes its directory.
#pragma once

#include <string>

#include "session.h"

namespace ingot::tool {

// Where the library would keep its entries; empty for nowhere. The library refuses or ignores relative values of the
// variables, and says so itself.
std::string directory_of(const EngineOptions& options);
// Whether there is nothing at the path.
bool is_missing(const std::string& path);

}  // namespace ingot::tool
