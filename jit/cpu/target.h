// What the emitter and the code generator need to know of a target. Features are spelled out and the CPU is LLVM's
// generic one, so that the code depends on the level alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::jit {

struct Target {
  const char* name;  // as in ModuleRequest::target
  const char* triple;
  const char* features;
  unsigned register_bytes;  // the vector width that code is made for, at most
  unsigned registers;
  bool x86;
  bool fma;         // else fma is made of exact pieces
  bool f16c;        // f16 from and to f32 are instructions
  bool masks;       // comparisons give mask registers (AVX-512), so booleans stay <n x i1>
  bool int64_conv;  // vector conversions between 64-bit integers and f64 are instructions
};

// nullptr if the name is not that of a target.
const Target* find_target(std::string_view name) noexcept;

}  // namespace ingot::jit
