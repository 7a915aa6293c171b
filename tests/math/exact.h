// Functions that MPFR lacks, in its terms: `r` holds x on entry and f(x) on return, right to a few units of its
// precision.
#pragma once

#include <mpfr.h>

namespace ingot::test {

void softplus_exact(mpfr_t r);                // log(1 + e^x)
void log_sigmoid_exact(mpfr_t r);             // -log(1 + e^-x), -0 at inf
void elu_exact(mpfr_t r, mpfr_srcptr alpha);  // x where it is not below 0, else alpha (e^x - 1)
void selu_exact(mpfr_t r);
void mish_exact(mpfr_t r);  // -0 at -inf
void erfinv_exact(mpfr_t r);
void lgamma_exact(mpfr_t r);
void digamma_exact(mpfr_t r);
// log(e^a + e^b); r holds a. As precise as the precision of r less what cancels.
void logaddexp_exact(mpfr_t r, mpfr_srcptr b);

}  // namespace ingot::test
