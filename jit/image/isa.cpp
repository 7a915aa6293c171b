#include "jit/image/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <iterator>

namespace ingot::jit {

namespace {

constexpr std::string_view x86_levels[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};
constexpr std::string_view aarch64_levels[] = {"aarch64"};

// 2, 3 or 4 for an x86-64 level, else 0.
int x86_level(std::string_view name) noexcept {
  for (size_t i = 0; i < std::size(x86_levels); ++i)
    if (name == x86_levels[i]) return 4 - static_cast<int>(i);
  return 0;
}

#if defined(__x86_64__)
bool has(uint32_t reg, uint32_t bits) { return (reg & bits) == bits; }

// Which register states the system saves. By instruction bytes, since the intrinsic needs -mxsave.
uint32_t xcr0() {
  uint32_t low, high;
  __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

std::string_view find_host() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return {};
  const uint32_t features1 = c;
  if (!has(c, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B)) return {};
  uint32_t extended = 0;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) extended = c;
  if (!has(extended, bit_LAHF_LM)) return {};

  if (!has(features1, bit_OSXSAVE | bit_AVX | bit_F16C | bit_FMA | bit_MOVBE)) return "x86-64-v2";
  const uint32_t state = xcr0();
  constexpr uint32_t avx_state = 0x6;      // XMM, YMM
  constexpr uint32_t avx512_state = 0xE6;  // and the mask registers, upper halves, ZMM16..31
  if (!has(state, avx_state)) return "x86-64-v2";
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return "x86-64-v2";
  if (!has(b, bit_AVX2 | bit_BMI | bit_BMI2) || !has(extended, bit_LZCNT)) return "x86-64-v2";
  if (!has(b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)) return "x86-64-v3";
  return has(state, avx512_state) ? "x86-64-v4" : "x86-64-v3";
}
#elif defined(__aarch64__)
std::string_view find_host() { return "aarch64"; }
#else
std::string_view find_host() { return {}; }
#endif

}  // namespace

std::string_view host_target() noexcept {
  static const std::string_view found = find_host();
  return found;
}

bool can_run(std::string_view host, std::string_view target) noexcept {
  if (target == "aarch64") return host == target;
  return x86_level(target) != 0 && x86_level(target) <= x86_level(host);
}

std::span<const std::string_view> targets_below(std::string_view target) noexcept {
  if (target == aarch64_levels[0]) return aarch64_levels;
  const int level = x86_level(target);
  if (level == 0) return {};
  return std::span(x86_levels).subspan(static_cast<size_t>(4 - level));
}

}  // namespace ingot::jit
