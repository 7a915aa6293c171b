// The helpers of generated CUDA text, compiled by the host's compiler: on f16, bf16 and fp8 they must give loop::eval's
// bits, in scans the strip driver's, whatever the machine.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "jit/strip/scan.h"
#include "loop/eval.h"

#define __device__
#define __forceinline__ inline
namespace cuda_text {
namespace {
// Of CUDA's own functions, those that the helpers name.
[[maybe_unused]] inline int __clzll(long long v) { return std::countl_zero(static_cast<unsigned long long>(v)); }
[[maybe_unused]] inline int __ffsll(long long v) {
  return v ? std::countr_zero(static_cast<unsigned long long>(v)) + 1 : 0;
}
[[maybe_unused]] inline int __popcll(unsigned long long v) { return std::popcount(v); }
// What only blocks of threads use (run_test.cpp runs those).
[[maybe_unused]] const struct {
  unsigned x;
} threadIdx{};
[[maybe_unused]] inline void __syncthreads() {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "prelude.inc"
#pragma GCC diagnostic pop
}  // namespace
}  // namespace cuda_text

using ingot::ir::DType;
using ingot::loop::eval;
using ingot::loop::Prim;

namespace {

template <class Format, class S>
size_t wrong(DType type) {
  size_t wrong = 0;
  std::vector<uint32_t> from;
  const uint32_t count = 1u << (8 * sizeof(S));
  for (uint32_t v = 0; v < count; ++v) {
    const float got = Format::widen(static_cast<S>(v));
    const auto want = std::bit_cast<float>(static_cast<uint32_t>(eval(Prim::convert, DType::f32, type, v)));
    if (std::isnan(want)) wrong += !std::isnan(got);
    else wrong += std::bit_cast<uint32_t>(got) != std::bit_cast<uint32_t>(want);
    // The value, the middle to the next one, and their neighbours.
    const auto next = std::bit_cast<uint32_t>(Format::widen(static_cast<S>(v + 1)));
    const auto own = std::bit_cast<uint32_t>(got);
    for (const uint32_t at : {own, own / 2 + next / 2 + (own & next & 1)})
      for (const int d : {-2, -1, 0, 1, 2}) from.push_back(at + static_cast<uint32_t>(d));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) from.push_back(random());
  for (const uint32_t v : from)
    wrong += Format::narrow(std::bit_cast<float>(v)) != eval(Prim::convert, type, DType::f32, v);
  return wrong;
}

}  // namespace

TEST_CASE("f16, bf16 and fp8 of generated CUDA text convert as eval does") {
  CHECK(wrong<cuda_text::F16, uint16_t>(DType::f16) == 0);
  CHECK(wrong<cuda_text::BF16, uint16_t>(DType::bf16) == 0);
  CHECK(wrong<cuda_text::F8E4M3, uint8_t>(DType::f8e4m3) == 0);
  CHECK(wrong<cuda_text::F8E5M2, uint8_t>(DType::f8e5m2) == 0);
}

TEST_CASE("scans of generated CUDA text are those of the strip driver, element by element") {
  const auto add = [](float a, float b) { return a + b; };
  for (const bool exclusive : {false, true}) {
    const ingot::loop::Node node{
        .op = Prim::scan_sum, .type = DType::f32, .imm = exclusive ? ingot::loop::scan_exclusive : 0};
    std::vector<float> x(10000), y;
    std::mt19937 random(2);
    for (float& v : x) v = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 40) - 52);
    auto scan = cuda_text::make_scan<float>(-0.0f, 0.0f, add);
    for (const float v : x) y.push_back(exclusive ? scan.exclusive(v) : scan.inclusive(v));
    ingot::jit::ScanState state;
    ingot::jit::scan_begin(node, state);
    ingot::jit::scan_items(node, state, reinterpret_cast<char*>(x.data()), static_cast<int64_t>(x.size()));
    CHECK(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
  }
}
