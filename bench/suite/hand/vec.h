// Eight floats, and the functions of them that the baselines share: about 1 ULP each, written for AVX2 and FMA.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace hand {

using V = __m256;

inline V all(float x) { return _mm256_set1_ps(x); }
inline V load(const float* p) { return _mm256_loadu_ps(p); }

// To memory that is not read soon (`stream`: past the caches; p is then 32-byte aligned), or as usual.
template <bool stream>
inline void store(float* p, V x) {
  if constexpr (stream) _mm256_stream_ps(p, x);
  else _mm256_storeu_ps(p, x);
}

// The first `count` lanes, 0 to 8.
inline __m256i lanes(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline V load_part(const float* p, __m256i mask, V rest) {
  return _mm256_blendv_ps(rest, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}

inline float sum(V x) {
  const __m128 h = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 q = _mm_add_ps(h, _mm_movehl_ps(h, h));
  return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}

inline float maximum(V x) {
  const __m128 h = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 q = _mm_max_ps(h, _mm_movehl_ps(h, h));
  return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}

// The functions below take `k` vectors at once, operation by operation: the core's queues hold few vectors of a chain
// of twenty operations, so that one vector after the other would wait for itself.

// e^x for x <= 88; below -87.3, where results would be denormal, 0.
template <int k>
inline void exp(V (&x)[k]) {
  V n[k], r[k], p[k];
  const V shift = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer, which is then in the low bits
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(x[i], all(1.44269504f), shift);
  for (int i = 0; i < k; ++i) n[i] = _mm256_sub_ps(p[i], shift);
  for (int i = 0; i < k; ++i) r[i] = _mm256_fnmadd_ps(n[i], all(0.693359375f), x[i]);
  for (int i = 0; i < k; ++i) r[i] = _mm256_fnmadd_ps(n[i], all(-2.12194440e-4f), r[i]);
  for (int i = 0; i < k; ++i) n[i] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(p[i]), 23));
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(r[i], all(1.98527617e-4f), all(1.39304355e-3f));
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(p[i], r[i], all(8.33336077e-3f));
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(p[i], r[i], all(4.16664853e-2f));
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(p[i], r[i], all(0.166666672f));
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(p[i], r[i], all(0.5f));
  for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(_mm256_mul_ps(r[i], r[i]), p[i], r[i]);
  for (int i = 0; i < k; ++i) p[i] = _mm256_add_ps(p[i], all(1.0f));
  for (int i = 0; i < k; ++i)
    p[i] = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p[i]), _mm256_castps_si256(n[i])));
  for (int i = 0; i < k; ++i) x[i] = _mm256_andnot_ps(_mm256_cmp_ps(x[i], all(-87.3f), _CMP_LT_OQ), p[i]);
}

// 1 / (1 + e^-x).
template <int k>
inline void sigmoid(V (&x)[k]) {
  for (int i = 0; i < k; ++i) x[i] = _mm256_xor_ps(_mm256_max_ps(x[i], all(-88.0f)), all(-0.0f));
  exp(x);
  for (int i = 0; i < k; ++i) x[i] = _mm256_div_ps(all(1.0f), _mm256_add_ps(all(1.0f), x[i]));
}

