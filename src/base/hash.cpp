#include "base/hash.h"

#define XXH_INLINE_ALL  // keeps the library's symbols out of libingot
#include <xxhash.h>

namespace ingot {

std::string Hash128::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out(32, '0');
  for (size_t i = 0; i < 16; ++i) {
    out[15 - i] = digits[(high >> (4 * i)) & 15];
    out[31 - i] = digits[(low >> (4 * i)) & 15];
  }
  return out;
}

Hash128 hash128(std::span<const uint8_t> bytes) noexcept {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Hash128 hash128(std::initializer_list<std::span<const uint8_t>> parts) noexcept {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const auto part : parts) XXH3_128bits_update(&state, part.data(), part.size());
  const XXH128_hash_t h = XXH3_128bits_digest(&state);
  return {h.low64, h.high64};
}

uint64_t hash64(const void* data, size_t size, uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, size, seed);
}

}  // namespace ingot
