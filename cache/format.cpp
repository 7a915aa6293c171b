#include "cache/format.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace ingot::cache {

namespace {

constexpr std::array<uint8_t, 8> magic = {'I', 'N', 'G', 'O', 'T', 'A', 'R', 'T'};
constexpr size_t checksum_at = 16;
constexpr size_t covered_from = 32;

}  // namespace

const char* miss_reason_name(MissReason reason) noexcept {
  switch (reason) {
    case MissReason::absent: return "absent";
    case MissReason::content: return "content";
    case MissReason::io: return "io";
    case MissReason::collision: return "collision";
    case MissReason::disabled: return "disabled";
  }
  return "unknown";
}

std::array<uint8_t, entry_header_size> entry_header(const EntryParts& parts) {
  ByteWriter lengths;
  lengths.put(static_cast<uint64_t>(parts.key.size()));
  lengths.put(static_cast<uint64_t>(parts.blob.size()));
  const Hash128 checksum = hash128({lengths.bytes(), parts.key, parts.blob});
  ByteWriter w;
  w.put_bytes(magic);
  w.put(entry_format_version);
  w.put(uint32_t{0});
  w.put(checksum.low);
  w.put(checksum.high);
  w.put_bytes(lengths.bytes());
  std::array<uint8_t, entry_header_size> out;
  std::ranges::copy(w.bytes(), out.begin());
  return out;
}

Blob encode_entry(const EntryParts& parts) {
  const auto header = entry_header(parts);
  Blob out;
  out.reserve(header.size() + parts.key.size() + parts.blob.size());
  for (const auto part : {std::span<const uint8_t>(header), parts.key, parts.blob}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

std::optional<EntrySizes> check_header(std::span<const uint8_t> header, uint64_t entry_size, const char*& fault) {
  if (header.size() < entry_header_size || entry_size < entry_header_size) {
    fault = "shorter than a header";
    return std::nullopt;
  }
  ByteReader r(header);
  if (!std::ranges::equal(r.take(magic.size()), magic)) {
    fault = "not an Ingot entry";
    return std::nullopt;
  }
  if (r.get<uint32_t>() != entry_format_version || r.get<uint32_t>() != 0) {
    fault = "another format version";
    return std::nullopt;
  }
  r.take(covered_from - checksum_at);
  EntrySizes sizes;
  sizes.key = r.get<uint64_t>();
  sizes.blob = r.get<uint64_t>();
  const uint64_t room = entry_size - entry_header_size;
  if (sizes.key > room || sizes.blob != room - sizes.key) {  // no sum of two stated lengths: it could wrap around
    fault = "lengths do not match the size";
    return std::nullopt;
  }
  return sizes;
}

std::optional<Entry> decode_entry(Blob bytes, const char*& fault) {
  const std::span<const uint8_t> all = bytes;
  const auto sizes = check_header(all, all.size(), fault);
  if (!sizes) return std::nullopt;
  ByteReader r(all.subspan(checksum_at));
  Hash128 checksum;
  checksum.low = r.get<uint64_t>();
  checksum.high = r.get<uint64_t>();
  if (hash128(all.subspan(covered_from)) != checksum) {
    fault = "checksum does not match";
    return std::nullopt;
  }
  return Entry{std::move(bytes), {all.subspan(entry_header_size, sizes->key), all.last(sizes->blob)}};
}

std::optional<Blob> blob_under(const Key& key, Entry entry, Miss& miss) {
  if (!std::ranges::equal(entry.parts.key, key.bytes)) {
    const KeyDifference d = difference(entry.parts.key, key.bytes);
    miss = {MissReason::collision, cat("another key of this hash, differing in bytes ", d.first, " to ", d.last), d};
    return std::nullopt;
  }
  Blob blob = std::move(entry.bytes);
  blob.erase(blob.begin(), blob.end() - static_cast<ptrdiff_t>(entry.parts.blob.size()));
  return blob;
}

}  // namespace ingot::cache
