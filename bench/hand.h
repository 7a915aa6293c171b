// Hand-written baselines: what a patient author writes with intrinsics for one machine.
#pragma once

#include <cstddef>

namespace bench {

// y = 2a + 3b - c*c without contraction, AVX2. The arrays are 32-byte aligned, n is a multiple of 32.
// `stream`: non-temporal stores.
void poly_avx2(const float* a, const float* b, const float* c, float* y, size_t n, bool stream);

// The same as a plain loop for tiny n.
void poly_plain(const float* a, const float* b, const float* c, float* y, size_t n);

// Nothing at all, with the arguments of the others: what a call through a pointer costs.
void poly_nothing(const float* a, const float* b, const float* c, float* y, size_t n);

}  // namespace bench
