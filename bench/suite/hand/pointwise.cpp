// Elementwise graphs. Extents are {n} or {rows, columns}; n and columns are multiples of 32 but for AdamW.
#include <cmath>

#include "hand.h"
#include "vec.h"

namespace {

using namespace hand;

template <bool stream>
void poly(const Arrays& s) {
  const float *a = in(s, 0), *b = in(s, 1), *c = in(s, 2);
  float* y = out(s, 0);
  for (int64_t i = 0; i < s.extents[0]; i += 32) {
    V r[4];
    for (int64_t j = 0; j < 4; ++j) {
      const V w = load(c + i + 8 * j);
      r[j] = _mm256_fmadd_ps(all(2), load(a + i + 8 * j), _mm256_mul_ps(all(3), load(b + i + 8 * j)));
      r[j] = _mm256_fnmadd_ps(w, w, r[j]);
    }
    for (int64_t j = 0; j < 4; ++j) store<stream>(y + i + 8 * j, r[j]);
  }
}

template <bool stream>
void bias_gelu(const Arrays& s) {
  const float *x = in(s, 0), *bias = in(s, 1);
  float* y = out(s, 0);
  const int64_t columns = s.extents[1];
  for (int64_t i = 0; i < s.extents[0]; ++i)
    for (int64_t j = 0; j < columns; j += 32) {
      V v[4], e[4];
      for (int64_t k = 0; k < 4; ++k) {
        v[k] = _mm256_add_ps(load(x + i * columns + j + 8 * k), load(bias + j + 8 * k));
        e[k] = _mm256_mul_ps(v[k], all(0.70710678f));
      }
      erf(e);
      for (int64_t k = 0; k < 4; ++k) {
        const V half = _mm256_mul_ps(v[k], all(0.5f));
        store<stream>(y + i * columns + j + 8 * k, _mm256_fmadd_ps(half, e[k], half));
      }
    }
}

// 0.5 x (1 + tanh(u)) is x sigmoid(2u).
template <bool stream>
void bias_gelu_tanh(const Arrays& s) {
  const float *x = in(s, 0), *bias = in(s, 1);
  float* y = out(s, 0);
  const int64_t columns = s.extents[1];
  for (int64_t i = 0; i < s.extents[0]; ++i)
    for (int64_t j = 0; j < columns; j += 32) {
      V v[4], t[4];
      for (int64_t k = 0; k < 4; ++k) {
        v[k] = _mm256_add_ps(load(x + i * columns + j + 8 * k), load(bias + j + 8 * k));
        const V square = _mm256_mul_ps(v[k], v[k]);
        t[k] = _mm256_mul_ps(v[k], _mm256_fmadd_ps(square, all(2 * 0.79788456f * 0.044715f), all(2 * 0.79788456f)));
      }
      sigmoid(t);
      for (int64_t k = 0; k < 4; ++k) store<stream>(y + i * columns + j + 8 * k, _mm256_mul_ps(v[k], t[k]));
    }
}

template <bool stream>
void swiglu(const Arrays& s) {
  const float *g = in(s, 0), *u = in(s, 1);
  float* y = out(s, 0);
  for (int64_t i = 0; i < s.extents[0]; i += 32) {
    V t[4];
    for (int64_t k = 0; k < 4; ++k) t[k] = load(g + i + 8 * k);
    sigmoid(t);
    for (int64_t k = 0; k < 4; ++k)
      store<stream>(y + i + 8 * k, _mm256_mul_ps(_mm256_mul_ps(load(g + i + 8 * k), t[k]), load(u + i + 8 * k)));
  }
}

// What one step multiplies by: AdamW's tenth, betas 0.9 and 0.999, epsilon 1e-8, decay 0.01, rate 1e-3.
struct Step {
  V m, v, p;
  Step(V p0, V g, V m0, V v0) {
    const float root = std::sqrt(1 / 0.009955119790251765f), rate = 1e-3f / 0.6513215599f;
    m = _mm256_fmadd_ps(m0, all(0.9f), _mm256_mul_ps(g, all(0.1f)));
    v = _mm256_fmadd_ps(v0, all(0.999f), _mm256_mul_ps(_mm256_mul_ps(g, g), all(0.001f)));
    const V below = _mm256_fmadd_ps(_mm256_sqrt_ps(v), all(root), all(1e-8f));
    const V step = _mm256_div_ps(_mm256_mul_ps(m, all(rate)), below);
    p = _mm256_sub_ps(_mm256_mul_ps(p0, all(1 - 1e-3f * 0.01f)), step);
  }
};

void adamw_tensor(float* p, const float* g, float* m, float* v, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const Step s(load(p + i), load(g + i), load(m + i), load(v + i));
    store<false>(m + i, s.m);
    store<false>(v + i, s.v);
    store<false>(p + i, s.p);
  }
  if (i == n) return;
  const __m256i part = lanes(n - i);
  const V one = all(1);
  const Step s(load_part(p + i, part, one), load_part(g + i, part, one), load_part(m + i, part, one),
               load_part(v + i, part, one));
  _mm256_maskstore_ps(m + i, part, s.m);
  _mm256_maskstore_ps(v + i, part, s.v);
  _mm256_maskstore_ps(p + i, part, s.p);
}

