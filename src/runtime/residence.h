// What an executor keeps in a CUDA context: its kernels as functions, its constants, and a place for what goes wrong.
#pragma once

#include "runtime/executor.h"

namespace ingot::runtime {

struct Residence {
  uint64_t id = 0;                                       // Scope::id()
  std::vector<const device::FunctionHandle*> functions;  // per step
  const device::FunctionHandle* copier = nullptr;        // for whatever a run has to keep apart
  std::unique_ptr<device::Memory> block;                 // the faults, then the constants
  std::vector<device::Address> constants;
  std::unique_ptr<Residence> older;
};

// What lies in one block of device memory begins at multiples of this.
constexpr size_t device_alignment = 256;
constexpr size_t device_aligned(size_t n) { return (n + device_alignment - 1) / device_alignment * device_alignment; }

// Where the faults of a step begin in a block of them: three words a step (jit::Fault).
constexpr size_t fault_bytes = sizeof(jit::Fault);

}  // namespace ingot::runtime
