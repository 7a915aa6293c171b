#include "jit/cuda/nodes.h"

namespace ingot::jit::cuda {

// Minimum and maximum pass a NaN from either side and tell -0 from +0, which fminf and fmaxf do not. Conversions
// saturate and send NaN to 0. Integer division is total. Everything by comparison and selection on ordinary arithmetic,
// so that host compilers give the same bits.
const char* prelude() {
  return R"(typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
// Behind the parameters of a lambda: its captures would lie in memory if it were called.
#define INLINE __attribute__((always_inline))

template <class To, class From>
__device__ __forceinline__ To bits(From v) {
  To r;
  memcpy(&r, &v, sizeof r);
  return r;
}
template <class T>
__device__ __forceinline__ T at(const char* p) {
  return *reinterpret_cast<const T*>(p);
}
// Shared memory as items.
template <class T>
__device__ __forceinline__ T* room_of(u64* room) {
  return reinterpret_cast<T*>(room);
}
__device__ __forceinline__ bool negative(float v) { return bits<i32>(v) < 0; }
__device__ __forceinline__ bool negative(double v) { return bits<i64>(v) < 0; }
template <class T>
__device__ __forceinline__ T canon(T v) {
  return v == v ? v : sizeof(T) == 4 ? (T)bits<float>(0x7fc00000u) : (T)bits<double>(0x7ff8000000000000ull);
}
template <class T>
__device__ __forceinline__ T fmin2(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return a < b || (a == b && negative(a)) ? a : b;
}
template <class T>
__device__ __forceinline__ T fmax2(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return a > b || (a == b && negative(b)) ? a : b;
}
template <class T>
__device__ __forceinline__ T idiv(T a, T b) {
  if (b == 0) return 0;
  if ((T)-1 < 0 && b == (T)-1) return (T)(0 - (u64)a);
  return (T)(a / b);
}
template <class T>
__device__ __forceinline__ T irem(T a, T b) {
  if (b == 0 || ((T)-1 < 0 && b == (T)-1)) return 0;
  return (T)(a % b);
}
template <class T>
__device__ __forceinline__ T shl(T a, T n) {
  return n < 0 || (u64)n >= 8 * sizeof(T) ? (T)0 : (T)((u64)a << (int)n);
}
template <class T>
__device__ __forceinline__ T shr(T a, T n) {
  const bool beyond = n < 0 || (u64)n >= 8 * sizeof(T);
  if ((T)-1 < 0) return (T)(a >> (beyond ? 8 * (int)sizeof(T) - 1 : (int)n));
  return beyond ? (T)0 : (T)(a >> (int)n);
}
template <class T>
__device__ __forceinline__ T count_leading(T a) {
  int n = 8 * (int)sizeof(T);
  u64 v = (u64)a & (~0ull >> (64 - n));
  return (T)(v ? __clzll((i64)v) - (64 - n) : n);
}
template <class T>
__device__ __forceinline__ T count_trailing(T a) {
  const int n = 8 * (int)sizeof(T);
  const u64 v = (u64)a & (~0ull >> (64 - n));
  return (T)(v ? __ffsll((i64)v) - 1 : n);
}
template <class T>
__device__ __forceinline__ T count_ones(T a) {
  return (T)__popcll((u64)a & (~0ull >> (64 - 8 * (int)sizeof(T))));
}
template <class To, class From>
__device__ __forceinline__ To to_int(From v, To lo, To hi, From below, From above) {
  if (v != v) return 0;
  if (v <= below) return lo;
  if (v >= above) return hi;
  return (To)v;
}
// x * 2^n rounded once: all but the last factor keep x normal, and the last one rounds.
__device__ __forceinline__ float scale2(float x, i32 n) {
  n = n < -400 ? -400 : n > 400 ? 400 : n;
  double r = (double)x;  // 53 bits and a wide exponent: exact, and one conversion rounds
  return (float)(r * bits<double>((u64)(1023 + n) << 52));
}
__device__ __forceinline__ double scale2(double x, i32 n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  if (x == 0 || x != x || x - x != 0) return x + x;
  u64 b = bits<u64>(x);
  int e = (int)(b >> 52 & 2047);
  if (e == 0) {
    x = x * 0x1p54;
    b = bits<u64>(x);
    e = (int)(b >> 52 & 2047) - 54;
  }
  e += n;
  const u64 head = b & 0x800fffffffffffffull;
  if (e > 2046) return bits<double>(head | 0x7fe0000000000000ull) * 2.0;
  if (e > 0) return bits<double>(head | (u64)e << 52);
  if (e < -60) e = -60;
  return bits<double>(head | (u64)(e + 64) << 52) * 0x1p-64;
}
)";
}

// The thread that claims the fault first describes it.
const char* check_prelude() {
  return R"(
struct Fault {
  u64 check;
  i64 index, extent;
};
__device__ __forceinline__ bool check(Fault* fault, u64 number, bool when, i64 index, i64 extent) {
  const bool inside = (u64)index < (u64)extent;
  if (when && !inside && atomicCAS(&fault->check, 0ull, number + 1) == 0) {
    fault->index = index;
    fault->extent = extent;
  }
  return when && inside;
}
)";
}

// f16, bf16 and fp8 by integer operations, as the CPU backends convert them: the toolkit's headers are not needed, and
// a NaN is the canonical one.
const char* narrow_prelude() {
  return R"(
template <class S, u32 exp, u32 man, u32 most, u32 nan>
struct Narrow {
  static __device__ __forceinline__ float widen(S s) {
    const u32 v = s, bias = (1u << (exp - 1)) - 1, all = (1u << (exp + man)) - 1, mag = v & all;
    const u32 special = nan == all ? all : ((1u << exp) - 1) << man;
    const u32 top = 0x7f800000u | (nan == all ? 0x400000u : mag << (23 - man));
    const u32 scaled = bits<u32>(bits<float>(mag << (23 - man)) * bits<float>((254 - bias) << 23));
    return bits<float>((mag >= special ? top : scaled) | (v >> (exp + man)) << 31);
  }
  static __device__ __forceinline__ S narrow(float x) {
    const u32 v = bits<u32>(x), bias = (1u << (exp - 1)) - 1, mag = v & 0x7fffffffu;
    if (mag > 0x7f800000u) return (S)nan;
    const u32 up = (mag + ((1u << (22 - man)) - 1) + (mag >> (23 - man) & 1)) >> (23 - man);
    const u32 normal = up - ((127 - bias) << man);
    const float magic = bits<float>((151 - bias - man) << 23);
    const u32 low = bits<u32>(bits<float>(mag) + magic) - bits<u32>(magic);
    const u32 finite = mag < (128 - bias) << 23 ? low : normal < most ? normal : most;
    return (S)(finite | (v >> 31) << (exp + man));
  }
};
typedef Narrow<u16, 5, 10, 0x7c00, 0x7e00> F16;
typedef Narrow<u8, 4, 3, 0x7e, 0x7f> F8E4M3;
typedef Narrow<u8, 5, 2, 0x7b, 0x7e> F8E5M2;
struct BF16 {
  static __device__ __forceinline__ float widen(u16 v) { return bits<float>((u32)v << 16); }
  static __device__ __forceinline__ u16 narrow(float x) {
    const u32 v = bits<u32>(x);
    return x != x ? (u16)0x7fc0u : (u16)((v + 0x7fffu + (v >> 16 & 1)) >> 16);
  }
};
)";
}

}  // namespace ingot::jit::cuda
