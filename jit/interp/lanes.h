// Loops over strips, for the files of this folder that are compiled once per instruction set. Everything here has
// internal linkage and nothing of the standard library is used but its types: a shared inline function compiled with
// AVX2 could be the copy that the linker gives to the baseline.
#pragma once

#include <cstdint>
#include <cstring>

namespace ingot::jit::interp {
namespace {

template <class T>
struct Unaligned {
  using type [[gnu::aligned(1), gnu::may_alias]] = T;
};
template <class T>
using Items = typename Unaligned<T>::type*;
template <class T>
using ConstItems = const typename Unaligned<T>::type*;

// The compiler may assume that no lane depends on another: operands and result coincide or are apart.
#if defined(__clang__)
#define INGOT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define INGOT_LANES _Pragma("GCC ivdep")
#endif

template <class R, class A, class F>
inline void map1(int64_t n, char* out, const char* a, F f) {
  const auto r = reinterpret_cast<Items<R>>(out);
  const auto x = reinterpret_cast<ConstItems<A>>(a);
  INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(static_cast<A>(x[i]));
}

// A loop of its own for each mix of strips and single items: a stride of 0 or 1 known only at run time would not
// vectorise.
template <class R, class A, class B, class F>
inline void map2(int64_t n, char* out, const char* a, const char* b, unsigned scalars, F f) {
  const auto r = reinterpret_cast<Items<R>>(out);
  const auto x = reinterpret_cast<ConstItems<A>>(a);
  const auto y = reinterpret_cast<ConstItems<B>>(b);
  switch (scalars & 3) {
    case 0: INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(static_cast<A>(x[i]), static_cast<B>(y[i])); return;
    case 1: {
      const A x0 = x[0];
      INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(x0, static_cast<B>(y[i]));
      return;
    }
    case 2: {
      const B y0 = y[0];
      INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(static_cast<A>(x[i]), y0);
      return;
    }
    default: {
      const R r0 = f(static_cast<A>(x[0]), static_cast<B>(y[0]));
      for (int64_t i = 0; i < n; ++i) r[i] = r0;
    }
  }
}

template <class R, class A, class B, class C, class F>
inline void map3(int64_t n, char* out, const char* a, const char* b, const char* c, unsigned scalars, F f) {
  const auto r = reinterpret_cast<Items<R>>(out);
  const auto x = reinterpret_cast<ConstItems<A>>(a);
  const auto y = reinterpret_cast<ConstItems<B>>(b);
  const auto z = reinterpret_cast<ConstItems<C>>(c);
  const A x0 = x[0];
  const B y0 = y[0];
  const C z0 = z[0];
  switch (scalars & 7) {
    case 0:
      INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] =
          f(static_cast<A>(x[i]), static_cast<B>(y[i]), static_cast<C>(z[i]));
      return;
    case 1:
      INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(x0, static_cast<B>(y[i]), static_cast<C>(z[i]));
      return;
    case 2:
      INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(static_cast<A>(x[i]), y0, static_cast<C>(z[i]));
      return;
    case 3: INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(x0, y0, static_cast<C>(z[i])); return;
    case 4:
      INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(static_cast<A>(x[i]), static_cast<B>(y[i]), z0);
      return;
    case 5: INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(x0, static_cast<B>(y[i]), z0); return;
    case 6: INGOT_LANES for (int64_t i = 0; i < n; ++i) r[i] = f(static_cast<A>(x[i]), y0, z0); return;
    default: {
      const R r0 = f(x0, y0, z0);
      for (int64_t i = 0; i < n; ++i) r[i] = r0;
    }
  }
}

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = uint32_t;
};
template <>
struct BitsOf<double> {
  using type = uint64_t;
};

template <class To, class From>
inline To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  __builtin_memcpy(&r, &v, sizeof r);
  return r;
}

// The unsigned type that integer arithmetic wraps in: at least 32 bits, so that nothing is promoted to int.
template <unsigned size>
struct Wrap {
  using type = uint32_t;
};
template <>
struct Wrap<8> {
  using type = uint64_t;
};
template <class T>
using Wrapped = typename Wrap<sizeof(T)>::type;

template <class T>
inline constexpr bool is_fp = false;
template <>
inline constexpr bool is_fp<float> = true;
template <>
inline constexpr bool is_fp<double> = true;
template <class T>
inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);

// max and min: a NaN from either side; of two zeros max takes +0, min -0.
template <class T>
inline T float_max(T a, T b) {
  using U = typename BitsOf<T>::type;
  const T other = a > b ? a : a != a ? a : b;
  return a == b ? bits_as<T>(static_cast<U>(bits_as<U>(a) & bits_as<U>(b))) : other;
}
template <class T>
inline T float_min(T a, T b) {
  using U = typename BitsOf<T>::type;
  const T other = a < b ? a : a != a ? a : b;
  return a == b ? bits_as<T>(static_cast<U>(bits_as<U>(a) | bits_as<U>(b))) : other;
}

}  // namespace
}  // namespace ingot::jit::interp
