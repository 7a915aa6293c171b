// What the code of a step on a device is made of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuse/plan.h"
#include "loop/kernel.h"

namespace ingot::engine {

struct DeviceSource {
  std::vector<uint8_t> identity;  // a kernel's canonical bytes; the text itself where there is no kernel
  bool is_text = false;
  std::vector<const char*> entries;  // in the order of the text
  std::string text() const;          // CUDA C++
};

// `bytes` are the kernel's canonical ones.
DeviceSource source_of(const loop::Kernel& kernel, std::span<const uint8_t> bytes);
DeviceSource source_of(const loop::Routine& routine);
// What every executable has beside: a run may have to keep any tensor apart.
DeviceSource copier_source();

}  // namespace ingot::engine
