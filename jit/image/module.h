// Finds, opens and calls the CPU compiler module. Only a miss gets here: what is in a cache needs no compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/backend.h"

namespace ingot::jit {

// The path of libingot_cpu.so: `directory` alone if it is not empty (it must be absolute), else beside libingot, else
// in the installed libdir; never through the working directory. Throws unavailable with every place tried.
std::string find_module(const std::string& directory);

// The GNU build-id of an ELF file in lower-case hex, read from its notes; nothing is loaded. Throws unavailable.
std::string module_build_id(const std::string& path);

// The opened module; it stays in the process. Free-threaded.
class Module {
 public:
  // Throws unavailable if it cannot be opened, has another stamp than this library, or if what was loaded does not have
  // the build-id `expected` (the file was replaced since the id went into a key).
  static std::shared_ptr<const Module> open(const std::string& path, const std::string& expected);

  // Canonical kernel bytes to artifact bytes, or with `emit` 1 and 2 to the text of the LLVM IR or assembly. Blocks;
  // concurrent calls compile in parallel. Throws what the module reports: invalid_argument, unimplemented, unavailable
  // (LLVM has failed; the module is disabled for good), internal. `flags` are the module's (jit/backend.h).
  std::vector<uint8_t> compile(std::span<const uint8_t> kernel, std::string_view target, uint32_t emit = 0,
                               uint32_t flags = 0) const;

 private:
  explicit Module(const ModuleApi* api) : api_(api) {}
  const ModuleApi* api_;
};

}  // namespace ingot::jit
