#include "randoms.h"

#include <cmath>

#include "array.h"
#include "composites.h"
#include "narrow.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpCode;

struct Source {
  uint64_t seed, stream;

  uint32_t word(uint64_t i) const {
    const uint64_t block = i / 4;
    const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
    const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
    return philox({low(block), high(block), low(stream), high(stream)}, {low(seed), high(seed)})[i % 4];
  }
  uint64_t two_words(uint64_t i) const { return word(2 * i) | uint64_t{word(2 * i + 1)} << 32; }

  // As bits of f32, or of f64.
  uint64_t uniform(DType type, uint64_t i) const {
    if (type == DType::f64) return to_bits(std::ldexp(static_cast<double>(two_words(i) >> 11), -53));
    return to_bits(std::ldexp(static_cast<float>(word(i) >> 8), -24));
  }
};

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{c[0]} * 0xD2511F53u, b = uint64_t{c[2]} * 0xCD9E8D57u;
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

uint64_t random_element(const ir::Op& op, DType type, uint64_t seed, uint64_t index) {
  const Source source{seed, static_cast<uint64_t>(attr(op, "stream").i)};
  if (op.code == OpCode::op_random_bits) {
    if (type == DType::u64) return source.two_words(index);
    return source.word(index) & (~uint64_t{0} >> (64 - 8 * ir::item_size(type)));
  }
  if (op.code == OpCode::op_random_uniform) {
    if (!is_narrow(type)) return source.uniform(type, index);
    const int bits = type == DType::f16 ? 11 : 8;
    return narrow_bits(type, std::ldexp(static_cast<double>(source.word(index) >> (32 - bits)), -bits));
  }
  const DType wide = is_narrow(type) ? DType::f32 : type;
  const auto number = [&](double v) { return wide == DType::f32 ? to_bits(static_cast<float>(v)) : to_bits(v); };
  const auto times = [&](uint64_t a, uint64_t b) { return compute(OpCode::op_mul, wide, a, b); };
  const uint64_t even = index & ~uint64_t{1};
  const uint64_t rest = compute(OpCode::op_sub, wide, number(1), source.uniform(wide, even));
  const uint64_t r = compute(OpCode::op_sqrt, wide, times(number(-2), compute(OpCode::op_log, wide, rest)));
  const uint64_t angle = times(number(2), source.uniform(wide, even + 1));
  const uint64_t z = times(r, compute(index % 2 ? OpCode::op_sinpi : OpCode::op_cospi, wide, angle));
  return cast(type, wide, z);
}

}  // namespace ingot::oracle
