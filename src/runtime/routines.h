// What the steps without a kernel do (loop::Routine).
#pragma once

#include <span>

#include "jit/frame.h"
#include "loop/binding.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

struct RoutineTensor {
  Place place;
  ir::DType type;
};

// `tensors` are the operands, then the result, which overlaps none of them. Indices count from the end if they are
// negative; the first that is out of range ends the routine, with some of the result written. Default floating-point
// environment.
// Of `options` they look at `parallel` and, between pieces of a gather, at `cancel`: the caller asks again whether it
// is set. `forks` counts how often they hand work to several threads.
jit::Fault run_routine(const loop::Routine& routine, std::span<const RoutineTensor> tensors, const RunOptions& options,
                       uint64_t& forks) noexcept;

// That of op_gather (gather.cpp): data, indices, result.
jit::Fault gather(const loop::Routine& routine, std::span<const RoutineTensor> tensors, const RunOptions& options,
                  uint64_t& forks) noexcept;

// Any other byte than 0 is true; a result holds 0 and 1.
void make_booleans(const Place& p);

}  // namespace ingot::runtime
