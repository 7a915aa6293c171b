#include "math/exact.h"

#include <cmath>

namespace ingot::test {

namespace {

// A number of the precision of another.
class Number {
 public:
  explicit Number(mpfr_srcptr like) { mpfr_init2(v_, mpfr_get_prec(like)); }
  ~Number() { mpfr_clear(v_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return v_; }  // NOLINT(google-explicit-constructor): an argument of mpfr's functions

 private:
  mpfr_t v_;
};

}  // namespace

void softplus_exact(mpfr_t r) {
  if (mpfr_cmp_ui(r, 1 << 20) > 0) return;  // e^x leaves MPFR's range in the end
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_log1p(r, r, MPFR_RNDN);
}

void log_sigmoid_exact(mpfr_t r) {
  mpfr_neg(r, r, MPFR_RNDN);
  softplus_exact(r);
  mpfr_neg(r, r, MPFR_RNDN);
}

void elu_exact(mpfr_t r, mpfr_srcptr alpha) {
  if (mpfr_nan_p(r) || mpfr_sgn(r) >= 0) return;
  mpfr_expm1(r, r, MPFR_RNDN);
  mpfr_mul(r, r, alpha, MPFR_RNDN);
}

void selu_exact(mpfr_t r) {
  Number alpha(r), scale(r);
  mpfr_set_str(alpha, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
  mpfr_set_str(scale, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
  elu_exact(r, alpha);
  mpfr_mul(r, r, scale, MPFR_RNDN);
}

void mish_exact(mpfr_t r) {
  if (mpfr_nan_p(r) || mpfr_cmp_ui(r, 1 << 20) > 0) return;
  if (mpfr_inf_p(r)) return mpfr_set_zero(r, -1);
  Number e(r), n(r);
  mpfr_exp(e, r, MPFR_RNDN);
  mpfr_add_ui(n, e, 2, MPFR_RNDN);
  mpfr_mul(n, n, e, MPFR_RNDN);
  mpfr_add_ui(e, n, 2, MPFR_RNDN);
  mpfr_div(n, n, e, MPFR_RNDN);
  mpfr_mul(r, r, n, MPFR_RNDN);
}

// Newton's steps from S. Winitzki's approximation, which is right to three digits.
void erfinv_exact(mpfr_t r) {
  if (mpfr_nan_p(r) || mpfr_zero_p(r)) return;
  if (mpfr_cmpabs_ui(r, 1) > 0) return mpfr_set_nan(r);
  if (mpfr_cmpabs_ui(r, 1) == 0) return mpfr_set_inf(r, mpfr_sgn(r));
  const double x = std::fabs(mpfr_get_d(r, MPFR_RNDN));
  const double l = std::log((1 - x) * (1 + x)), a = 4.3307 + l / 2;
  Number y(r), step(r), factor(r), root(r);
  mpfr_set_d(y, std::copysign(std::sqrt(std::sqrt(a * a - l / 0.147) - a), mpfr_sgn(r)), MPFR_RNDN);
  mpfr_const_pi(root, MPFR_RNDN);
  mpfr_sqrt(root, root, MPFR_RNDN);
  mpfr_div_2ui(root, root, 1, MPFR_RNDN);
  for (int i = 0; i < 6; ++i) {
    mpfr_erf(step, y, MPFR_RNDN);
    mpfr_sub(step, r, step, MPFR_RNDN);
    mpfr_sqr(factor, y, MPFR_RNDN);
    mpfr_exp(factor, factor, MPFR_RNDN);
    mpfr_mul(step, step, factor, MPFR_RNDN);
    mpfr_fma(y, step, root, y, MPFR_RNDN);
  }
  mpfr_set(r, y, MPFR_RNDN);
}

void lgamma_exact(mpfr_t r) {
  int sign;
  mpfr_lgamma(r, &sign, r, MPFR_RNDN);
}

void digamma_exact(mpfr_t r) {
  if (mpfr_zero_p(r)) return mpfr_set_inf(r, mpfr_signbit(r) ? 1 : -1);
  mpfr_digamma(r, r, MPFR_RNDN);
}

void logaddexp_exact(mpfr_t r, mpfr_srcptr b) {
  if (mpfr_nan_p(r) || mpfr_nan_p(b)) return mpfr_set_nan(r);
  Number most(r), d(r);
  mpfr_max(most, r, b, MPFR_RNDN);
  if (mpfr_inf_p(most)) {
    mpfr_set(r, most, MPFR_RNDN);
    return;
  }
  mpfr_sub(d, r, b, MPFR_RNDN);
  mpfr_abs(d, d, MPFR_RNDN);
  mpfr_neg(d, d, MPFR_RNDN);
  softplus_exact(d);
  mpfr_add(r, most, d, MPFR_RNDN);
}

}  // namespace ingot::test
