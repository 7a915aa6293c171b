#include <doctest/doctest.h>

#include <random>

#include "base/error.h"
#include "random_kernel.h"

using namespace ingot;
using namespace ingot::loop;

TEST_CASE("kernels survive their bytes") {
  for (const auto& sample : samples::all()) {
    CAPTURE(sample.name);
    const std::vector<uint8_t> bytes = encode(sample.kernel);
    CHECK(decode(bytes.data(), bytes.size()) == sample.kernel);
  }
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Kernel k = samples::random_kernel(seed).builder.finish();
    const std::vector<uint8_t> bytes = encode(k);
    CHECK(decode(bytes.data(), bytes.size()) == k);
  }
}

TEST_CASE("the byte format is pinned") {
  // A change here orphans every cache in the field: raise kernel_format with it.
  Builder b(1, 1);
  const uint16_t s = b.add_size_slot();
  const Val x = samples::load(b, DType::f16, 3, {{1, s, 1}}, 0x3C00);
  samples::store(b, DType::f32, 1, x.un(Prim::fold_sum) * 2.0);
  // clang-format off
  const std::vector<uint8_t> want = {
      2, 0,                                            // format
      1, 1, 2, 0, 3, 0,                                // rows, cols, tensors, sizes
      0,                                               // row_lanes
      2, 0,                                            // views
      1, 10, 0, 0, 3, 0, 0, 0,                         // load f16 @0 (r0,c0)
      1, 0, 1, 2, 0, 1, 0,                             // one box: c0 s2:s1
      0x00, 0x3C, 0, 0, 0, 0, 0, 0,                    // fill
      2, 12, 1, 0, 1, 0, 0, 0, 0, 0,                   // store f32 @1 (r0), no box
      0, 0, 0, 0, 0, 0, 0, 0,                          //
      6, 0, 0, 0,                                      // nodes
      3, 10, 0, 0, 0, 0, 0, 0, 0, 0,                   // %0 load v0
      81, 12, 0, 0, 0, 0,                              // %1 convert.f32 %0
      100, 12, 1, 0, 0, 0,                             // %2 fold.sum %1
      1, 12, 0, 0, 0, 0x40, 0, 0, 0, 0,                // %3 literal 2
      12, 12, 2, 0, 0, 0, 3, 0, 0, 0,                  // %4 mul %2 %3
      38, 12, 4, 0, 0, 0,                              // %5 canon %4
      1, 0,                                            // stores
      1, 0, 5, 0, 0, 0,                                // v1 %5
  };
  // clang-format on
  CHECK(encode(b.finish()) == want);
}

TEST_CASE("cut, extended and foreign bytes are refused") {
  for (const auto& sample : samples::all()) {
    const std::vector<uint8_t> bytes = encode(sample.kernel);
    for (size_t n = 0; n < bytes.size(); ++n) CHECK_THROWS_AS(decode(bytes.data(), n), Error);
    std::vector<uint8_t> longer = bytes;
    longer.push_back(0);
    CHECK_THROWS_WITH(decode(longer.data(), longer.size()), "kernel: 1 bytes behind its end");
    std::vector<uint8_t> other = bytes;
    other[0] = 3;
    CHECK_THROWS_WITH(decode(other.data(), other.size()), "kernel: format 3, this library reads 2");
    other = bytes;
    other[8] = 2;
    CHECK_THROWS_WITH(decode(other.data(), other.size()), "kernel: row_lanes is 2, 0 or 1 expected");
  }
}

TEST_CASE("damaged bytes are refused or are another kernel's") {
  std::mt19937 random(3);
  size_t accepted = 0;
  for (const auto& sample : samples::all()) {
    const std::vector<uint8_t> bytes = encode(sample.kernel);
    for (int round = 0; round < 3000; ++round) {
      std::vector<uint8_t> damaged = bytes;
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      try {
        const Kernel k = decode(damaged.data(), damaged.size());
        CHECK(encode(k) == damaged);
        ++accepted;
      } catch (const Error& e) {
        CHECK(e.code() == Code::invalid_argument);
      }
    }
  }
  CHECK(accepted > 0);
}

TEST_CASE("a count that the bytes cannot hold allocates nothing") {
  // 27 bytes that promise 4096 nodes: refused by the count, before the reserve.
  std::vector<uint8_t> bytes = {2, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 16, 0, 0, 3, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK_THROWS_WITH(decode(bytes.data(), bytes.size()), "kernel: the bytes end before its 4096 nodes");
  bytes[12] = 17;
  CHECK_THROWS_WITH(decode(bytes.data(), bytes.size()), "kernel: 4352 nodes, at most 4096");
}