// In place: extents are {tensors, then each one's length}; inputs are all p, all g, all m, all v.
template <bool>
void adamw(const Arrays& s) {
  const int64_t tensors = s.extents[0];
  for (int64_t t = 0; t < tensors; ++t)
    adamw_tensor(static_cast<float*>(s.out[t]), static_cast<const float*>(s.in[tensors + t]),
                 static_cast<float*>(s.out[tensors + t]), static_cast<float*>(s.out[2 * tensors + t]),
                 s.extents[1 + t]);
}

// Strips of 128 elements: one function a loop, four vectors in flight.
template <bool stream>
void black_scholes(const Arrays& s) {
  const float *spot = in(s, 0), *strike = in(s, 1), *years = in(s, 2);
  float *call = out(s, 0), *put = out(s, 1);
  constexpr int64_t strip = 128;
  alignas(32) float d1[strip], d2[strip], present[strip];
  float* const arguments[] = {d1, d2};
  for (int64_t i = 0; i < s.extents[0]; i += strip) {
    for (int64_t j = 0; j < strip; j += 32) {
      V d[4];
      for (int64_t k = 0; k < 4; ++k) d[k] = _mm256_div_ps(load(spot + i + j + 8 * k), load(strike + i + j + 8 * k));
      log(d);
      for (int64_t k = 0; k < 4; ++k) {
        const V t = load(years + i + j + 8 * k);
        // Scaled by sqrt(1/2) for erf.
        const V deviation = _mm256_mul_ps(_mm256_sqrt_ps(t), all(0.3f));
        const V above = _mm256_mul_ps(_mm256_fmadd_ps(t, all(0.065f), d[k]), all(0.70710678f));
        const V first = _mm256_div_ps(above, deviation);
        _mm256_store_ps(d1 + j + 8 * k, first);
        _mm256_store_ps(d2 + j + 8 * k, _mm256_fnmadd_ps(deviation, all(0.70710678f), first));
      }
    }
    for (int64_t j = 0; j < strip; j += 32) {
      V e[4];
      for (int64_t k = 0; k < 4; ++k) e[k] = _mm256_mul_ps(load(years + i + j + 8 * k), all(-0.02f));
      exp(e);
      for (int64_t k = 0; k < 4; ++k)
        _mm256_store_ps(present + j + 8 * k, _mm256_mul_ps(load(strike + i + j + 8 * k), e[k]));
    }
    for (float* d : arguments)
      for (int64_t j = 0; j < strip; j += 32) {
        V e[4];
        for (int64_t k = 0; k < 4; ++k) e[k] = load(d + j + 8 * k);
        erf(e);
        for (int64_t k = 0; k < 4; ++k) _mm256_store_ps(d + j + 8 * k, _mm256_fmadd_ps(e[k], all(0.5f), all(0.5f)));
      }
    for (int64_t j = 0; j < strip; j += 8) {
      const V x = load(spot + i + j), k = load(present + j);
      const V c = _mm256_fmsub_ps(x, load(d1 + j), _mm256_mul_ps(k, load(d2 + j)));
      store<stream>(call + i + j, c);
      store<stream>(put + i + j, _mm256_add_ps(_mm256_sub_ps(c, x), k));
    }
  }
}

