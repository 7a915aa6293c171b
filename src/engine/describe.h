// What an executable is, as text: for dumps, bug reports and `ingot explain`. Nothing here is on a run's path.
#pragma once

#include <string>
#include <string_view>

#include "engine/executable.h"

namespace ingot::engine {

// `what` is one of
//   source    the graph as given, in the text form
//   graph     the graph after the passes
//   fusion    which ops make which kernel, and why values between kernels are stored
//   kernel    kernel IR and schedule of each distinct kernel
//   llvm asm  what the compiler module makes of them, for the executable's target
//   artifact  the artifact's bytes
//   cuda      generated CUDA C++
//   cubin     the same compiled by NVRTC for the executable's target, such as sm_90
//   device    what CUDA devices there are and what the kernels take there, as JSON; "device/N=1000,M=3", with a value
//             for every symbol, says how each is launched, too
//   json      {"schema": 1, ...}: graph, kernels, edges, counts; it only grows
// For all of kernel to cubin "/N" picks one distinct kernel; artifact and cubin need it where there are several. Throws
// invalid_argument for any other word, unavailable where a compiler is needed and there is none.
std::string describe(const Executable& executable, std::string_view what);

}  // namespace ingot::engine
