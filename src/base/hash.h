// XXH3 behind one header: keys and checksums all go through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace ingot {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  // 32 lower-case hex digits, high word first.
  std::string hex() const;
};

Hash128 hash128(std::span<const uint8_t> bytes) noexcept;
// The hash of the parts' concatenation, without concatenating them.
Hash128 hash128(std::initializer_list<std::span<const uint8_t>> parts) noexcept;
uint64_t hash64(const void* data, size_t size, uint64_t seed = 0) noexcept;

}  // namespace ingot
