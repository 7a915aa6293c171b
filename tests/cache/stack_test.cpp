#include "cache/stack.h"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>

#include "cache/disk.h"
#include "cache/host.h"
#include "support.h"

using namespace ingot::cache;
using namespace ingot::cache::test;

namespace {

// A host's key-value server.
struct Server {
  std::map<std::string, Blob, std::less<>> values;
  HostCallbacks callbacks() {
    return {[this](std::string_view key) -> std::optional<Blob> {
              const auto found = values.find(key);
              if (found == values.end()) return std::nullopt;
              return found->second;
            },
            [this](std::string_view key, std::span<const uint8_t> value) {
              values[std::string(key)] = Blob(value.begin(), value.end());
            }};
  }
};

}  // namespace

TEST_CASE("host store: entries travel whole, and what the host damages or mixes up is a miss") {
  Server server;
  HostStore store(server.callbacks());
  const Key a = key_of("a"), b = key_of("b");
  Miss why;
  CHECK_FALSE(store.get(a, &why));
  CHECK(why.reason == MissReason::absent);
  store.put(a, blob_of(a, 100));
  REQUIRE(server.values.size() == 1);
  CHECK(server.values.begin()->first == a.hash.hex());
  CHECK(store.get(a) == blob_of(a, 100));

  Blob& value = server.values.begin()->second;
  value.back() ^= 1;
  CHECK_FALSE(store.get(a, &why));
  CHECK(why.reason == MissReason::content);
  value.clear();
  CHECK_FALSE(store.get(a, &why));
  CHECK(why.reason == MissReason::content);
  store.put(b, blob_of(b, 100));
  server.values[a.hash.hex()] = server.values[b.hash.hex()];
  CHECK_FALSE(store.get(a, &why));
  CHECK(why.reason == MissReason::collision);
}

TEST_CASE("host store: callbacks that throw or are missing") {
  Warnings warnings;
  const Key a = key_of("a");
  HostStore throwing({[](std::string_view) -> std::optional<Blob> { throw std::runtime_error("no server"); },
                      [](std::string_view, std::span<const uint8_t>) { throw std::runtime_error("no server"); }},
                     warnings.log());
  Miss why;
  CHECK_FALSE(throwing.get(a, &why));
  CHECK(why.reason == MissReason::io);
  throwing.put(a, blob_of(a, 10));
  CHECK(warnings.lines.size() == 1);
  HostStore empty({});
  CHECK_FALSE(empty.writable());
  CHECK_FALSE(empty.get(a, &why));
  CHECK(why.reason == MissReason::disabled);
  empty.put(a, blob_of(a, 10));
}

TEST_CASE("cache stack: asked in order, and a hit is written back to the nearer stores") {
  TempDir temp;
  Server server;
  const auto disk = DiskCache::open(temp / "c");
  const auto host = std::make_shared<HostStore>(server.callbacks());
  const Key a = key_of("a"), b = key_of("b");
  Stack stack({disk, host});
  size_t level = 9;
  CHECK_FALSE(stack.get(a));
  host->put(a, blob_of(a, 100));
  CHECK(stack.get(a, nullptr, &level) == blob_of(a, 100));
  CHECK(level == 1);
  CHECK(stack.get(a, nullptr, &level) == blob_of(a, 100));
  CHECK(level == 0);
  CHECK(disk->get(a) == blob_of(a, 100));
  stack.put(b, blob_of(b, 50));
  CHECK(disk->get(b));
  CHECK(host->get(b));
}

TEST_CASE("cache stack: the most telling miss is reported") {
  TempDir temp;
  Server server;
  const auto disk = DiskCache::open(temp / "c");
  const auto host = std::make_shared<HostStore>(server.callbacks());
  const Key a = key_of("a");
  Miss why;
  CHECK_FALSE(Stack({}).get(a, &why));
  CHECK(why.reason == MissReason::disabled);
  CHECK_FALSE(Stack({std::make_shared<HostStore>(HostCallbacks{}), disk}).get(a, &why));
  CHECK(why.reason == MissReason::absent);
  server.values[a.hash.hex()] = {1, 2, 3};
  CHECK_FALSE(Stack({disk, host}).get(a, &why));
  CHECK(why.reason == MissReason::content);
}
