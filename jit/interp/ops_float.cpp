// Arithmetic on f32 and f64.
#include "jit/interp/lanes.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp::INGOT_ISA {

namespace {

// Rounded once. Without the instruction f32 goes through f64: the product is exact there, the sum is rounded to odd
// (TwoSum gives the error), and odd with 53 bits rounds to 24 as the exact value would.
inline float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double d = static_cast<double>(c);
  const double s = p + d;
  const double t = s - p;
  const double e = (p - (s - t)) + (d - t);
  const uint64_t u = bits_as<uint64_t>(s);
  // Finite, inexact and even: step towards the error. The step is away from zero where error and sum agree in sign.
  const bool even = (u & 1) == 0;
  const bool finite = (u & 0x7FF0000000000000u) != 0x7FF0000000000000u;
  const bool inexact = e < 0 || e > 0;
  const uint64_t away = ((bits_as<uint64_t>(e) ^ u) >> 63) == 0 ? 1 : ~uint64_t{0};
  return static_cast<float>(bits_as<double>(even && finite && inexact ? u + away : u));
#endif
}
// The C library's is exact on every machine.
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

inline float scaled(float a, int32_t b) {
  // Exact in f64: beyond +-300 every f32 has overflowed or vanished.
  const int32_t n = b < -300 ? -300 : b > 300 ? 300 : b;
  return static_cast<float>(static_cast<double>(a) *
                            bits_as<double>(static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52));
}
inline double scaled(double a, int32_t b) {
  // Three factors within the format. Downwards each but the last is 2^-969: if such a step already makes the value
  // subnormal, the factors left are below 2^-53, and the result is zero however the step rounded.
  int32_t n = b < -3000 ? -3000 : b > 3000 ? 3000 : b;
  for (int step = 0; step < 2; ++step) {
    const int32_t part = n < -1022 ? -969 : n > 1023 ? 1023 : 0;
    a *= bits_as<double>(static_cast<uint64_t>(static_cast<int64_t>(part) + 1023) << 52);
    n -= part;
  }
  n = n < -1022 ? -1022 : n > 1023 ? 1023 : n;
  return a * bits_as<double>(static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52);
}

inline float root(float a) { return __builtin_sqrtf(a); }
inline double root(double a) { return __builtin_sqrt(a); }
inline float down(float a) { return __builtin_floorf(a); }
inline double down(double a) { return __builtin_floor(a); }
inline float up(float a) { return __builtin_ceilf(a); }
inline double up(double a) { return __builtin_ceil(a); }
inline float cut(float a) { return __builtin_truncf(a); }
inline double cut(double a) { return __builtin_trunc(a); }
// Half to even: round-to-nearest is set.
inline float nearest(float a) { return __builtin_rintf(a); }
inline double nearest(double a) { return __builtin_rint(a); }

#define INGOT_UNARY(expr)                                                               \
  return [](int64_t n, char* out, const char* pa, const char*, const char*, unsigned) { \
    map1<T, T>(n, out, pa, [](T a) -> T { return expr; });                              \
  }
#define INGOT_BINARY(expr)                                                                         \
  return [](int64_t n, char* out, const char* pa, const char* pb, const char*, unsigned scalars) { \
    map2<T, T, T>(n, out, pa, pb, scalars, [](T a, T b) -> T { return expr; });                    \
  }
#define INGOT_COMPARE(expr)                                                                        \
  return [](int64_t n, char* out, const char* pa, const char* pb, const char*, unsigned scalars) { \
    map2<uint8_t, T, T>(n, out, pa, pb, scalars, [](T a, T b) -> uint8_t { return expr; });        \
  }

