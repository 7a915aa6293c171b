// A pack: many entries in one file that is made once and only read, to ship with an application.
//
//   0  8  "INGOTPAK"
//   8  4  format version, u32
//  12  4  zero
//  16 16  XXH3-128 of everything from offset 32 to the end of the index (low word, high word)
//  32  8  file size, u64
//  40  8  number of entries, u64
//  48 64  maker: what built the blobs, ASCII, zeros to the end; told to people, never compared
// 112     index: for each entry its key's hash (low word, high word), offset u64, size u64, ascending by hash, then
// offset
//         entries as in format.h, in the order of the index, and nothing between or after
//
// All little-endian. Index and entries have checksums of their own, so a lookup reads one entry and a damaged one does
// not cost the others.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cache/format.h"

namespace ingot::cache {

inline constexpr uint32_t pack_format_version = 1;
inline constexpr size_t pack_maker_size = 64;

// The bytes of a pack: the same for the same blobs, in whatever order they come. Of equal keys the first is kept. A
// longer maker is cut.
Blob encode_pack(std::vector<std::pair<Key, Blob>> entries, std::string_view maker);

// Read-only store over a pack. The index is held in memory; entries are read when they are asked for, and the file is
// opened anew for each (a host that closes all descriptors, or forks, cannot disturb it). Thread-safe.
class Pack final : public Store {
 public:
  // Never fails: a file that is missing, truncated, damaged, foreign or writable by everyone has no entries, costs one
  // warning, and says why in fault(). Later faults of single entries cost one warning together.
  static std::shared_ptr<Pack> open(std::string path, Log log = {});

  std::optional<Blob> get(const Key& key, Miss* why = nullptr) override;
  void put(const Key&, std::span<const uint8_t>) override {}
  bool writable() const noexcept override { return false; }
  std::string_view name() const noexcept override { return "pack"; }

  const std::string& path() const noexcept { return path_; }
  const std::string& fault() const noexcept { return fault_; }  // empty if it could be opened
  const std::string& maker() const noexcept { return maker_; }
  size_t size() const noexcept { return index_.size(); }

 private:
  struct Place {
    Hash128 hash;
    uint64_t offset;
    uint64_t size;
  };
  Pack(std::string path, Log log) : path_(std::move(path)), log_(std::move(log)) {}
  std::string read_index();  // what is wrong with the file; empty if nothing is
  std::optional<Blob> read_entry(const Place& place, const Key& key, Miss& miss) const;

  const std::string path_;
  const Log log_;
  std::string fault_, maker_;
  std::vector<Place> index_;
  std::atomic<bool> warned_{false};
};

}  // namespace ingot::cache
