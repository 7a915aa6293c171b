// What moves bits: copies, select, and the storage formats that are not value types.
#include "jit/interp/lanes.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp::INGOT_ISA {

namespace {

template <class T>
void move(int64_t n, char* out, const char* a, const char*, const char*, unsigned scalars) {
  const auto r = reinterpret_cast<Items<T>>(out);
  const auto x = reinterpret_cast<ConstItems<T>>(a);
  if (scalars & 1) {
    const T x0 = x[0];
    for (int64_t i = 0; i < n; ++i) r[i] = x0;
  } else {
    INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = x[i];
  }
}

template <class T>
void select(int64_t n, char* out, const char* a, const char* b, const char* c, unsigned scalars) {
  map3<T, uint8_t, T, T>(n, out, a, b, c, scalars, [](uint8_t p, T x, T y) -> T { return p ? x : y; });
}
// (cond, fast, slow)
template <class T>
void rare(int64_t n, char* out, const char* a, const char* b, const char* c, unsigned scalars) {
  map3<T, uint8_t, T, T>(n, out, a, b, c, scalars, [](uint8_t p, T x, T y) -> T { return p ? y : x; });
}

template <class F>
StripFn with_size(unsigned size, F f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

// Small binary floats with an exponent of `exp` bits and a mantissa of `man`, kept in the low bits of an integer.
// Conversions are by integers, so that a NaN's payload and quiet bit survive a load and a store.
template <unsigned exp, unsigned man>
struct Small {
  static constexpr uint32_t bias = (1u << (exp - 1)) - 1;
  static constexpr uint32_t exp_mask = (1u << exp) - 1;
  static constexpr uint32_t man_mask = (1u << man) - 1;
  static constexpr uint32_t inf = exp_mask << man;

  static uint32_t widen(uint32_t v) {
    const uint32_t sign = (v >> (exp + man)) << 31;
    const uint32_t mag = v & (inf | man_mask);
    const uint32_t special = 0x7F800000u | (v & man_mask) << (23 - man);
    // Rebiased by a multiplication in f32, which also makes subnormals right (exact: a power of two).
    const float scaled = bits_as<float>(mag << (23 - man)) * bits_as<float>((254 - bias) << 23);
    return sign | (mag >= inf ? special : bits_as<uint32_t>(scaled));
  }

  // Rounds to nearest even; a NaN keeps its upper payload bits and stays a NaN.
  static uint32_t narrow(uint32_t v) {
    const uint32_t sign = (v >> 31) << (exp + man);
    const uint32_t mag = v & 0x7FFFFFFFu;
    const uint32_t payload = (mag >> (23 - man)) & man_mask;
    const uint32_t nan = inf | (payload ? payload : 1u << (man - 1));
    const uint32_t least_normal = (128 - bias) << 23;  // 2^(1 - bias)
    // Normal: rounding carries into the exponent, at worst to infinity.
    const uint32_t odd = (mag >> (23 - man)) & 1;
    const uint32_t up = (mag + ((1u << (22 - man)) - 1) + odd) >> (23 - man);
    const uint32_t normal = up - ((127 - bias) << man);
    // Subnormal: adding 2^k makes the hardware round at the right bit.
    const float magic = bits_as<float>((127 + 23 + 1 - bias - man) << 23);
    const uint32_t low = bits_as<uint32_t>(bits_as<float>(mag) + magic) - bits_as<uint32_t>(magic);
    const uint32_t finite = mag < least_normal ? low : normal < inf ? normal : inf;
    return sign | (mag > 0x7F800000u ? nan : finite);
  }
};

using F16 = Small<5, 10>;

struct BF16 {
  static uint32_t widen(uint32_t v) { return v << 16; }
  static uint32_t narrow(uint32_t v) {
    const uint32_t mag = v & 0x7FFFFFFFu;
    const uint32_t rounded = (v + 0x7FFFu + ((v >> 16) & 1)) >> 16;
    const uint32_t payload = v >> 16;
    const uint32_t nan = (payload & 0x7Fu) ? payload : payload | 0x40u;
    return mag > 0x7F800000u ? nan : rounded;
  }
};

// OCP fp8: finite overflow and infinities saturate, a NaN stays.
struct E5M2 {
  using Wide = Small<5, 2>;
  static uint32_t widen(uint32_t v) { return Wide::widen(v); }
  static uint32_t narrow(uint32_t v) {
    const uint32_t r = Wide::narrow(v);
    return (r & 0x7F) == Wide::inf ? (r & 0x80) | 0x7B : r;
  }
};
struct E4M3 {
  using Wide = Small<4, 3>;
  // No infinities: the largest exponent holds numbers, and 0x7F alone is NaN.
  static uint32_t widen(uint32_t v) {
    const uint32_t sign = (v & 0x80) << 24;
    const uint32_t mag = v & 0x7F;
    const uint32_t top = (mag << 20) + (uint32_t{127 - 7} << 23);
    const uint32_t r = mag == 0x7F ? 0x7FC00000u : mag >= Wide::inf ? top : Wide::widen(mag);
    return sign | r;
  }
  static uint32_t narrow(uint32_t v) {
    const uint32_t sign = (v >> 31) << 7;
    const uint32_t mag = v & 0x7FFFFFFFu;
    const uint32_t odd = (mag >> 20) & 1;
    const uint32_t top = ((mag + 0x7FFFFu + odd) >> 20) - ((127 - 7) << 3);
    const uint32_t saturated = mag >= 0x43E00000u || top > 0x7E ? 0x7Eu : top;  // 448 and more
    const uint32_t finite = mag < 0x43800000u ? Wide::narrow(mag) : saturated;  // below 256 the format is regular
    return sign | (mag > 0x7F800000u ? 0x7Fu : finite < 0x7Eu ? finite : 0x7Eu);
  }
};

template <class S, class Format>
void load_small(int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
  map1<uint32_t, S>(n, out, a, [](S v) -> uint32_t { return Format::widen(v); });
}
template <class S, class Format>
void store_small(int64_t n, char* out, const char* a, const char*, const char*, unsigned scalars) {
  const auto r = reinterpret_cast<Items<S>>(out);
  const auto x = reinterpret_cast<ConstItems<uint32_t>>(a);
  if (scalars & 1) {
    const S v = static_cast<S>(Format::narrow(x[0]));
    for (int64_t i = 0; i < n; ++i) r[i] = v;
  } else {
    INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = static_cast<S>(Format::narrow(x[i]));
  }
}
void load_boolean(int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
  map1<uint8_t, uint8_t>(n, out, a, [](uint8_t v) -> uint8_t { return v != 0; });
}

}  // namespace

StripFn select_strip(unsigned size, bool is_rare) {
  return with_size(size, [&](auto t) -> StripFn { return is_rare ? &rare<decltype(t)> : &select<decltype(t)>; });
}
StripFn move_strip(unsigned size) {
  return with_size(size, [](auto t) -> StripFn { return &move<decltype(t)>; });
}

StripFn load_strip(loop::DType storage) {
  using loop::DType;
  switch (storage) {
    case DType::boolean: return &load_boolean;
    case DType::f16: return &load_small<uint16_t, F16>;
    case DType::bf16: return &load_small<uint16_t, BF16>;
    case DType::f8e5m2: return &load_small<uint8_t, E5M2>;
    case DType::f8e4m3: return &load_small<uint8_t, E4M3>;
    default: return nullptr;
  }
}
StripFn store_strip(loop::DType storage) {
  using loop::DType;
  switch (storage) {
    case DType::f16: return &store_small<uint16_t, F16>;
    case DType::bf16: return &store_small<uint16_t, BF16>;
    case DType::f8e5m2: return &store_small<uint8_t, E5M2>;
    case DType::f8e4m3: return &store_small<uint8_t, E4M3>;
    default: return nullptr;
  }
}

}  // namespace ingot::jit::interp::INGOT_ISA
