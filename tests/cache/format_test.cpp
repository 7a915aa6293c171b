#include "cache/format.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "cache/directory.h"
#include "support.h"

using namespace ingot::cache;
using namespace ingot::cache::test;

namespace {

std::string hex(const Blob& bytes) {
  std::string out;
  for (const uint8_t b : bytes) {
    char text[3];
    snprintf(text, sizeof text, "%02x", b);
    out += text;
  }
  return out;
}

Blob counting(size_t n) {
  Blob out(n);
  std::iota(out.begin(), out.end(), uint8_t{0});
  return out;
}

}  // namespace

// Made with Python's struct and xxhash (xxh3_128 of what follows the checksum), not with this library.
TEST_CASE("cache format: the bytes and the name of an entry are pinned") {
  const Key key = key_of("key of a kernel");
  const Blob blob = counting(20);
  CHECK(hex(encode_entry({key.bytes, blob})) ==
        "494e474f54415254"
        "0100000000000000"
        "36807c508fb56ad1e5f92ca8e84c42cc"
        "0f000000000000001400000000000000"
        "6b6579206f662061206b65726e656c"
        "000102030405060708090a0b0c0d0e0f10111213");
  CHECK(entry_name(key.hash) == "581fccc235d9145d002399e37183c3fc.ing");
}

TEST_CASE("cache format: an entry comes back, empty key and blob too") {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}}) {
    for (const std::string text : {"", "k"}) {
      const Key key = key_of(text);
      const Blob blob = counting(size);
      const char* fault = nullptr;
      Miss miss;
      auto entry = decode_entry(encode_entry({key.bytes, blob}), fault);
      REQUIRE(entry);
      CHECK(blob_under(key, std::move(*entry), miss) == blob);
    }
  }
}

TEST_CASE("cache format: every single flipped bit and every wrong length is found") {
  const Key key = key_of("key");
  const Blob entry = encode_entry({key.bytes, counting(9)});
  const char* fault = nullptr;
  for (size_t bit = 0; bit < entry.size() * 8; ++bit) {
    Blob flipped = entry;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    CHECK_FALSE(decode_entry(flipped, fault));
  }
  for (size_t size = 0; size < entry.size(); ++size) {
    CHECK_FALSE(decode_entry(Blob(entry.begin(), entry.begin() + static_cast<ptrdiff_t>(size)), fault));
  }
  Blob longer = entry;
  longer.push_back(0);
  CHECK_FALSE(decode_entry(longer, fault));
}

TEST_CASE("cache format: lengths whose sum wraps around are refused") {
  Blob entry = encode_entry({key_of("key").bytes, counting(9)});
  const uint64_t key_size = ~uint64_t{0} - 3, blob_size = 3 + 9 + 4;  // 12 more than 2^64
  memcpy(&entry[32], &key_size, 8);
  memcpy(&entry[40], &blob_size, 8);
  const char* fault = nullptr;
  CHECK_FALSE(check_header(entry, entry.size(), fault));
  CHECK(std::string(fault) == "lengths do not match the size");
}

TEST_CASE("cache format: where two keys differ") {
  const auto range = [](const std::string& a, const std::string& b) {
    const KeyDifference d = difference(key_of(a).bytes, key_of(b).bytes);
    return std::pair(d.first, d.last);
  };
  using Pair = std::pair<size_t, size_t>;
  CHECK(range("abcdef", "abcdef") == Pair{0, 0});
  CHECK(range("abcdef", "abXdef") == Pair{2, 3});
  CHECK(range("abcdef", "aXcXef") == Pair{1, 4});
  CHECK(range("abc", "abcde") == Pair{3, 5});
  CHECK(range("aXc", "abcde") == Pair{1, 5});
  CHECK(range("", "") == Pair{0, 0});
}

TEST_CASE("cache format: names are recognised strictly") {
  CHECK(is_entry_name("581fccc235d9145d002399e37183c3fc.ing"));
  for (const char* bad : {"581fccc235d9145d002399e37183c3fc.inh", "581FCCC235d9145d002399e37183c3fc.ing", ".lock", "",
                          "581fccc235d9145d002399e37183c3f.ing", "581fccc235d9145d002399e37183c3fc0.ing"}) {
    CHECK_FALSE(is_entry_name(bad));
  }
  CHECK(temp_pid(temp_name(12, 34)) == 12);
  for (const char* bad : {".tmp-", ".tmp-1", ".tmp-1-", ".tmp-x-1", ".tmp-1-1x", ".tmp--1-1", "tmp-1-1"}) {
    CHECK_FALSE(temp_pid(bad));
  }
}
