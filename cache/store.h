// What every place that keeps blobs between processes looks like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cache/key.h"

namespace ingot::cache {

using Blob = std::vector<uint8_t>;

enum class MissReason : uint8_t {
  absent,     // nothing under that key
  content,    // damaged, of another format, or not an entry; removed where it can be
  io,         // could not be read, or is not ours to trust; nothing was removed
  collision,  // another key of the same hash is stored
  disabled,   // there is no store to ask
};
inline constexpr size_t miss_reason_count = 5;
const char* miss_reason_name(MissReason reason) noexcept;

struct Miss {
  MissReason reason = MissReason::absent;
  std::string detail;        // for people; empty when absent
  KeyDifference difference;  // collision: where the stored key differs from the one asked for
};

// Thread-safe. A store can only miss: neither function throws but for memory (std::bad_alloc), and put() may quietly do
// nothing.
class Store {
 public:
  virtual ~Store() = default;
  // The blob stored under exactly this key, or nothing and, if `why` is given, the reason.
  virtual std::optional<Blob> get(const Key& key, Miss* why) = 0;
  virtual void put(const Key& key, std::span<const uint8_t> blob) = 0;
  // Whether put() may do anything at present.
  virtual bool writable() const noexcept = 0;
  virtual std::string_view name() const noexcept = 0;  // "directory", "host"
};

}  // namespace ingot::cache
