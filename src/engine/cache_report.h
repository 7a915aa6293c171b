// The disk cache seen from outside, as JSON: what `ingot cache` and `ingot doctor` print.
#pragma once

#include <string>
#include <string_view>

#include "engine/context.h"

namespace ingot::engine {

// `command`: "list", "verify", "clear" or "info"; see ingot_context_cache in the public header. Safe beside any other
// user of the directory. Throws invalid_argument for another word.
std::string cache_report(Context& context, std::string_view command);

}  // namespace ingot::engine
