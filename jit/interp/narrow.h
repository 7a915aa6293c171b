// f16, bf16 and fp8 from and to f32 by integer operations, which the compiler vectorises; _Float16 and __bf16 are not
// for every machine, and where they are missing become calls.
#pragma once

#include "jit/interp/lanes.h"

namespace ingot::jit::interp {
namespace {

// A binary float of `exp` and `man` bits, kept in an unsigned integer S. `most` is what overflow becomes: infinity, or
// where the format saturates its largest value. `nan` is the canonical NaN.
template <class S, unsigned exp, unsigned man, uint32_t most, uint32_t nan>
struct Narrow {
  using Bits = S;
  static constexpr uint32_t bias = (1u << (exp - 1)) - 1;
  static constexpr uint32_t magnitude = (1u << (exp + man)) - 1;
  // The exponent that stands for infinity and NaN; e4m3 has numbers there, and only its last one is NaN.
  static constexpr uint32_t special = nan == magnitude ? magnitude : ((1u << exp) - 1) << man;

  static float widen(uint32_t v) {
    const uint32_t mag = v & magnitude;
    // Rebiased by a multiplication in f32, which also makes subnormals right (exact: a power of two).
    const float scaled = bits_as<float>(mag << (23 - man)) * bits_as<float>((254 - bias) << 23);
    const uint32_t top = 0x7F800000u | (nan == magnitude ? 0x400000u : mag << (23 - man));
    const uint32_t bits = mag >= special ? top : bits_as<uint32_t>(scaled);
    return bits_as<float>(bits | (v >> (exp + man)) << 31);
  }

  static S narrow(float x) {
    const uint32_t v = bits_as<uint32_t>(x);
    const uint32_t mag = v & 0x7FFFFFFFu;
    // Normal: rounding carries into the exponent.
    const uint32_t odd = (mag >> (23 - man)) & 1;
    const uint32_t up = (mag + ((1u << (22 - man)) - 1) + odd) >> (23 - man);
    const uint32_t normal = up - ((127 - bias) << man);
    // Subnormal: adding 2^k makes the hardware round at the right bit.
    const float magic = bits_as<float>((127 + 23 + 1 - bias - man) << 23);
    const uint32_t low = bits_as<uint32_t>(bits_as<float>(mag) + magic) - bits_as<uint32_t>(magic);
    const uint32_t finite = mag < (128 - bias) << 23 ? low : normal < most ? normal : most;
    return static_cast<S>(mag > 0x7F800000u ? nan : finite | (v >> 31) << (exp + man));
  }
};

using F16 = Narrow<uint16_t, 5, 10, 0x7C00, 0x7E00>;
using F8E5M2 = Narrow<uint8_t, 5, 2, 0x7B, 0x7E>;
using F8E4M3 = Narrow<uint8_t, 4, 3, 0x7E, 0x7F>;

// The upper half of an f32.
struct BF16 {
  using Bits = uint16_t;
  static float widen(uint32_t v) { return bits_as<float>(v << 16); }
  static uint16_t narrow(float x) {
    const uint32_t v = bits_as<uint32_t>(x);
    const uint32_t rounded = (v + 0x7FFFu + ((v >> 16) & 1)) >> 16;
    return static_cast<uint16_t>((v & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : rounded);
  }
};

}  // namespace
}  // namespace ingot::jit::interp
