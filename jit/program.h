// A kernel ready to launch: its IR, its schedule, and a body that executes its sweeps.
#pragma once

#include <memory>

#include "jit/frame.h"
#include "loop/schedule.h"

namespace ingot::jit {

// Executes sweeps. Immutable and free-threaded: one body serves any number of concurrent launches.
class Body {
 public:
  virtual ~Body() = default;
  virtual void sweep(unsigned index, const Frame& frame) const noexcept = 0;
  // The row nodes and row stores (Schedule::row_stores), once per row; in mode row never called.
  virtual void row(const Frame& frame) const noexcept = 0;
  // False for the interpreter, which ignores frame_stream.
  virtual bool compiled() const noexcept = 0;
  // What a call needs at Frame::scratch. Emitted code keeps its values in registers.
  virtual size_t scratch_bytes() const noexcept { return 0; }
};

struct Program {
  loop::Kernel kernel;
  loop::Schedule schedule;
};

}  // namespace ingot::jit
