// The HTML page of `ingot explain`.
#pragma once

#include <optional>
#include <string>

#include "plan.h"

namespace ingot::tool {

// Self-contained: no script, no outside resource. With symbols, bytes are shown for these sizes.
std::string explain_page(const Plan& fused, const Plan& unfused, const std::optional<Symbols>& symbols);

}  // namespace ingot::tool
