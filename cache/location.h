// Where the disk cache lives when nobody says.
#pragma once

#include <optional>
#include <string>

namespace ingot::cache {

// $XDG_CACHE_HOME/ingot, else $HOME/.cache/ingot, else nothing. Values that are empty or relative count as unset, so
// that nothing is found through the working directory; in a set-user-id process all do. Reads the environment, so not
// beside a setenv().
std::optional<std::string> default_directory();

}  // namespace ingot::cache