// log x for positive normal x.
template <int k>
inline void log(V (&x)[k]) {
  V e[k], f[k], p[k];
  for (int i = 0; i < k; ++i) {
    // x = m 2^e with m in [0.707, 1.414): the bits of sqrt(1/2) are taken off the exponent first.
    const __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(x[i]), _mm256_set1_epi32(0x3f3504f3));
    e[i] = _mm256_cvtepi32_ps(_mm256_srai_epi32(bits, 23));
    const __m256i mantissa = _mm256_and_si256(bits, _mm256_set1_epi32(0x007fffff));
    f[i] = _mm256_castsi256_ps(_mm256_add_epi32(mantissa, _mm256_set1_epi32(0x3f3504f3)));
    f[i] = _mm256_sub_ps(f[i], all(1.0f));
  }
  const float c[] = {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                     -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f};
  for (int i = 0; i < k; ++i) p[i] = all(7.0376836292e-2f);
  for (const float next : c)
    for (int i = 0; i < k; ++i) p[i] = _mm256_fmadd_ps(p[i], f[i], all(next));
  for (int i = 0; i < k; ++i) {
    const V f2 = _mm256_mul_ps(f[i], f[i]);
    p[i] = _mm256_mul_ps(_mm256_mul_ps(p[i], f[i]), f2);
    p[i] = _mm256_fmadd_ps(e[i], all(-2.12194440e-4f), p[i]);
    p[i] = _mm256_fnmadd_ps(all(0.5f), f2, p[i]);
    x[i] = _mm256_fmadd_ps(e[i], all(0.693359375f), _mm256_add_ps(f[i], p[i]));
  }
}

// erf(x) = x g(|x|), g a polynomial of degree 6 in each of eight intervals of [0, 4); beyond 4 erf is 1 in f32.
alignas(32) inline constexpr float erf_table[7][8] = {
    {1.12837917f, 1.04099976f, 0.842700788f, 0.644070096f, 0.497661133f, 0.39983722f, 0.33332597f, 0.285714073f},
    {-1.47247592e-06f, -0.324435471f, -0.427592377f, -0.350092863f, -0.238497246f, -0.15906365f, -0.111062243f,
     -0.081631046f},
    {-0.37607986f, -0.229877586f, 0.012456555f, 0.114454001f, 0.0985870545f, 0.0614496047f, 0.0368816162f,
     0.0233176392f},
    {-0.000544044995f, 0.166452247f, 0.12623055f, 0.0163303359f, -0.0252448263f, -0.0212689974f, -0.0120324189f,
     -0.00664870651f},
    {0.115798838f, 0.0350423408f, -0.0586416809f, -0.0413717553f, -0.00426414222f, 0.00522574759f, 0.00367293503f,
     0.00187250367f},
    {-0.00786591502f, -0.0585735136f, -0.00703519569f, 0.0198528113f, 0.00781672599f, -0.000133592132f,
     -0.000922335602f, -0.000489715946f},
    {-0.0180696717f, 0.0142019068f, 0.0100800126f, -0.00332727998f, -0.00282983323f, -0.000360706266f, 0.000136812233f,
     8.93721483e-05f}};

template <int k>
inline void erf(V (&x)[k]) {
  V t[k], p[k];
  __m256i at[k];
  for (int i = 0; i < k; ++i) x[i] = _mm256_max_ps(_mm256_min_ps(x[i], all(3.9999998f)), all(-3.9999998f));
  for (int i = 0; i < k; ++i) t[i] = _mm256_andnot_ps(all(-0.0f), x[i]);
  for (int i = 0; i < k; ++i) at[i] = _mm256_cvttps_epi32(_mm256_add_ps(t[i], t[i]));
  for (int i = 0; i < k; ++i) t[i] = _mm256_fnmadd_ps(all(0.5f), _mm256_cvtepi32_ps(at[i]), t[i]);
  for (int i = 0; i < k; ++i) p[i] = _mm256_permutevar8x32_ps(_mm256_load_ps(erf_table[6]), at[i]);
  for (int c = 5; c >= 0; --c)
    for (int i = 0; i < k; ++i)
      p[i] = _mm256_fmadd_ps(p[i], t[i], _mm256_permutevar8x32_ps(_mm256_load_ps(erf_table[c]), at[i]));
  for (int i = 0; i < k; ++i) x[i] = _mm256_mul_ps(p[i], x[i]);
}

// Rows to columns.
inline void transpose(V r[8]) {
  V t[8], s[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    s[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    s[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    s[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    s[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(s[i], s[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(s[i], s[i + 4], 0x31);
  }
}

}  // namespace hand
