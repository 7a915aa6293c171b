// Arithmetic on integers and booleans. Everything wraps; nothing traps.
#include "jit/interp/lanes.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp::INGOT_ISA {

namespace {

template <class T>
inline constexpr int width = 8 * sizeof(T);

template <class T>
inline T quotient(T a, T b) {
  using W = Wrapped<T>;
  if constexpr (is_signed<T>) {
    // A divisor of 0 or -1 may trap: 0 gives 0, and -1 negates, which wraps.
    const bool safe = b != 0 && b != static_cast<T>(-1);
    const T q = static_cast<T>(a / (safe ? b : static_cast<T>(1)));
    return safe ? q : b == 0 ? static_cast<T>(0) : static_cast<T>(W{0} - static_cast<W>(a));
  } else {
    const T q = static_cast<T>(a / (b != 0 ? b : static_cast<T>(1)));
    return b != 0 ? q : static_cast<T>(0);
  }
}
template <class T>
inline T remainder(T a, T b) {
  bool safe = b != 0;
  if constexpr (is_signed<T>) safe = safe && b != static_cast<T>(-1);
  const T r = static_cast<T>(a % (safe ? b : static_cast<T>(1)));
  return safe ? r : static_cast<T>(0);
}

template <class T>
inline T left(T a, T b) {
  using W = Wrapped<T>;
  const bool in = b >= 0 && static_cast<W>(b) < W{width<T>};
  const W r = static_cast<W>(a) << (static_cast<W>(b) & (sizeof(W) * 8 - 1));
  return in ? static_cast<T>(r) : static_cast<T>(0);
}
template <class T>
inline T right(T a, T b) {
  using W = Wrapped<T>;
  const bool in = b >= 0 && static_cast<W>(b) < W{width<T>};
  if constexpr (is_signed<T>) {
    const W count = in ? static_cast<W>(b) : W{width<T> - 1};
    return static_cast<T>(a >> count);
  } else {
    const W r = static_cast<W>(a) >> (static_cast<W>(b) & (sizeof(W) * 8 - 1));
    return in ? static_cast<T>(r) : static_cast<T>(0);
  }
}

// Counts by sums of ever wider fields: vectorises on every instruction set.
template <class W>
inline W ones(W v) {
  v = v - ((v >> 1) & static_cast<W>(0x5555555555555555u));
  v = (v & static_cast<W>(0x3333333333333333u)) + ((v >> 2) & static_cast<W>(0x3333333333333333u));
  v = (v + (v >> 4)) & static_cast<W>(0x0F0F0F0F0F0F0F0Fu);
  v = v + (v >> 8);
  v = v + (v >> 16);
  if constexpr (sizeof(W) == 8) v = v + (v >> 32);
  return v & 0x7F;
}
// The value without sign extension.
template <class T>
inline Wrapped<T> plain(T a) {
  using W = Wrapped<T>;
  if constexpr (sizeof(T) < sizeof(W)) return static_cast<W>(a) & ((W{1} << width<T>)-1);
  else return static_cast<W>(a);
}
template <class T>
inline T leading_zeros(T a) {
  using W = Wrapped<T>;
  W v = plain(a);
  v |= v >> 1;
  v |= v >> 2;
  v |= v >> 4;
  v |= v >> 8;
  v |= v >> 16;
  if constexpr (sizeof(W) == 8) v |= v >> 32;
  return static_cast<T>(W{width<T>} - ones(v));
}
template <class T>
inline T trailing_zeros(T a) {
  using W = Wrapped<T>;
  const W v = plain(a);
  const W below = ~v & (v - 1);  // ones where the trailing zeros are; all ones for 0
  if constexpr (sizeof(T) < sizeof(W)) return static_cast<T>(ones(static_cast<W>(below & ((W{1} << width<T>)-1))));
  else return static_cast<T>(ones(below));
}

#define INGOT_UNARY(expr)                                                               \
  return [](int64_t n, char* out, const char* pa, const char*, const char*, unsigned) { \
    map1<T, T>(n, out, pa, [](T a) -> T { return static_cast<T>(expr); });              \
  }
#define INGOT_BINARY(expr)                                                                         \
  return [](int64_t n, char* out, const char* pa, const char* pb, const char*, unsigned scalars) { \
    map2<T, T, T>(n, out, pa, pb, scalars, [](T a, T b) -> T { return static_cast<T>(expr); });    \
  }
#define INGOT_COMPARE(expr)                                                                        \
  return [](int64_t n, char* out, const char* pa, const char* pb, const char*, unsigned scalars) { \
    map2<uint8_t, T, T>(n, out, pa, pb, scalars, [](T a, T b) -> uint8_t { return expr; });        \
  }

// What does not look at the sign has one function for both.
template <class T>
StripFn sign_free(loop::Prim prim) {
  using loop::Prim;
  using W = Wrapped<T>;
  switch (prim) {
    case Prim::add: INGOT_BINARY(static_cast<W>(a) + static_cast<W>(b));
    case Prim::sub: INGOT_BINARY(static_cast<W>(a) - static_cast<W>(b));
    case Prim::mul: INGOT_BINARY(static_cast<W>(a) * static_cast<W>(b));
    case Prim::neg: INGOT_UNARY(W{0} - static_cast<W>(a));
    case Prim::and_: INGOT_BINARY(a & b);
    case Prim::or_: INGOT_BINARY(a | b);
    case Prim::xor_: INGOT_BINARY(a ^ b);
    case Prim::not_: INGOT_UNARY(~static_cast<W>(a));
    case Prim::popcount: INGOT_UNARY(ones(plain(a)));
    case Prim::clz: INGOT_UNARY(leading_zeros<T>(a));
    case Prim::ctz: INGOT_UNARY(trailing_zeros<T>(a));
    case Prim::eq: INGOT_COMPARE(a == b);
    case Prim::ne: INGOT_COMPARE(a != b);
    default: return nullptr;
  }
}

template <class T>
StripFn table(loop::Prim prim) {
  using loop::Prim;
  using W = Wrapped<T>;
  switch (prim) {
    case Prim::div: INGOT_BINARY(quotient<T>(a, b));
    case Prim::rem: INGOT_BINARY(remainder<T>(a, b));
    case Prim::min: INGOT_BINARY(a < b ? a : b);
    case Prim::max: INGOT_BINARY(a > b ? a : b);
    case Prim::abs: INGOT_UNARY(a < static_cast<T>(0) ? W{0} - static_cast<W>(a) : static_cast<W>(a));
    case Prim::shl: INGOT_BINARY(left<T>(a, b));
    case Prim::shr: INGOT_BINARY(right<T>(a, b));
    case Prim::lt: INGOT_COMPARE(a < b);
    case Prim::le: INGOT_COMPARE(a <= b);
    default: break;
  }
  switch (sizeof(T)) {
    case 1: return sign_free<uint8_t>(prim);
    case 2: return sign_free<uint16_t>(prim);
    case 4: return sign_free<uint32_t>(prim);
    default: return sign_free<uint64_t>(prim);
  }
}

StripFn boolean_table(loop::Prim prim) {
  using loop::Prim;
  using T = uint8_t;
  if (prim == Prim::not_) INGOT_UNARY(a ^ 1);
  switch (prim) {
    case Prim::and_:
    case Prim::or_:
    case Prim::xor_:
    case Prim::eq:
    case Prim::ne:
    case Prim::lt:
    case Prim::le: return table<T>(prim);
    default: return nullptr;
  }
}

template <class T>
inline T product_sum(T a, T b, T c) {
  using W = Wrapped<T>;
  return static_cast<T>(static_cast<W>(a) * static_cast<W>(b) + static_cast<W>(c));
}

template <class T>
ChainFn chain() {
  return [](int64_t n, char* p, const char* pa, const char* pb, unsigned scalars) {
    map3<T, T, T, T>(n, p, pa, pb, p, scalars & 3, [](T a, T b, T c) -> T { return product_sum(a, b, c); });
  };
}

// Integer sums have no order: the products go straight into the accumulators.
template <class T>
DotFn dot() {
  return [](int64_t n, int64_t k, char* acc, const char* a, int64_t a_step, const char* b, int64_t b_step,
            unsigned scalars) {
    for (int64_t x = 0; x < k; ++x)
      map3<T, T, T, T>(n, acc, a + x * a_step, b + x * b_step, acc, scalars & 3,
                       [](T u, T v, T c) -> T { return product_sum(u, v, c); });
  };
}

template <class F>
auto with_int(loop::DType type, F f) {
  switch (type) {
    case loop::DType::i8: return f(int8_t{});
    case loop::DType::i16: return f(int16_t{});
    case loop::DType::i32: return f(int32_t{});
    case loop::DType::i64: return f(int64_t{});
    case loop::DType::u16: return f(uint16_t{});
    case loop::DType::u32: return f(uint32_t{});
    case loop::DType::u64: return f(uint64_t{});
    default: return f(uint8_t{});
  }
}

}  // namespace

StripFn int_strip(loop::Prim prim, loop::DType type) {
  if (type == loop::DType::boolean) return boolean_table(prim);
  return with_int(type, [&](auto t) { return table<decltype(t)>(prim); });
}
ChainFn int_chain(loop::DType type) {
  return with_int(type, [](auto t) { return chain<decltype(t)>(); });
}
DotFn int_dot(loop::DType type) {
  return with_int(type, [](auto t) { return dot<decltype(t)>(); });
}

}  // namespace ingot::jit::interp::INGOT_ISA
