// The key that kernels are cached under, byte by byte: a change here makes every cache in the field cold.
#include <doctest/doctest.h>

#include "engine.h"

using namespace ingot;
using namespace ingot::engine;
using namespace ingot::engine::test;

namespace {

std::string hex(std::span<const uint8_t> bytes) {
  std::string out;
  for (const uint8_t b : bytes) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", b);
    out += text;
  }
  return out;
}

const std::vector<uint8_t> kernel = {1, 2, 3};

}  // namespace

// Made with Python's struct and xxhash, not with this library.
TEST_CASE("cache key: bytes and hash are pinned") {
  const cache::Key key = Kernels::pack_key(kernel, "x86-64-v3");
  CHECK(hex(key.bytes) ==
        "10000000"
        "696e676f7420637075206b65726e656c"  // "ingot cpu kernel"
        "01000000010000000500000003000000"  // kernel bytes, artifact, frame, code generation
        "00000000"                          // the compiler's build-id: none in a pack
        "09000000"
        "7838362d36342d7633"  // "x86-64-v3"
        "00000000"            // options
        "03000000"
        "010203");
  CHECK(key.hash.hex() == "7543ea7753c84e6835d57649583703e8");
}

TEST_CASE("cache key: on disk the same with the compiler's build-id in its place") {
  const auto c = context({});
  const cache::Key packed = Kernels::pack_key(kernel, "x86-64-v3"), stored = c->kernels().key(kernel, "x86-64-v3");
  const std::string id = c->kernels().module_id();
  if (compiler()) CHECK(id.size() == 40);
  std::string expected = hex(packed.bytes);
  constexpr size_t id_at = 2 * (4 + 16 + 16);
  CHECK(expected.substr(id_at, 8) == "00000000");
  expected.replace(id_at, 8,
                   hex(std::vector<uint8_t>{static_cast<uint8_t>(id.size()), 0, 0, 0}) +
                       hex({reinterpret_cast<const uint8_t*>(id.data()), id.size()}));
  CHECK(hex(stored.bytes) == expected);
}
