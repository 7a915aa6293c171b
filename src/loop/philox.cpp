#include "loop/philox.h"

#include <cmath>

#include "loop/math/math.h"
#include "loop/narrow.h"
#include "loop/rules.h"

namespace ingot::loop {

namespace {

using Words = std::array<Val, 4>;

// The constants of the paper: multipliers, and the steps of the key from round to round.
constexpr int64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
constexpr int64_t step0 = 0x9E3779B9, step1 = 0xBB67AE85;
constexpr int rounds = 10;

Val low(Val v) { return v.to(DType::u32); }
Val high(Val v) { return (v >> 32).to(DType::u32); }

Words block(const RandomPlace& at, Val number) {
  const Val seed = at.seed.to(DType::u64), stream = at.stream.to(DType::u64);
  return philox4x32({low(number), high(number), low(stream), high(stream)}, low(seed), high(seed));
}

Val pick(Val bit, Val zero, Val one) { return select(eq(bit, 0), zero, one); }

// Word i mod 4 of block i / 4.
Val word(const RandomPlace& at) {
  const Val i = at.index.to(DType::u64);
  const Words w = block(at, i >> 2);
  return pick(i & 2, pick(i & 1, w[0], w[1]), pick(i & 1, w[2], w[3]));
}

Val joined(Val lower, Val upper) { return lower.to(DType::u64) | (upper.to(DType::u64) << 32); }

// Words 2i and 2i + 1, the lower one first.
Val two_words(const RandomPlace& at) {
  const Val i = at.index.to(DType::u64);
  const Words w = block(at, i >> 1);
  return pick(i & 1, joined(w[0], w[1]), joined(w[2], w[3]));
}

// The top `bits` of a word as a fraction, exact in f32 and f64.
Val fraction(Val word, int bits, DType type) {
  const int width = static_cast<int>(8 * ir::item_size(word.type()));
  // Signed, because vector units convert those.
  const Val top = (word >> (width - bits)).to(type == DType::f64 ? DType::i64 : DType::i32);
  return top.to(type) * std::ldexp(1.0, -bits);
}

Val uniform(Val word) {
  return word.type() == DType::u64 ? fraction(word, 53, DType::f64) : fraction(word, 24, DType::f32);
}

}  // namespace

Words philox4x32(Words c, Val key0, Val key1) {
  for (int r = 0; r < rounds; ++r) {
    const Val k0 = r ? key0 + r * step0 : key0, k1 = r ? key1 + r * step1 : key1;
    const Val p0 = c[0].to(DType::u64) * multiplier0, p1 = c[2].to(DType::u64) * multiplier1;
    c = {high(p1) ^ c[1] ^ k0, low(p1), high(p0) ^ c[3] ^ k1, low(p0)};
  }
  return c;
}

Val random_bits(const RandomPlace& at, DType type) { return type == DType::u64 ? two_words(at) : word(at).to(type); }

Val random_uniform(const RandomPlace& at, DType type) {
  switch (type) {
    case DType::f64: return uniform(two_words(at));
    // As many bits as the format holds of every number below 1, so that none rounds to it.
    case DType::f16: return narrow(fraction(word(at), 11, DType::f32), type);
    case DType::bf16: return narrow(fraction(word(at), 8, DType::f32), type);
    default: return uniform(word(at));
  }
}

// Box and Muller: the elements 2j and 2j + 1 are r cos and r sin of one angle, r and the angle from a uniform each.
Val random_normal(const RandomPlace& at, DType type) {
  const Val i = at.index.to(DType::u64);
  Val first, second;
  if (type == DType::f64) {
    const Words w = block(at, i >> 1);
    first = joined(w[0], w[1]);
    second = joined(w[2], w[3]);
  } else {
    const Words w = block(at, i >> 2);
    first = pick(i & 2, w[0], w[2]);
    second = pick(i & 2, w[1], w[3]);
  }
  const Val radius = sqrt(math::log(1.0 - uniform(first)) * -2.0), angle = uniform(second) * 2.0;
  const Val z = radius * pick(i & 1, math::cospi(angle), math::sinpi(angle));
  return is_narrow(type) ? narrow(z, type) : z;
}

}  // namespace ingot::loop
