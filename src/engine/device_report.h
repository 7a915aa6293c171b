// What an executable takes of a CUDA device, as JSON: registers, shared memory, occupancy; and what devices there are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/executable.h"

namespace ingot::engine {

// describe's "device". Gets the code of every kernel. Without a driver or NVRTC it says so and what it can. `sizes`: a
// value for each symbol, as "N=1000,M=3"; then each step has its launches, where there is a device.
std::string device_report(const Executable& executable, std::optional<std::string_view> sizes);

}  // namespace ingot::engine
