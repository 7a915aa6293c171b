// Little-endian byte streams: the one way canonical bytes, artifacts and cache headers are written and read.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ingot {

static_assert(std::endian::native == std::endian::little, "formats are little-endian and written by memcpy");

class ByteWriter {
 public:
  template <class T>
    requires std::integral<T>
  void put(T v) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof v);
    std::memcpy(bytes_.data() + at, &v, sizeof v);
  }
  void put_bytes(std::span<const uint8_t> b) { bytes_.insert(bytes_.end(), b.begin(), b.end()); }
  // A u32 length, then the characters.
  void put_string(std::string_view s) {
    put(static_cast<uint32_t>(s.size()));
    bytes_.insert(bytes_.end(), s.begin(), s.end());
  }
  void align(size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }
  size_t size() const { return bytes_.size(); }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Reads what ByteWriter wrote; throws invalid_argument past the end, so hostile bytes cannot overread.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  template <class T>
    requires std::integral<T>
  T get() {
    T v;
    std::memcpy(&v, take(sizeof v).data(), sizeof v);
    return v;
  }
  std::span<const uint8_t> take(size_t n) {
    if (n > bytes_.size() - at_)
      fail(Code::invalid_argument, "byte stream ends at ", bytes_.size(), ", ", n, " more needed at ", at_);
    const auto part = bytes_.subspan(at_, n);
    at_ += n;
    return part;
  }
  std::string_view get_string() {
    const auto part = take(get<uint32_t>());
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  size_t left() const { return bytes_.size() - at_; }
  size_t position() const { return at_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace ingot
