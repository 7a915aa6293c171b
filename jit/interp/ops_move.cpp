// What moves bits: copies, select, a boolean's byte, the signs of f16, bf16 and fp8.
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

void load_boolean(int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
  map1<uint8_t, uint8_t>(n, out, a, [](uint8_t v) -> uint8_t { return v != 0; });
}

// The sign operations on floats that are only moved.
template <class T>
StripFn sign(loop::Prim prim) {
  static constexpr T bit = static_cast<T>(1u << (8 * sizeof(T) - 1));
  switch (prim) {
    case loop::Prim::neg:
      return [](int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
        map1<T, T>(n, out, a, [](T x) -> T { return static_cast<T>(x ^ bit); });
      };
    case loop::Prim::abs:
      return [](int64_t n, char* out, const char* a, const char*, const char*, unsigned) {
        map1<T, T>(n, out, a, [](T x) -> T { return static_cast<T>(x & ~bit); });
      };
    case loop::Prim::copysign:
      return [](int64_t n, char* out, const char* a, const char* b, const char*, unsigned scalars) {
        map2<T, T, T>(n, out, a, b, scalars, [](T x, T y) -> T { return static_cast<T>((x & ~bit) | (y & bit)); });
      };
    default: return nullptr;
  }
}

}  // namespace

StripFn sign_strip(loop::Prim prim, unsigned size) { return size == 1 ? sign<uint8_t>(prim) : sign<uint16_t>(prim); }

StripFn select_strip(unsigned size, bool is_rare) {
  return with_size(size, [&](auto t) -> StripFn { return is_rare ? &rare<decltype(t)> : &select<decltype(t)>; });
}
StripFn move_strip(unsigned size) {
  return with_size(size, [](auto t) -> StripFn { return &move<decltype(t)>; });
}

StripFn load_strip(loop::DType storage) { return storage == loop::DType::boolean ? &load_boolean : nullptr; }

}  // namespace ingot::jit::interp::INGOT_ISA
