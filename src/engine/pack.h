// Packs: the code of whole executables as one file's bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/executable.h"

namespace ingot::engine {

// The bytes (cache/pack.h) of a pack with every kernel of the executables for each target; without targets, for each
// executable's own. Code in no cache is compiled, several kernels at once, and put there. Throws invalid_argument for
// no executable, executables of different contexts, or a name that is no CPU target; else what compiling throws.
std::vector<uint8_t> make_pack(std::span<Executable* const> executables, std::span<const std::string> targets);

}  // namespace ingot::engine
