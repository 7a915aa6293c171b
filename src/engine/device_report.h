// What an executable takes of a CUDA device, as JSON: registers, shared memory, occupancy; and what devices there are.
#pragma once

#include <string>

#include "engine/executable.h"

namespace ingot::engine {

// describe's "device". Gets the code of every kernel. Without a driver or NVRTC it says so and what it can.
std::string device_report(const Executable& executable);

}  // namespace ingot::engine
