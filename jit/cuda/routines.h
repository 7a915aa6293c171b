// CUDA C++ for the steps of a plan that are no kernels (loop::Routine): what they do is that of src/runtime/routines.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "jit/cuda/launch_plan.h"
#include "loop/binding.h"

namespace ingot::jit::cuda {

// One self-contained translation unit; the same for all routines of the same op and types.
std::string routine_text(const loop::Routine& routine);
std::vector<const char*> routine_entries(const loop::Routine& routine);

// The one parameter of the entries, struct Args of the text.
struct RoutinePlace {
  uint64_t data = 0;
  int64_t extent[loop::max_axes] = {}, stride[loop::max_axes] = {};  // strides in bytes
  int64_t rank = 0;
};
struct RoutineArgs {
  RoutinePlace operand[3], result;  // in the order of the step's views
  int64_t axis = 0;
  uint64_t fault = 0;  // address of a jit::Fault
};

LaunchPlan plan_routine(const loop::Routine& routine, const RoutineArgs& args, const DeviceLimits& limits);

}  // namespace ingot::jit::cuda
