#include "jit/strip/turn.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ingot::jit {

namespace {

// Squares of four in a square of eight, which compilers make into shuffles of 16-byte registers.
template <class T>
void turn_plain(char* dst, int64_t dst_step, const char* src, int64_t src_step) {
  constexpr int64_t part = 4, item = sizeof(T);
  for (int64_t y = 0; y < square; y += part) {
    for (int64_t x = 0; x < square; x += part) {
      const char* const from = src + y * src_step + x * item;
      char* const to = dst + x * dst_step + y * item;
      T in[part][part];
      for (int64_t i = 0; i < part; ++i) std::memcpy(in[i], from + i * src_step, sizeof in[i]);
      for (int64_t j = 0; j < part; ++j) {
        const T out[part] = {in[0][j], in[1][j], in[2][j], in[3][j]};
        std::memcpy(to + j * dst_step, out, sizeof out);
      }
    }
  }
}

#if defined(__x86_64__)
// Eight rows of 32 bytes. Squares of four take a sixth longer for a whole matrix: twice the loads and stores.
__attribute__((target("avx2"))) void turn_avx2(char* dst, int64_t dst_step, const char* src, int64_t src_step) {
  __m256 row[8], pair[8];
  for (int64_t i = 0; i < square; ++i) row[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(src + i * src_step));
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    row[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    row[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xEE);
    row[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    row[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xEE);
  }
  for (int64_t i = 0; i < 4; ++i) {
    const __m256 low = _mm256_permute2f128_ps(row[i], row[i + 4], 0x20);
    const __m256 high = _mm256_permute2f128_ps(row[i], row[i + 4], 0x31);
    _mm256_storeu_ps(reinterpret_cast<float*>(dst + i * dst_step), low);
    _mm256_storeu_ps(reinterpret_cast<float*>(dst + (i + 4) * dst_step), high);
  }
}
#endif

}  // namespace

TurnSquare turn_square(unsigned size) noexcept {
  switch (size) {
    case 1: return turn_plain<uint8_t>;
    case 2: return turn_plain<uint16_t>;
    case 4:
#if defined(__x86_64__)
      if (__builtin_cpu_supports("avx2")) return turn_avx2;
#endif
      return turn_plain<uint32_t>;
    default: return turn_plain<uint64_t>;
  }
}

}  // namespace ingot::jit
