// The contract with compiler modules (libingot_cpu.so): canonical kernel-IR bytes and a target go in, artifact bytes
// come out. A C interface of plain data, since the module is opened with dlopen and links nothing of libingot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jit/frame.h"

namespace ingot::jit {

// Format numbers compiled into both sides; a module whose stamp differs is refused.
struct ModuleStamp {
  uint32_t abi;              // of this header
  uint32_t kernel_format;    // loop/bytes
  uint32_t artifact_format;  // jit/image/artifact.h
  uint32_t frame;            // jit/frame.h
  uint32_t codegen;          // raised whenever emitted code changes meaning or quality
};
inline constexpr ModuleStamp module_stamp = {2, 1, 1, frame_version, 3};

// Where the module puts what it made. Both may be called at most once per compile, on any thread.
struct ModuleSink {
  void* user;
  void (*artifact)(void* user, const uint8_t* bytes, size_t size);
  void (*error)(void* user, int32_t code, const char* message, size_t size);
};

struct ModuleRequest {
  const uint8_t* kernel;  // canonical bytes
  size_t kernel_size;
  const char* target;  // "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"; NUL-terminated
  uint32_t emit;       // 0 artifact, 1 LLVM IR text, 2 assembly text
  uint32_t flags;      // module_no_thread; a flag that changed the code would enter the key too
};
// The compile makes no thread and runs on a large stack of its own on the caller's.
inline constexpr uint32_t module_no_thread = 1;

// The one entry, exported as `ingot_cpu_module`; never throws; free-threaded. Returns false for a stamp it does not
// serve.
struct ModuleApi {
  ModuleStamp stamp;
  void (*compile)(const ModuleRequest* request, const ModuleSink* sink);
};
using ModuleEntry = const ModuleApi* (*)();

}  // namespace ingot::jit
