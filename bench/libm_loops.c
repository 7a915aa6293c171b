// Loops over libm's functions that the compiler turns into calls of glibc's libmvec: built with
// -O3 -ffast-math -mavx2 -mfma, which allows 4 ULP.
#include "libm_loops.h"

#include <math.h>

#define LOOP(name)                                                         \
  void libm_##name(const float* restrict x, float* restrict y, size_t n) { \
    for (size_t i = 0; i < n; ++i) y[i] = name##f(x[i]);                   \
  }
LOOP(exp)
LOOP(log)
LOOP(tanh)
LOOP(erf)
LOOP(sin)
LOOP(cos)
LOOP(exp2)
LOOP(expm1)
LOOP(log1p)
