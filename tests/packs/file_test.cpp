// The pack file: its bytes, and everything that can be wrong with it.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "cache/pack.h"
#include "cache/support.h"

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

std::vector<std::pair<Key, Blob>> some(int count, size_t blob) {
  std::vector<std::pair<Key, Blob>> out;
  for (int i = 0; i < count; ++i) {
    const Key key = key_of("kernel " + std::to_string(i));
    out.emplace_back(key, blob_of(key, blob));
  }
  return out;
}

// How many of the entries the file at `path` gives; a wrong one fails the test.
int served(const std::string& path, const std::vector<std::pair<Key, Blob>>& entries, Warnings& warnings) {
  const auto pack = Pack::open(path, warnings.log());
  int good = 0;
  for (const auto& [key, blob] : entries)
    if (const auto got = pack->get(key, nullptr)) {
      CHECK(*got == blob);
      ++good;
    }
  return good;
}

std::string fault_of(const std::string& path) { return Pack::open(path)->fault(); }

}  // namespace

// Made with Python's struct and xxhash, not with this library.
TEST_CASE("pack: the bytes are pinned") {
  Blob counting(20);
  std::iota(counting.begin(), counting.end(), uint8_t{0});
  const Blob text = {'b', 'l', 'o', 'b'};
  const std::string expected =
      "494e474f5450414b0100000000000000a48c10b5dc24a61b8669bd0664fe89d6"
      "3e010000000000000200000000000000"
      "6275696c642d6964203100000000000000000000000000000000000000000000"
      "0000000000000000000000000000000000000000000000000000000000000000"
      "62a1f0d5fc6954fdb9d290487e597d05b0000000000000003b00000000000000"
      "fcc38371e39923005d14d935c2cc1f58eb000000000000005300000000000000"
      "494e474f544152540100000000000000d414ff43a48c4a4232b074c5b3667412"
      "07000000000000000400000000000000616e6f74686572626c6f62"
      "494e474f54415254010000000000000036807c508fb56ad1e5f92ca8e84c42cc"
      "0f0000000000000014000000000000006b6579206f662061206b65726e656c"
      "000102030405060708090a0b0c0d0e0f10111213";
  const Key a = key_of("key of a kernel"), b = key_of("another");
  CHECK(hex(encode_pack({{a, counting}, {b, text}}, "build-id 1")) == expected);
  CHECK(hex(encode_pack({{b, text}, {a, counting}, {b, {}}}, "build-id 1")) == expected);  // whatever the order
}

TEST_CASE("pack: what was put in comes out, and nothing else") {
  TempDir temp;
  Warnings warnings;
  for (const int count : {0, 1, 2, 100}) {
    const auto entries = some(count, 300);
    write_file(temp / "p", encode_pack(entries, "me"));
    CHECK(served(temp / "p", entries, warnings) == count);
    const auto pack = Pack::open(temp / "p");
    CHECK(pack->size() == static_cast<size_t>(count));
    CHECK(pack->maker() == "me");
    Miss why;
    CHECK_FALSE(pack->get(key_of("none"), &why));
    CHECK(why.reason == MissReason::absent);
    CHECK_FALSE(pack->writable());
  }
  CHECK(warnings.lines.empty());
}

TEST_CASE("pack: keys of one hash are different entries") {
  TempDir temp;
  Key a = key_of("a"), b = key_of("b"), c = key_of("c");
  b.hash = c.hash = a.hash;
  write_file(temp / "p", encode_pack({{a, blob_of(a, 9)}, {b, Blob{1}}}, ""));
  const auto pack = Pack::open(temp / "p");
  Miss why;
  CHECK(pack->get(a, nullptr) == blob_of(a, 9));
  CHECK(pack->get(b, nullptr) == Blob{1});
  CHECK_FALSE(pack->get(c, &why));
  CHECK(why.reason == MissReason::collision);
}

