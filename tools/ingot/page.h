// The HTML page of `ingot explain`.
#pragma once

#include <optional>
#include <string>

#include "plan.h"

namespace ingot::tool {

struct Explained {
  Plan fused, unfused;
  std::optional<Symbols> symbols;        // with them, bytes and operations are shown for these sizes
  std::optional<nlohmann::json> device;  // describe "device" of the fused one
};

// Self-contained: no script, no outside resource.
std::string explain_page(const Explained& explained);

}  // namespace ingot::tool