template <class T>
StripFn table(loop::Prim prim) {
  using loop::Prim;
  using U = typename BitsOf<T>::type;
  static constexpr U sign = U{1} << (8 * sizeof(T) - 1);
  static constexpr U quiet = sizeof(T) == 4 ? U{0x7FC00000u} : static_cast<U>(0x7FF8000000000000u);
  switch (prim) {
    case Prim::add: INGOT_BINARY(a + b);
    case Prim::sub: INGOT_BINARY(a - b);
    case Prim::mul: INGOT_BINARY(a * b);
    case Prim::div: INGOT_BINARY(a / b);
    case Prim::min: INGOT_BINARY(float_min(a, b));
    case Prim::max: INGOT_BINARY(float_max(a, b));
    // Through the bits: a NaN keeps payload and quiet bit.
    case Prim::neg: INGOT_UNARY(bits_as<T>(static_cast<U>(bits_as<U>(a) ^ sign)));
    case Prim::abs: INGOT_UNARY(bits_as<T>(static_cast<U>(bits_as<U>(a) & ~sign)));
    case Prim::copysign: INGOT_BINARY(bits_as<T>(static_cast<U>((bits_as<U>(a) & ~sign) | (bits_as<U>(b) & sign))));
    case Prim::sqrt: INGOT_UNARY(root(a));
    case Prim::floor: INGOT_UNARY(down(a));
    case Prim::ceil: INGOT_UNARY(up(a));
    case Prim::trunc: INGOT_UNARY(cut(a));
    case Prim::round: INGOT_UNARY(nearest(a));
    case Prim::canon: INGOT_UNARY(a != a ? bits_as<T>(quiet) : a);
    case Prim::fma:
      return [](int64_t n, char* out, const char* pa, const char* pb, const char* pc, unsigned scalars) {
        map3<T, T, T, T>(n, out, pa, pb, pc, scalars, [](T a, T b, T c) -> T { return fused(a, b, c); });
      };
    case Prim::scale2:
      return [](int64_t n, char* out, const char* pa, const char* pb, const char*, unsigned scalars) {
        map2<T, T, int32_t>(n, out, pa, pb, scalars, [](T a, int32_t b) -> T { return scaled(a, b); });
      };
    case Prim::eq: INGOT_COMPARE(a == b);
    case Prim::ne: INGOT_COMPARE(a != b);
    case Prim::lt: INGOT_COMPARE(a < b);
    case Prim::le: INGOT_COMPARE(a <= b);
    default: return nullptr;
  }
}

template <class T>
ChainFn chain() {
  return [](int64_t n, char* p, const char* pa, const char* pb, unsigned scalars) {
    map3<T, T, T, T>(n, p, pa, pb, p, scalars & 3, [](T a, T b, T c) -> T { return fused(a, b, c); });
  };
}

// Lanes are taken in blocks that stay in registers over all of k.
template <class T>
DotFn dot() {
  return [](int64_t n, int64_t k, char* acc, const char* pa, int64_t a_step, const char* pb, int64_t b_step,
            unsigned scalars) {
    constexpr int64_t block = 128 / sizeof(T);
    constexpr int64_t item = sizeof(T);
    const auto sum = reinterpret_cast<Items<T>>(acc);
    for (int64_t i = 0; i < n; i += block) {
      const int64_t m = n - i < block ? n - i : block;
      T p[block];
      for (int64_t j = 0; j < block; ++j) p[j] = static_cast<T>(-0.0);
      const char* a = pa + (scalars & 1 ? 0 : i * item);
      const char* b = pb + (scalars & 2 ? 0 : i * item);
      const auto step = [&](auto lanes, auto a_scalar, auto b_scalar) {
        for (int64_t x = 0; x < k; ++x) {
          const auto va = reinterpret_cast<ConstItems<T>>(a + x * a_step);
          const auto vb = reinterpret_cast<ConstItems<T>>(b + x * b_step);
          const T a0 = va[0], b0 = vb[0];
          for (int64_t j = 0; j < lanes(); ++j) p[j] = fused(a_scalar() ? a0 : va[j], b_scalar() ? b0 : vb[j], p[j]);
        }
      };
      const auto yes = [] { return true; };
      const auto no = [] { return false; };
      const auto all = [] { return block; };
      if (m < block) {
        const auto some = [m] { return m; };
        step(some, [=] { return (scalars & 1) != 0; }, [=] { return (scalars & 2) != 0; });
      } else if ((scalars & 3) == 1) {
        step(all, yes, no);
      } else if ((scalars & 3) == 2) {
        step(all, no, yes);
      } else if ((scalars & 3) == 0) {
        step(all, no, no);
      } else {
        step(all, yes, yes);
      }
      for (int64_t j = 0; j < m; ++j) sum[i + j] = sum[i + j] + p[j];
    }
  };
}

}  // namespace

StripFn float_strip(loop::Prim prim, loop::DType type) {
  return type == loop::DType::f32 ? table<float>(prim) : type == loop::DType::f64 ? table<double>(prim) : nullptr;
}
ChainFn float_chain(loop::DType type) { return type == loop::DType::f32 ? chain<float>() : chain<double>(); }
DotFn float_dot(loop::DType type) { return type == loop::DType::f32 ? dot<float>() : dot<double>(); }

}  // namespace ingot::jit::interp::INGOT_ISA