// x[S, H, D] by tables of [S, 1, D / 2]; extents {S, H, D}.
template <bool stream>
void rope(const Arrays& s) {
  const int64_t heads = s.extents[1], half = s.extents[2] / 2;
  for (int64_t i = 0; i < s.extents[0]; ++i) {
    const float *cosine = in(s, 1) + i * half, *sine = in(s, 2) + i * half;
    for (int64_t h = 0; h < heads; ++h) {
      const float* x = in(s, 0) + (i * heads + h) * 2 * half;
      float* y = out(s, 0) + (i * heads + h) * 2 * half;
      for (int64_t j = 0; j < half; j += 8) {
        const V a = load(x + j), b = load(x + half + j), c = load(cosine + j), t = load(sine + j);
        store<stream>(y + j, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, t)));
        store<stream>(y + half + j, _mm256_fmadd_ps(b, c, _mm256_mul_ps(a, t)));
      }
    }
  }
}

template <bool stream>
void quantize(const Arrays& s) {
  const int64_t columns = s.extents[1];
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (int64_t i = 0; i < s.extents[0]; ++i) {
    const float* x = in(s, 0) + i * columns;
    int8_t* y = static_cast<int8_t*>(s.out[0]) + i * columns;
    const V factor = all(1 / in(s, 1)[i]);
    for (int64_t j = 0; j < columns; j += 32) {
      __m256i q[4];
      for (int k = 0; k < 4; ++k)
        q[k] = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_mul_ps(load(x + j + 8 * k), factor), all(127)));
      const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
      const __m256i sorted = _mm256_permutevar8x32_epi32(bytes, order);
      if (stream) _mm256_stream_si256(reinterpret_cast<__m256i*>(y + j), sorted);
      else _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + j), sorted);
    }
  }
}

template <bool stream>
void dequantize(const Arrays& s) {
  const int64_t columns = s.extents[1];
  for (int64_t i = 0; i < s.extents[0]; ++i) {
    const int8_t* q = static_cast<const int8_t*>(s.in[0]) + i * columns;
    const V factor = all(in(s, 1)[i]);
    for (int64_t j = 0; j < columns; j += 8) {
      const __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(q + j)));
      store<stream>(out(s, 0) + i * columns + j, _mm256_mul_ps(_mm256_cvtepi32_ps(wide), factor));
    }
  }
}

// Eight vectors in flight: a step is a chain of three operations.
template <bool stream>
void chain64(const Arrays& s) {
  const float* x = in(s, 0);
  for (int64_t i = 0; i < s.extents[0]; i += 64) {
    V y[8];
    for (int k = 0; k < 8; ++k) y[k] = load(x + i + 8 * k);
    for (int step = 0; step < 16; ++step) {
      for (int k = 0; k < 8; ++k) y[k] = _mm256_fmadd_ps(y[k], all(0.75f), load(x + i + 8 * k));
      for (V& v : y) v = _mm256_max_ps(v, all(-1.5f));
      for (V& v : y) v = _mm256_sub_ps(v, all(0.125f));
    }
    for (int k = 0; k < 8; ++k) store<stream>(out(s, 0) + i + 8 * k, y[k]);
  }
}

}  // namespace

HAND_ENTRY(hand_poly, poly)
HAND_ENTRY(hand_bias_gelu, bias_gelu)
HAND_ENTRY(hand_bias_gelu_tanh, bias_gelu_tanh)
HAND_ENTRY(hand_swiglu, swiglu)
HAND_ENTRY(hand_adamw, adamw)
HAND_ENTRY(hand_black_scholes, black_scholes)
HAND_ENTRY(hand_rope, rope)
HAND_ENTRY(hand_quantize, quantize)
HAND_ENTRY(hand_dequantize, dequantize)
HAND_ENTRY(hand_chain64, chain64)
