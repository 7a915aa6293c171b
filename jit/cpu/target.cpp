#include "jit/cpu/target.h"

namespace ingot::jit {

namespace {
#define INGOT_V2 "+64bit,+cmov,+cx8,+cx16,+fxsr,+popcnt,+sahf,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2"
#define INGOT_V3 INGOT_V2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
#define INGOT_V4 INGOT_V3 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"

constexpr Target targets[] = {
    {"x86-64-v2", "x86_64-unknown-linux-gnu", INGOT_V2, 16, 16, true, false, false, false, false},
    {"x86-64-v3", "x86_64-unknown-linux-gnu", INGOT_V3, 32, 16, true, true, true, false, false},
    {"x86-64-v4", "x86_64-unknown-linux-gnu", INGOT_V4, 64, 32, true, true, true, true, true},
    {"aarch64", "aarch64-unknown-linux-gnu", "+neon,+fp-armv8", 16, 32, false, true, false, false, true},
};
}  // namespace

const Target* find_target(std::string_view name) noexcept {
  for (const Target& t : targets)
    if (name == t.name) return &t;
  return nullptr;
}

}  // namespace ingot::jit
