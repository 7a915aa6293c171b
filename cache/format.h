// The bytes of one stored entry: a header, the key, the blob. Pinned by a golden test; a change is a new version.
//
//   0  8  "INGOTART"
//   8  4  format version, u32
//  12  4  zero
//  16 16  XXH3-128 of everything after it (low word, high word)
//  32  8  key length, u64
//  40  8  blob length, u64
//  48     key, blob, and nothing after
//
// All little-endian. What the checksum does not cover must have one value, so no bit of an entry can flip unnoticed.
#pragma once

#include <array>
#include <optional>

#include "cache/store.h"

namespace ingot::cache {

inline constexpr size_t entry_header_size = 48;
inline constexpr uint32_t entry_format_version = 1;

struct EntryParts {
  std::span<const uint8_t> key;
  std::span<const uint8_t> blob;
};
struct EntrySizes {
  uint64_t key = 0;
  uint64_t blob = 0;
};

std::array<uint8_t, entry_header_size> entry_header(const EntryParts& parts);
// The whole entry in one piece.
Blob encode_entry(const EntryParts& parts);

// The lengths a header states, checked against the size of what it heads, before anything is allocated by them.
// Nothing, and `fault` says why in static storage, if it is no header or the lengths do not add up.
std::optional<EntrySizes> check_header(std::span<const uint8_t> header, uint64_t entry_size, const char*& fault);

// An entry found whole; the parts are views into its bytes, and stay so when it is moved.
struct Entry {
  Blob bytes;
  EntryParts parts;
};
// Nothing, and `fault` says why in static storage, if any byte is not as it was written.
std::optional<Entry> decode_entry(Blob bytes, const char*& fault);

// The blob of an entry, cut out of its own buffer, if it is stored under `key`; else a collision.
std::optional<Blob> blob_under(const Key& key, Entry entry, Miss& miss);

}  // namespace ingot::cache
