#include "engine/pack.h"

#include "capi/handles.h"

using namespace ingot;

extern "C" {

ingot_status* ingot_executable_pack(ingot_executable* const* executables, size_t n_executables,
                                    const char* const* targets, size_t n_targets, ingot_buffer** out) {
  return capi::guarded([&] {
    std::vector<engine::Executable*> engines;
    for (ingot_executable* const e : capi::list(executables, n_executables, "executables"))
      engines.push_back(capi::need(e, "an executable").executable.get());
    std::vector<std::string> names;
    for (const char* const target : capi::list(targets, n_targets, "targets"))
      names.emplace_back(&capi::need(target, "a target"));
    capi::need(out, "out");
    const std::vector<uint8_t> bytes = engine::make_pack(engines, names);
    auto buffer = std::make_unique<ingot_buffer>();
    buffer->bytes.assign(bytes.begin(), bytes.end());
    *out = buffer.release();
  });
}

}  // extern "C"
