// The baselines by hand. Each takes its arrays, its extents and whether stores go past the caches, which the caller
// decides by the footprint (bench/suite/contestants/hand_written.py).
#pragma once

#include <cstdint>

struct Arrays {
  const void* const* in;
  void* const* out;
  const int64_t* extents;
};

namespace hand {

inline const float* in(const Arrays& a, int i) { return static_cast<const float*>(a.in[i]); }
inline float* out(const Arrays& a, int i) { return static_cast<float*>(a.out[i]); }

}  // namespace hand

// extern "C" NAME(in, out, extents, stream) over a template <bool stream> of the arrays.
#define HAND_ENTRY(name, function)                                                                     \
  extern "C" __attribute__((visibility("default"))) void name(const void* const* in, void* const* out, \
                                                              const int64_t* extents, int stream) {    \
    const Arrays a{in, out, extents};                                                                  \
    if (stream) {                                                                                      \
      function<true>(a);                                                                               \
      _mm_sfence();                                                                                    \
    } else {                                                                                           \
      function<false>(a);                                                                              \
    }                                                                                                  \
  }
