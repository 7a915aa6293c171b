// y[i] = f(x[i]) by glibc's vector functions (libm_loops.c).
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void libm_exp(const float* x, float* y, size_t n);
void libm_log(const float* x, float* y, size_t n);
void libm_tanh(const float* x, float* y, size_t n);
void libm_erf(const float* x, float* y, size_t n);
void libm_sin(const float* x, float* y, size_t n);
void libm_cos(const float* x, float* y, size_t n);
void libm_exp2(const float* x, float* y, size_t n);
void libm_expm1(const float* x, float* y, size_t n);
void libm_log1p(const float* x, float* y, size_t n);

#ifdef __cplusplus
}
#endif
