// Graphs that reduce rows. Extents are {rows, columns}.
#include <cmath>
#include <limits>
#include <vector>

#include "hand.h"
#include "vec.h"

namespace {

using namespace hand;

constexpr float lowest = -std::numeric_limits<float>::infinity();

// What x is before softmax: itself, read again where it is needed, or scaled and masked, kept in the buffer.
struct Plain {
  static constexpr bool kept = false;
  V operator()(const float* x, const float*, int64_t j) const { return load(x + j); }
  V part(const float* x, const float*, int64_t j, __m256i mask) const { return load_part(x + j, mask, all(lowest)); }
};
struct Masked {
  static constexpr bool kept = true;
  V operator()(const float* x, const float* mask, int64_t j) const {
    return _mm256_fmadd_ps(load(x + j), all(0.125f), load(mask + j));
  }
  V part(const float* x, const float* mask, int64_t j, __m256i some) const {
    return _mm256_fmadd_ps(load_part(x + j, some, all(0)), all(0.125f), load_part(mask + j, some, all(lowest)));
  }
};

// One row by way of `buffer`, which stays in cache.
template <bool stream, class Value>
void softmax_row(const float* x, const float* mask, float* y, int64_t n, float* buffer, Value value) {
  const int64_t whole = n / 32 * 32, eights = n / 8 * 8;
  const __m256i rest = lanes(n - eights);
  V top[4] = {all(lowest), all(lowest), all(lowest), all(lowest)};
  int64_t j = 0;
  for (; j < whole; j += 32)
    for (int k = 0; k < 4; ++k) {
      const V v = value(x, mask, j + 8 * k);
      if (Value::kept) _mm256_store_ps(buffer + j + 8 * k, v);
      top[k] = _mm256_max_ps(v, top[k]);
    }
  for (; j < n; j += 8) {
    const V v = j < eights ? value(x, mask, j) : value.part(x, mask, j, rest);
    _mm256_store_ps(buffer + j, v);
    top[0] = _mm256_max_ps(v, top[0]);
  }
  const V greatest = all(maximum(_mm256_max_ps(_mm256_max_ps(top[0], top[1]), _mm256_max_ps(top[2], top[3]))));
  V total[4] = {all(0), all(0), all(0), all(0)};
  for (j = 0; j < whole; j += 32) {
    V e[4];
    for (int k = 0; k < 4; ++k)
      e[k] = _mm256_sub_ps(Value::kept ? _mm256_load_ps(buffer + j + 8 * k) : value(x, mask, j + 8 * k), greatest);
    exp(e);
    for (int k = 0; k < 4; ++k) {
      _mm256_store_ps(buffer + j + 8 * k, e[k]);
      total[k] = _mm256_add_ps(total[k], e[k]);
    }
  }
  for (; j < n; j += 8) {
    V e[1] = {_mm256_sub_ps(_mm256_load_ps(buffer + j), greatest)};
    exp(e);
    _mm256_store_ps(buffer + j, e[0]);
    total[0] = _mm256_add_ps(total[0], e[0]);
  }
  const V factor = all(1 / sum(_mm256_add_ps(_mm256_add_ps(total[0], total[1]), _mm256_add_ps(total[2], total[3]))));
  for (j = 0; j < eights; j += 8) store<stream>(y + j, _mm256_mul_ps(_mm256_load_ps(buffer + j), factor));
  if (j < n) _mm256_maskstore_ps(y + j, rest, _mm256_mul_ps(_mm256_load_ps(buffer + j), factor));
}

// Eight short rows at once: the lanes of `top` and `total` are rows. Columns are a multiple of 8, 256 at most.
template <bool stream>
void softmax_eight(const float* x, float* y, int64_t n) {
  alignas(32) float buffer[8 * 256];
  V row[8];
  for (int64_t r = 0; r < 8; ++r) {
    row[r] = load(x + r * n);
    for (int64_t j = 8; j < n; j += 8) row[r] = _mm256_max_ps(row[r], load(x + r * n + j));
  }
  transpose(row);
  V top = row[0];
  for (int r = 1; r < 8; ++r) top = _mm256_max_ps(top, row[r]);
  for (int64_t r = 0; r < 8; ++r) {
    const V greatest = _mm256_permutevar8x32_ps(top, _mm256_set1_epi32(static_cast<int>(r)));
    row[r] = all(0);
    int64_t j = 0;
    for (; j + 32 <= n; j += 32) {
      V e[4];
      for (int64_t k = 0; k < 4; ++k) e[k] = _mm256_sub_ps(load(x + r * n + j + 8 * k), greatest);
      exp(e);
      for (int64_t k = 0; k < 4; ++k) _mm256_store_ps(buffer + r * n + j + 8 * k, e[k]);
      row[r] = _mm256_add_ps(row[r], _mm256_add_ps(_mm256_add_ps(e[0], e[1]), _mm256_add_ps(e[2], e[3])));
    }
    for (; j < n; j += 8) {
      V e[1] = {_mm256_sub_ps(load(x + r * n + j), greatest)};
      exp(e);
      _mm256_store_ps(buffer + r * n + j, e[0]);
      row[r] = _mm256_add_ps(row[r], e[0]);
    }
  }
  transpose(row);
  V total = row[0];
  for (int r = 1; r < 8; ++r) total = _mm256_add_ps(total, row[r]);
  total = _mm256_div_ps(all(1), total);
  for (int64_t r = 0; r < 8; ++r) {
    const V factor = _mm256_permutevar8x32_ps(total, _mm256_set1_epi32(static_cast<int>(r)));
    for (int64_t j = 0; j < n; j += 8)
      store<stream>(y + r * n + j, _mm256_mul_ps(_mm256_load_ps(buffer + r * n + j), factor));
  }
}

// Eight rows of fewer than eight columns: turned, reduced lane by lane, turned back. Reads and writes up to 8 - n
// items past the last row, which the caller keeps within the arrays.
void softmax_tiny(const float* x, float* y, int64_t n) {
  V c[8];
  for (int64_t r = 0; r < 8; ++r) c[r] = load(x + r * n);
  transpose(c);
  V top = c[0];
  for (int64_t j = 1; j < n; ++j) top = _mm256_max_ps(top, c[j]);
  V total = all(0);
  for (V& v : c) v = _mm256_sub_ps(v, top);
  exp(c);  // those beyond n too, which nothing reads
  for (int64_t j = 0; j < n; ++j) total = _mm256_add_ps(total, c[j]);
  const V factor = _mm256_div_ps(all(1), total);
  for (V& v : c) v = _mm256_mul_ps(v, factor);
  transpose(c);
  for (int64_t r = 0; r < 8; ++r) _mm256_storeu_ps(y + r * n, c[r]);
}

float* buffer_of(int64_t n) {
  static std::vector<float> memory;
  if (memory.size() < static_cast<size_t>(n) + 64) memory.resize(static_cast<size_t>(n) + 64);
  return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
}

template <bool stream>
void softmax(const Arrays& s) {
  const int64_t rows = s.extents[0], n = s.extents[1];
  const float* x = in(s, 0);
  float *y = out(s, 0), *buffer = buffer_of(n);
  int64_t i = 0;
  if (n < 8)
    for (; i + 16 <= rows; i += 8) softmax_tiny(x + i * n, y + i * n, n);
  if (n % 8 == 0 && n <= 256)
    for (; i + 8 <= rows; i += 8) softmax_eight<stream>(x + i * n, y + i * n, n);
  for (; i < rows; ++i) {
    if (stream && n % 8 == 0) softmax_row<true>(x + i * n, nullptr, y + i * n, n, buffer, Plain());
    else softmax_row<false>(x + i * n, nullptr, y + i * n, n, buffer, Plain());
  }
}

template <bool stream>
void masked_softmax(const Arrays& s) {
  const int64_t n = s.extents[1];
  float* buffer = buffer_of(n);
  for (int64_t i = 0; i < s.extents[0]; ++i)
    softmax_row<stream>(in(s, 0) + i * n, in(s, 1) + i * n, out(s, 0) + i * n, n, buffer, Masked());
}

template <bool stream>
void layer_norm(const Arrays& s) {
  const float *scale = in(s, 1), *bias = in(s, 2);
  const int64_t n = s.extents[1];
  const float count = static_cast<float>(n);
  for (int64_t i = 0; i < s.extents[0]; ++i) {
    const float* x = in(s, 0) + i * n;
    float* y = out(s, 0) + i * n;
    V total[4] = {all(0), all(0), all(0), all(0)};
    for (int64_t j = 0; j < n; j += 32)
      for (int k = 0; k < 4; ++k) total[k] = _mm256_add_ps(total[k], load(x + j + 8 * k));
    const V mean =
        all(sum(_mm256_add_ps(_mm256_add_ps(total[0], total[1]), _mm256_add_ps(total[2], total[3]))) / count);
    V spread[4] = {all(0), all(0), all(0), all(0)};
    for (int64_t j = 0; j < n; j += 32)
      for (int k = 0; k < 4; ++k) {
        const V d = _mm256_sub_ps(load(x + j + 8 * k), mean);
        spread[k] = _mm256_fmadd_ps(d, d, spread[k]);
      }
    const float variance =
        sum(_mm256_add_ps(_mm256_add_ps(spread[0], spread[1]), _mm256_add_ps(spread[2], spread[3]))) / count;
    const V factor = all(1 / std::sqrt(variance + 1e-5f));
    for (int64_t j = 0; j < n; j += 16) {
      _mm_prefetch(reinterpret_cast<const char*>(x + n + j), _MM_HINT_T0);  // the next row
      for (int k = 0; k < 16; k += 8) {
        const V d = _mm256_mul_ps(_mm256_sub_ps(load(x + j + k), mean), factor);
        store<stream>(y + j + k, _mm256_fmadd_ps(d, load(scale + j + k), load(bias + j + k)));
      }
    }
  }
}

template <bool>
void cross_entropy(const Arrays& s) {
  const int64_t n = s.extents[1];
  const int64_t* labels = static_cast<const int64_t*>(s.in[1]);
  double loss = 0;
  for (int64_t i = 0; i < s.extents[0]; ++i) {
    const float* x = in(s, 0) + i * n;
    V top[4] = {all(lowest), all(lowest), all(lowest), all(lowest)};
    for (int64_t j = 0; j < n; j += 32)
      for (int k = 0; k < 4; ++k) top[k] = _mm256_max_ps(load(x + j + 8 * k), top[k]);
    const float greatest = maximum(_mm256_max_ps(_mm256_max_ps(top[0], top[1]), _mm256_max_ps(top[2], top[3])));
    V total[4] = {all(0), all(0), all(0), all(0)};
    for (int64_t j = 0; j < n; j += 32) {
      V e[4];
      for (int k = 0; k < 4; ++k) e[k] = _mm256_sub_ps(load(x + j + 8 * k), all(greatest));
      exp(e);
      for (int k = 0; k < 4; ++k) total[k] = _mm256_add_ps(total[k], e[k]);
    }
    const float sums = sum(_mm256_add_ps(_mm256_add_ps(total[0], total[1]), _mm256_add_ps(total[2], total[3])));
    loss += static_cast<double>(std::log(sums) + greatest - x[labels[i]]);
  }
  *out(s, 0) = static_cast<float>(loss / static_cast<double>(s.extents[0]));
}

// The maximum first, then where it is: the row is in L1 by then.
template <bool>
void argmax_max(const Arrays& s) {
  const int64_t n = s.extents[1];
  for (int64_t i = 0; i < s.extents[0]; ++i) {
    const float* x = in(s, 0) + i * n;
    V top[4] = {all(lowest), all(lowest), all(lowest), all(lowest)};
    for (int64_t j = 0; j < n; j += 32)
      for (int k = 0; k < 4; ++k) top[k] = _mm256_max_ps(load(x + j + 8 * k), top[k]);
    const float greatest = maximum(_mm256_max_ps(_mm256_max_ps(top[0], top[1]), _mm256_max_ps(top[2], top[3])));
    int64_t at = 0;
    for (; at < n; at += 8) {
      const int hit = _mm256_movemask_ps(_mm256_cmp_ps(load(x + at), all(greatest), _CMP_EQ_OQ));
      if (hit) {
        at += __builtin_ctz(static_cast<unsigned>(hit));
        break;
      }
    }
    static_cast<int64_t*>(s.out[0])[i] = at;
    out(s, 1)[i] = greatest;
  }
}

}  // namespace

HAND_ENTRY(hand_softmax, softmax)
HAND_ENTRY(hand_masked_softmax, masked_softmax)
HAND_ENTRY(hand_layer_norm, layer_norm)
HAND_ENTRY(hand_cross_entropy, cross_entropy)
HAND_ENTRY(hand_argmax_max, argmax_max)
