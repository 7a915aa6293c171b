// Graphs over columns, over everything, and the cumulative sum. Extents are {rows, columns} or {n}.
#include <vector>

#include "hand.h"
#include "vec.h"

namespace {

using namespace hand;

// Two rows at once; the sums stay in L1.
template <bool>
void column_sums(const Arrays& s) {
  const int64_t n = s.extents[1];
  float* y = out(s, 0);
  for (int64_t j = 0; j < n; ++j) y[j] = 0;
  for (int64_t i = 0; i < s.extents[0]; i += 2) {
    const float *a = in(s, 0) + i * n, *b = in(s, 1) + i * n;
    for (int64_t j = 0; j < n; j += 8) {
      const V first = _mm256_fmadd_ps(load(a + j), load(b + j), load(y + j));
      store<false>(y + j, _mm256_fmadd_ps(load(a + n + j), load(b + n + j), first));
    }
  }
}

// Blocks of rows that fit in L2, each with its own mean and squares about it, joined as Chan, Golub and LeVeque do:
// memory is read once.
template <bool>
void batch_statistics(const Arrays& s) {
  const int64_t rows = s.extents[0], n = s.extents[1], block = 32;
  float *mean = out(s, 0), *squares = out(s, 1);
  std::vector<float> own(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) mean[j] = squares[j] = 0;
  for (int64_t i = 0; i < rows; i += block) {
    const float* x = in(s, 0) + i * n;
    for (int64_t j = 0; j < n; ++j) own[static_cast<size_t>(j)] = 0;
    for (int64_t r = 0; r < block; r += 2)
      for (int64_t j = 0; j < n; j += 8) {
        const V two = _mm256_add_ps(load(x + r * n + j), load(x + (r + 1) * n + j));
        store<false>(own.data() + j, _mm256_add_ps(load(own.data() + j), two));
      }
    const V share = all(1.0f / static_cast<float>(block));
    for (int64_t r = 0; r < block; r += 4)
      for (int64_t j = 0; j < n; j += 8) {
        const V m = _mm256_mul_ps(load(own.data() + j), share);
        V q = load(squares + j);
        for (int64_t k = 0; k < 4; ++k) {
          const V d = _mm256_sub_ps(load(x + (r + k) * n + j), m);
          q = _mm256_fmadd_ps(d, d, q);
        }
        store<false>(squares + j, q);
      }
    const float before = static_cast<float>(i), after = static_cast<float>(i + block);
    const V weight = all(before * static_cast<float>(block) / after), step = all(static_cast<float>(block) / after);
    for (int64_t j = 0; j < n; j += 8) {
      const V d = _mm256_fmsub_ps(load(own.data() + j), share, load(mean + j));
      store<false>(squares + j, _mm256_fmadd_ps(_mm256_mul_ps(d, d), weight, load(squares + j)));
      store<false>(mean + j, _mm256_fmadd_ps(d, step, load(mean + j)));
    }
  }
  for (int64_t j = 0; j < n; ++j) squares[j] /= static_cast<float>(rows);
}

template <bool>
void mse(const Arrays& s) {
  const float *a = in(s, 0), *b = in(s, 1);
  V total[8] = {};
  for (int64_t i = 0; i < s.extents[0]; i += 64)
    for (int k = 0; k < 8; ++k) {
      const V d = _mm256_sub_ps(load(a + i + 8 * k), load(b + i + 8 * k));
      total[k] = _mm256_fmadd_ps(d, d, total[k]);
    }
  for (int k = 0; k < 4; ++k) total[k] = _mm256_add_ps(total[k], total[k + 4]);
  const V four = _mm256_add_ps(_mm256_add_ps(total[0], total[1]), _mm256_add_ps(total[2], total[3]));
  *out(s, 0) = sum(four) / static_cast<float>(s.extents[0]);
}

// y's 16 x 16 at (i, j): each line of b is read whole at once, since lines a power of two apart share few places in L1;
// each line of y is written whole.
template <bool stream>
void transpose_add_block(const float* a, const float* b, float* y, int64_t n, int64_t i, int64_t j) {
  alignas(64) float turned[16][16];
  for (int64_t h = 0; h < 16; h += 8) {
    V left[8], right[8];
    for (int64_t k = 0; k < 8; ++k) {
      left[k] = load(b + (j + h + k) * n + i);
      right[k] = load(b + (j + h + k) * n + i + 8);
    }
    transpose(left);
    for (int64_t k = 0; k < 8; ++k) _mm256_store_ps(turned[k] + h, left[k]);
    transpose(right);
    for (int64_t k = 0; k < 8; ++k) _mm256_store_ps(turned[8 + k] + h, right[k]);
  }
  for (int64_t k = 0; k < 16; ++k)
    for (int64_t h = 0; h < 16; h += 8) {
      const int64_t at = (i + k) * n + j + h;
      store<stream>(y + at, _mm256_fmadd_ps(load(a + at), all(2), _mm256_load_ps(turned[k] + h)));
    }
}

// Tiles of 512 rows of b, whose pages the TLB holds, by 32 columns, two lines side by side.
template <bool stream>
void transpose_add(const Arrays& s) {
  const int64_t n = s.extents[0];
  for (int64_t tile = 0; tile < n; tile += 512)
    for (int64_t i = 0; i < n; i += 32)
      for (int64_t j = tile; j < tile + 512; j += 16)
        for (int64_t k = 0; k < 32; k += 16) transpose_add_block<stream>(in(s, 0), in(s, 1), out(s, 0), n, i + k, j);
}

// Sums of the first lanes of a vector.
inline V prefix(V x) {
  V t = _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(x), 4));
  x = _mm256_add_ps(x, t);
  t = _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(x), 8));
  x = _mm256_add_ps(x, t);
  const V low = _mm256_permute2f128_ps(x, x, 0x08);  // the lower half above, zeros below
  return _mm256_add_ps(x, _mm256_shuffle_ps(low, low, 0xff));
}

// Four vectors with one step of the carry.
template <bool stream>
void cumsum(const Arrays& s) {
  const float* x = in(s, 0);
  float* y = out(s, 0);
  const __m256i last = _mm256_set1_epi32(7);
  V carry = all(0);
  for (int64_t i = 0; i < s.extents[0]; i += 32) {
    V p[4];
    for (int k = 0; k < 4; ++k) p[k] = prefix(load(x + i + 8 * k));
    for (int k = 1; k < 4; ++k) p[k] = _mm256_add_ps(p[k], _mm256_permutevar8x32_ps(p[k - 1], last));
    const V total = _mm256_permutevar8x32_ps(p[3], last);
    for (int k = 0; k < 4; ++k) store<stream>(y + i + 8 * k, _mm256_add_ps(p[k], carry));
    carry = _mm256_add_ps(carry, total);
  }
}

}  // namespace

HAND_ENTRY(hand_column_sums, column_sums)
HAND_ENTRY(hand_batch_statistics, batch_statistics)
HAND_ENTRY(hand_mse, mse)
HAND_ENTRY(hand_transpose_add, transpose_add)
HAND_ENTRY(hand_cumsum, cumsum)
