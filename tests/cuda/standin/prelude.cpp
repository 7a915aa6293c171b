#include "prelude.h"

namespace standin {

// What CUDA C++ has and the host's has not. Positions are read by inline assembly, which the access checks do not see.
const char* prelude() {
  return R"standin(
#define __global__ __attribute__((visibility("default"), noinline))
#define __device__
#define __host__
#define __constant__ static
#define __managed__ static
#define __shared__ thread_local __attribute__((used))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __NVCC__ 1
#define __grid_constant__

typedef unsigned long size_t;
extern "C" {
void* memcpy(void*, const void*, size_t);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
__attribute__((visibility("hidden"))) void* standin_table[64] = {};
__attribute__((visibility("hidden"))) void* standin_thread = 0;
__attribute__((visibility("hidden"))) void* standin_block = 0;
unsigned standin_barrier(int site, int op, unsigned value);
unsigned long long standin_warp(unsigned mask, int op, unsigned long long value, int arg, int width);
unsigned long long standin_atomic(void*, unsigned bytes, int op, unsigned long long value, unsigned long long compare);
__attribute__((noreturn)) void standin_trap(const char*);
float standin_fmaf(float, float, float);
double standin_fma(double, double, double);
thread_local char standin_shared_begin[64] __attribute__((aligned(64)));
__attribute__((no_sanitize("thread"), used, noinline)) char* standin_shared_base() { return standin_shared_begin; }
}

namespace standin {
template <int at>
inline __attribute__((always_inline)) unsigned of_thread() {
  unsigned long v;
  asm("movq standin_thread(%%rip), %0\n\tmovl %c1(%0), %k0" : "=r"(v) : "i"(at));
  return (unsigned)v;
}
template <int at>
inline __attribute__((always_inline)) unsigned of_block() {
  unsigned long v;
  asm("movq standin_block(%%rip), %0\n\tmovl %c1(%0), %k0" : "=r"(v) : "i"(at));
  return (unsigned)v;
}
template <class F, F f>
struct Kernel;
template <unsigned... i>
struct Seq {};
struct Info {
  void (*call)(char**);
  unsigned bounds, parameters;
  unsigned size[64], align[64];
};
template <class... A, void (*f)(A...)>
struct Kernel<void (*)(A...), f> {
  template <unsigned... i>
  __attribute__((no_sanitize("thread"))) static void unpack(char** p, Seq<i...>) {
    f(*(A*)p[i]...);
  }
  __attribute__((no_sanitize("thread"))) static void call(char** p) { unpack(p, Seq<__integer_pack(sizeof...(A))...>()); }
  static constexpr Info info(unsigned bounds) {
    return {call, bounds, sizeof...(A), {(unsigned)sizeof(A)...}, {(unsigned)alignof(A)...}};
  }
};
}  // namespace standin

struct uint2 { unsigned x, y; } __attribute__((aligned(8)));
struct uint3 { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; } __attribute__((aligned(16)));
struct int2 { int x, y; } __attribute__((aligned(8)));
struct int3 { int x, y, z; };
struct int4 { int x, y, z, w; } __attribute__((aligned(16)));
struct float2 { float x, y; } __attribute__((aligned(8)));
struct float3 { float x, y, z; };
struct float4 { float x, y, z, w; } __attribute__((aligned(16)));
struct double2 { double x, y; } __attribute__((aligned(16)));
struct longlong2 { long long x, y; } __attribute__((aligned(16)));
struct ulonglong2 { unsigned long long x, y; } __attribute__((aligned(16)));
struct ushort2 { unsigned short x, y; } __attribute__((aligned(4)));
struct ushort4 { unsigned short x, y, z, w; } __attribute__((aligned(8)));
struct uchar2 { unsigned char x, y; } __attribute__((aligned(2)));
struct uchar4 { unsigned char x, y, z, w; } __attribute__((aligned(4)));
typedef uint3 dim3;
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

#define threadIdx (uint3{standin::of_thread<8>(), standin::of_thread<12>(), standin::of_thread<16>()})
#define blockIdx (uint3{standin::of_block<0>(), standin::of_block<4>(), standin::of_block<8>()})
#define blockDim (uint3{standin::of_block<12>(), standin::of_block<16>(), standin::of_block<20>()})
#define gridDim (uint3{standin::of_block<24>(), standin::of_block<28>(), standin::of_block<32>()})
#define warpSize 32

#define __syncthreads() ((void)standin_barrier(__COUNTER__, 0, 0))
#define __syncthreads_count(v) ((int)standin_barrier(__COUNTER__, 1, (v) != 0))
#define __syncthreads_and(v) ((int)standin_barrier(__COUNTER__, 2, (v) != 0))
#define __syncthreads_or(v) ((int)standin_barrier(__COUNTER__, 3, (v) != 0))
inline void __threadfence() { asm volatile("" ::: "memory"); }
inline void __threadfence_block() { asm volatile("" ::: "memory"); }
inline void __threadfence_system() { asm volatile("" ::: "memory"); }
inline void __nanosleep(unsigned) {}
inline void __trap() { standin_trap("__trap"); }
#define assert(v) ((v) ? (void)0 : standin_trap(#v))

namespace standin {
template <class T>
inline __attribute__((always_inline)) T exchange(unsigned mask, int op, T v, int arg, int width) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles take 4 or 8 bytes");
  unsigned long long word = 0;
  __builtin_memcpy(&word, &v, sizeof v);
  word = standin_warp(mask, op, word, arg, width);
  __builtin_memcpy(&v, &word, sizeof v);
  return v;
}
}  // namespace standin
template <class T>
inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32) { return standin::exchange(mask, 1, v, lane, width); }
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) { return standin::exchange(mask, 2, v, (int)by, width); }
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) { return standin::exchange(mask, 3, v, (int)by, width); }
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int by, int width = 32) { return standin::exchange(mask, 4, v, by, width); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { standin_warp(mask, 0, 0, 0, 32); }
inline unsigned __ballot_sync(unsigned mask, int v) { return (unsigned)standin_warp(mask, 5, v != 0, 0, 32); }
inline int __any_sync(unsigned mask, int v) { return (int)standin_warp(mask, 6, v != 0, 0, 32); }
inline int __all_sync(unsigned mask, int v) { return (int)standin_warp(mask, 7, v != 0, 0, 32); }
template <class T>
inline unsigned __match_any_sync(unsigned mask, T v) {
  unsigned long long word = 0;
  __builtin_memcpy(&word, &v, sizeof v);
  return (unsigned)standin_warp(mask, 8, word, 0, 32);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned v) { return (unsigned)standin_warp(mask, 9, v, 0, 32); }
inline int __reduce_add_sync(unsigned mask, int v) { return (int)standin_warp(mask, 9, (unsigned)v, 0, 32); }
inline unsigned __reduce_min_sync(unsigned mask, unsigned v) { return (unsigned)standin_warp(mask, 10, v, 0, 32); }
inline unsigned __reduce_max_sync(unsigned mask, unsigned v) { return (unsigned)standin_warp(mask, 11, v, 0, 32); }
inline int __reduce_min_sync(unsigned mask, int v) { return (int)((unsigned)standin_warp(mask, 10, (unsigned)v ^ 0x80000000u, 0, 32) ^ 0x80000000u); }
inline int __reduce_max_sync(unsigned mask, int v) { return (int)((unsigned)standin_warp(mask, 11, (unsigned)v ^ 0x80000000u, 0, 32) ^ 0x80000000u); }
inline unsigned __reduce_and_sync(unsigned mask, unsigned v) { return (unsigned)standin_warp(mask, 12, v, 0, 32); }
inline unsigned __reduce_or_sync(unsigned mask, unsigned v) { return (unsigned)standin_warp(mask, 13, v, 0, 32); }
inline unsigned __activemask() { return (unsigned)standin_warp(0, 14, 0, 0, 32); }

#define STANDIN_ATOMIC(T, low, high)                                                                               \
  inline T atomicAdd(T* p, T v) { return (T)standin_atomic(p, sizeof(T), 0, (unsigned long long)v, 0); }           \
  inline T atomicSub(T* p, T v) { return (T)standin_atomic(p, sizeof(T), 0, 0 - (unsigned long long)v, 0); }       \
  inline T atomicExch(T* p, T v) { return (T)standin_atomic(p, sizeof(T), 1, (unsigned long long)v, 0); }          \
  inline T atomicCAS(T* p, T was, T v) {                                                                           \
    return (T)standin_atomic(p, sizeof(T), 2, (unsigned long long)v, (unsigned long long)was);                     \
  }                                                                                                                \
  inline T atomicMin(T* p, T v) { return (T)standin_atomic(p, sizeof(T), low, (unsigned long long)v, 0); }         \
  inline T atomicMax(T* p, T v) { return (T)standin_atomic(p, sizeof(T), high, (unsigned long long)v, 0); }        \
  inline T atomicAnd(T* p, T v) { return (T)standin_atomic(p, sizeof(T), 7, (unsigned long long)v, 0); }           \
  inline T atomicOr(T* p, T v) { return (T)standin_atomic(p, sizeof(T), 8, (unsigned long long)v, 0); }            \
  inline T atomicXor(T* p, T v) { return (T)standin_atomic(p, sizeof(T), 9, (unsigned long long)v, 0); }
STANDIN_ATOMIC(int, 3, 4)
STANDIN_ATOMIC(unsigned, 5, 6)
STANDIN_ATOMIC(long long, 3, 4)
STANDIN_ATOMIC(unsigned long long, 5, 6)

#ifdef __FMA__
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
inline float fmaf(float a, float b, float c) { return standin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return standin_fma(a, b, c); }
#endif
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
inline float sqrtf(float a) { return __builtin_sqrtf(a); }
inline double sqrt(double a) { return __builtin_sqrt(a); }
inline float floorf(float a) { return __builtin_floorf(a); }
inline double floor(double a) { return __builtin_floor(a); }
inline float ceilf(float a) { return __builtin_ceilf(a); }
inline double ceil(double a) { return __builtin_ceil(a); }
inline float truncf(float a) { return __builtin_truncf(a); }
inline double trunc(double a) { return __builtin_trunc(a); }
inline float rintf(float a) { return __builtin_rintf(a); }
inline double rint(double a) { return __builtin_rint(a); }
inline float fabsf(float a) { return __builtin_fabsf(a); }
inline double fabs(double a) { return __builtin_fabs(a); }
inline float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
inline double copysign(double a, double b) { return __builtin_copysign(a, b); }
inline float fminf(float a, float b) { return a != a ? b : b != b ? a : a < b || (a == b && __builtin_signbit(a)) ? a : b; }
inline float fmaxf(float a, float b) { return a != a ? b : b != b ? a : a > b || (a == b && __builtin_signbit(b)) ? a : b; }
inline double fmin(double a, double b) { return a != a ? b : b != b ? a : a < b || (a == b && __builtin_signbit(a)) ? a : b; }
inline double fmax(double a, double b) { return a != a ? b : b != b ? a : a > b || (a == b && __builtin_signbit(b)) ? a : b; }

#define STANDIN_MINMAX(T)                              \
  inline T min(T a, T b) { return a < b ? a : b; }     \
  inline T max(T a, T b) { return a > b ? a : b; }
STANDIN_MINMAX(int)
STANDIN_MINMAX(unsigned)
STANDIN_MINMAX(long long)
STANDIN_MINMAX(unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (v >> i & 1u) << (31 - i);
  return r;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = s >> 4 * i;
    unsigned byte = (unsigned)(both >> 8 * (pick & 7)) & 255u;
    if (pick & 8) byte = byte & 128u ? 255u : 0u;
    r |= byte << 8 * i;
  }
  return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31)); }
inline int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
inline unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
inline float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
inline float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
inline long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
inline double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
template <class T>
inline T __ldg(const T* p) { return *p; }
template <class T>
inline T __ldcs(const T* p) { return *p; }
template <class T>
inline T __ldca(const T* p) { return *p; }
template <class T>
inline T __ldcg(const T* p) { return *p; }
template <class T>
inline T __ldlu(const T* p) { return *p; }
template <class T>
inline void __stcs(T* p, T v) { *p = v; }
template <class T>
inline void __stcg(T* p, T v) { *p = v; }
template <class T>
inline void __stwt(T* p, T v) { *p = v; }
inline size_t __cvta_generic_to_shared(const void* p) { return (size_t)p; }
)standin";
}

}  // namespace standin
