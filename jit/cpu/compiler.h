// Kernel bytes to artifact bytes, on the calling thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ingot::jit {

enum class Emit : uint32_t { artifact = 0, llvm = 1, assembly = 2 };

// Throws Error. Uses no state but LLVM's own: any number of threads may compile at once after init_codegen().
std::vector<uint8_t> compile_kernel(std::span<const uint8_t> kernel, std::string_view target, Emit emit);

}  // namespace ingot::jit
