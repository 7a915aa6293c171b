// What an artifact is stored under.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace ingot::cache {

// The full key bytes and their hash. The hash only finds a candidate: every level stores the bytes too and compares them
// on each hit, so two keys with one hash are two entries in memory, and a miss (then an overwrite) on disk.
struct Key {
  std::vector<uint8_t> bytes;
  Hash128 hash;

  static Key of(std::vector<uint8_t> bytes) {
    const Hash128 hash = hash128(bytes);
    return {std::move(bytes), hash};
  }
  friend bool operator==(const Key&, const Key&) = default;
};

// The bytes [first, last) that hold all differences of two keys, for saying why a key missed. Where one is longer, its
// surplus counts as different; equal keys give {0, 0}.
struct KeyDifference {
  size_t first = 0;
  size_t last = 0;
};
inline KeyDifference difference(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  const size_t common = a.size() < b.size() ? a.size() : b.size();
  size_t first = 0;
  while (first < common && a[first] == b[first]) ++first;
  if (a.size() != b.size()) return {first, a.size() + b.size() - common};
  size_t last = common;
  while (last > first && a[last - 1] == b[last - 1]) --last;
  return first == last ? KeyDifference{} : KeyDifference{first, last};
}

}  // namespace ingot::cache
