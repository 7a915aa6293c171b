#include "engine/device_source.h"

#include "jit/cuda/copy.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/launch_plan.h"
#include "jit/cuda/routines.h"

namespace ingot::engine {

std::string DeviceSource::text() const {
  if (is_text) return {identity.begin(), identity.end()};
  return jit::emit_cuda(loop::decode(identity.data(), identity.size()));
}

DeviceSource source_of(const loop::Kernel& kernel, std::span<const uint8_t> bytes) {
  return {{bytes.begin(), bytes.end()}, false, jit::cuda::entry_names(kernel)};
}

DeviceSource source_of(const loop::Routine& routine) {
  const std::string text = jit::cuda::routine_text(routine);
  return {{text.begin(), text.end()}, true, jit::cuda::routine_entries(routine)};
}

DeviceSource copier_source() {
  const std::string text = jit::cuda::copy_text();
  return {{text.begin(), text.end()}, true, jit::cuda::copy_entries()};
}

}  // namespace ingot::engine
