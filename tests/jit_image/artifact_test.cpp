#include "jit/image/artifact.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"

using namespace ingot;
using namespace ingot::jit;

namespace {

Artifact small() {
  Artifact a;
  a.target = "x86-64-v2";
  a.entries = {{"sweep0", 0}, {"row", 2}};
  a.symbols = {{"sweep0", 0, 2}, {"row", 2, 1}};
  a.image = {0x31, 0xC0, 0xC3};
  return a;
}

bool refused(std::vector<uint8_t> bytes, bool seal = true) {
  if (seal && bytes.size() >= 24) seal_artifact(bytes);
  try {
    decode_artifact(bytes);
    return false;
  } catch (const Error& e) {
    return e.code() == Code::invalid_argument;
  }
}

}  // namespace

TEST_CASE("the artifact's format is pinned byte for byte") {
  const std::vector<uint8_t> bytes = encode_artifact(small());
  // Written down from the format's description; a change of it needs another format number.
  const uint8_t golden[] = {
      'I', 'N', 'G', 'O', 'T', 'A', 'R', 'T', 1,   0,   0,   0,   5,   0,   0, 0,  // magic, format, frame version
      0,   0,   0,   0,   0,   0,   0,   0,                                        // checksum, compared below
      9,   0,   0,   0,   'x', '8', '6', '-', '6', '4', '-', 'v', '2',             // target
      64,  0,   0,   0,                                                            // alignment
      2,   0,   0,   0,                                                            // entries
      6,   0,   0,   0,   's', 'w', 'e', 'e', 'p', '0', 0,   0,   0,   0,   0, 0, 0, 0, 3,
      0,   0,   0,   'r', 'o', 'w', 2,   0,   0,   0,   0,   0,   0,   0,   2, 0, 0, 0,  // symbols
      6,   0,   0,   0,   's', 'w', 'e', 'e', 'p', '0', 0,   0,   0,   0,   0, 0, 0, 0, 2,
      0,   0,   0,   0,   0,   0,   0,   3,   0,   0,   0,   'r', 'o', 'w', 2, 0, 0, 0, 0,
      0,   0,   0,   1,   0,   0,   0,   0,   0,   0,   0,   3,   0,   0,   0, 0, 0, 0, 0,  // size of the image
  };
  REQUIRE(bytes.size() == (sizeof golden + 63) / 64 * 64 + 3);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i >= 16 && i < 24) continue;
    CAPTURE(i);
    const uint8_t want = i < sizeof golden       ? golden[i]
                         : i >= bytes.size() - 3 ? small().image[i + 3 - bytes.size()]
                                                 : 0;
    CHECK(bytes[i] == want);
  }
  // XXH3-64 of the bytes from 24 on.
  uint64_t sum = 0;
  std::memcpy(&sum, &bytes[16], 8);
  CHECK(sum == 6106161689967288623ULL);
}

TEST_CASE("an artifact survives its bytes") {
  const Artifact a = small(), b = decode_artifact(encode_artifact(a));
  CHECK(b.target == a.target);
  CHECK(b.alignment == a.alignment);
  CHECK(b.image == a.image);
  REQUIRE(b.entries.size() == 2);
  CHECK(b.entries[1].name == "row");
  CHECK(b.entries[1].offset == 2);
  REQUIRE(b.symbols.size() == 2);
  CHECK(b.symbols[0].size == 2);
}

TEST_CASE("every truncation and every flipped bit is refused") {
  const std::vector<uint8_t> whole = encode_artifact(small());
  for (size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(refused({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}, false));
    CHECK(refused({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}));
  }
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<uint8_t> bytes = whole;
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    CAPTURE(bit);
    CHECK(refused(bytes, false));
  }
}

TEST_CASE("offsets outside the image are refused behind a right checksum") {
  Artifact a = small();
  a.entries[1].offset = 3;
  CHECK(refused(encode_artifact(a)));
  a = small();
  a.entries[1].offset = ~uint64_t{0};
  CHECK(refused(encode_artifact(a)));
  a = small();
  a.symbols[1].size = 2;
  CHECK(refused(encode_artifact(a)));
  a = small();
  a.symbols[1].offset = ~uint64_t{0};
  CHECK(refused(encode_artifact(a)));
  a = small();
  a.alignment = 48;
  CHECK(refused(encode_artifact(a)));
  a.alignment = 8192;
  CHECK(refused(encode_artifact(a)));
  a = small();
  a.image.clear();
  a.entries.clear();
  a.symbols.clear();
  CHECK(refused(encode_artifact(a)));
  std::vector<uint8_t> longer = encode_artifact(small());
  longer.push_back(0);
  CHECK(refused(longer));
}

TEST_CASE("a hostile count reserves no memory") {
  std::vector<uint8_t> bytes = encode_artifact(small());
  const size_t entries_at = 24 + 4 + 9 + 4;
  std::memset(&bytes[entries_at], 0xFF, 4);
  CHECK(refused(bytes));
}
