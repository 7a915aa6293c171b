#include "hand.h"

#include <immintrin.h>

namespace bench {

__attribute__((target("avx2"))) void poly_avx2(const float* a, const float* b, const float* c, float* y, size_t n,
                                               bool stream) {
  const __m256 two = _mm256_set1_ps(2.0f), three = _mm256_set1_ps(3.0f);
  for (size_t i = 0; i < n; i += 32) {
    __m256 r[4];
    for (size_t j = 0; j < 4; ++j) {
      const __m256 u = _mm256_loadu_ps(a + i + 8 * j), v = _mm256_loadu_ps(b + i + 8 * j),
                   w = _mm256_loadu_ps(c + i + 8 * j);
      r[j] = _mm256_sub_ps(_mm256_add_ps(_mm256_mul_ps(two, u), _mm256_mul_ps(three, v)), _mm256_mul_ps(w, w));
    }
    for (size_t j = 0; j < 4; ++j) {
      if (stream) _mm256_stream_ps(y + i + 8 * j, r[j]);
      else _mm256_storeu_ps(y + i + 8 * j, r[j]);
    }
  }
  if (stream) _mm_sfence();
}

__attribute__((noinline)) void poly_plain(const float* a, const float* b, const float* c, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = 2.0f * a[i] + 3.0f * b[i] - c[i] * c[i];
}

__attribute__((noinline)) void poly_nothing(const float*, const float*, const float*, float*, size_t) {
  asm volatile("");
}

}  // namespace bench