TEST_CASE("pack: truncated to every length it has no entries, and one warning") {
  TempDir temp;
  const auto entries = some(3, 50);
  const Blob whole = encode_pack(entries, "me");
  for (size_t size = 0; size < whole.size(); ++size) {
    Warnings warnings;
    write_file(temp / "p", Blob(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    CHECK(served(temp / "p", entries, warnings) == 0);
    CHECK(warnings.lines.size() == 1);
  }
  Warnings warnings;
  Blob longer = whole;
  longer.push_back(0);
  write_file(temp / "p", longer);
  CHECK(served(temp / "p", entries, warnings) == 0);
}

TEST_CASE("pack: a flipped bit costs one entry or all, one warning, and never gives wrong bytes") {
  TempDir temp;
  const auto entries = some(3, 50);
  const Blob whole = encode_pack(entries, "me");
  const size_t index_end = 48 + 64 + 3 * 32;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    if (bit / 8 >= index_end && bit % 8 != bit / 8 % 8) continue;
    Warnings warnings;
    Blob flipped = whole;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    write_file(temp / "p", flipped);
    CHECK(served(temp / "p", entries, warnings) == (bit / 8 < index_end ? 0 : 2));
    CHECK(warnings.lines.size() == 1);
  }
}

TEST_CASE("pack: foreign files, each with its reason") {
  TempDir temp;
  CHECK(fault_of(temp / "none").find("cannot be opened") == 0);
  write_file(temp / "short", Blob(10));
  CHECK(fault_of(temp / "short") == "is shorter than a pack's header");
  write_file(temp / "zeros", Blob(1000));
  CHECK(fault_of(temp / "zeros") == "is no pack");
  CHECK(fault_of(temp.path()) == "is not a regular file");
  REQUIRE(mkfifo((temp / "pipe").c_str(), 0600) == 0);
  CHECK(fault_of(temp / "pipe") == "is not a regular file");
  Blob other = encode_pack(some(1, 10), "me");
  other[8] = 2;
  write_file(temp / "other", other);
  CHECK(fault_of(temp / "other") == "has another format version");
  write_file(temp / "open", encode_pack(some(1, 10), "me"));
  chmod((temp / "open").c_str(), 0666);
  CHECK(fault_of(temp / "open") == "is writable by everyone");
  chmod((temp / "open").c_str(), 0444);
  CHECK(fault_of(temp / "open").empty());
  REQUIRE(symlink((temp / "open").c_str(), (temp / "link").c_str()) == 0);  // as configuration managers lay files out
  CHECK(fault_of(temp / "link").empty());
}

TEST_CASE("pack: a header that states enormous numbers costs no memory") {
  TempDir temp;
  for (const size_t at : {32, 40}) {
    Blob bytes = encode_pack(some(1, 10), "me");
    const uint64_t huge = uint64_t{1} << 58;
    memcpy(&bytes[at], &huge, 8);
    write_file(temp / "p", bytes);
    CHECK_FALSE(fault_of(temp / "p").empty());
    REQUIRE(truncate((temp / "p").c_str(), off_t{1} << 40) == 0);
    CHECK_FALSE(fault_of(temp / "p").empty());
  }
}

TEST_CASE("pack: the file is removed, cut or replaced while it is open") {
  TempDir temp;
  Warnings warnings;
  const auto entries = some(20, 100), others = some(3, 999);
  const Blob whole = encode_pack(entries, "me");
  write_file(temp / "p", whole);
  const auto pack = Pack::open(temp / "p", warnings.log());
  CHECK(pack->get(entries[0].first, nullptr) == entries[0].second);
  const auto misses = [&] {
    for (const auto& [key, blob] : entries) {
      const auto got = pack->get(key, nullptr);
      if (got && *got != blob) return false;
    }
    return true;
  };
  REQUIRE(unlink((temp / "p").c_str()) == 0);
  CHECK(misses());
  write_file(temp / "p", encode_pack(others, "you"));
  CHECK(misses());
  write_file(temp / "p", {});
  CHECK(misses());
  CHECK(warnings.lines.size() == 1);
  write_file(temp / "p", whole);
  CHECK(pack->get(entries[7].first, nullptr) == entries[7].second);
}
