#include "math/f32_reference.h"

#include <cmath>
#include <limits>

#include "loop/math/f32.h"
#include "math/exact.h"

namespace ingot::test {

namespace f32 = loop::math::f32;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Unary = int (*)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
template <Unary function>
void exact_of(mpfr_t r, float x) {
  mpfr_set_flt(r, x, MPFR_RNDN);
  function(r, r, MPFR_RNDN);
}

// 1 / (1 + e^-r); r is replaced.
void logistic(mpfr_t r) {
  mpfr_neg(r, r, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}
// r times x, where -inf * 0 means the limit.
void times(mpfr_t r, float x) {
  mpfr_mul_d(r, r, static_cast<double>(x), MPFR_RNDN);
  if (x == -std::numeric_limits<float>::infinity()) mpfr_set_zero(r, -1);
}
void sigmoid_exact(mpfr_t r, float x) {
  mpfr_set_flt(r, x, MPFR_RNDN);
  logistic(r);
}
// As in C23, rsqrt(-0) is -inf; MPFR's is positive.
void rsqrt_exact(mpfr_t r, float x) {
  mpfr_set_flt(r, x, MPFR_RNDN);
  mpfr_rec_sqrt(r, r, MPFR_RNDN);
  if (x == 0) mpfr_set_inf(r, std::signbit(x) ? -1 : 1);
}
void silu_exact(mpfr_t r, float x) {
  sigmoid_exact(r, x);
  times(r, x);
}
void gelu_erf_exact(mpfr_t r, float x) {
  mpfr_t root;
  mpfr_init2(root, mpfr_get_prec(r));
  mpfr_sqrt_ui(root, 2, MPFR_RNDN);
  mpfr_set_flt(r, -x, MPFR_RNDN);
  mpfr_div(r, r, root, MPFR_RNDN);
  mpfr_erfc(r, r, MPFR_RNDN);
  mpfr_div_2ui(r, r, 1, MPFR_RNDN);
  times(r, x);
  mpfr_clear(root);
}
void gelu_tanh_exact(mpfr_t r, float x) {
  mpfr_t u, cube;
  mpfr_inits2(mpfr_get_prec(r), u, cube, nullptr);
  mpfr_set_flt(cube, x, MPFR_RNDN);
  mpfr_pow_ui(cube, cube, 3, MPFR_RNDN);
  mpfr_mul_ui(cube, cube, 44715, MPFR_RNDN);
  mpfr_div_ui(cube, cube, 1000000, MPFR_RNDN);
  mpfr_add_d(cube, cube, static_cast<double>(x), MPFR_RNDN);
  mpfr_const_pi(u, MPFR_RNDN);
  mpfr_ui_div(u, 8, u, MPFR_RNDN);  // (2 sqrt(2/pi))^2
  mpfr_sqrt(u, u, MPFR_RNDN);
  mpfr_mul(r, u, cube, MPFR_RNDN);
  logistic(r);
  times(r, x);
  mpfr_clears(u, cube, nullptr);
}

using InPlace = void (*)(mpfr_t);
template <InPlace function>
void exact_in_place(mpfr_t r, float x) {
  mpfr_set_flt(r, x, MPFR_RNDN);
  function(r);
}
template <double alpha>
void elu_of(mpfr_t r, float x) {
  mpfr_t a;
  mpfr_init2(a, 53);
  mpfr_set_d(a, alpha, MPFR_RNDN);
  mpfr_set_flt(r, x, MPFR_RNDN);
  elu_exact(r, a);
  mpfr_clear(a);
}
template <double alpha>
loop::Val elu(loop::Val x) {
  return f32::elu(x, alpha);
}

constexpr F32Function functions[] = {
    {"exp", f32::exp, "exp(x)", exact_of<mpfr_exp>},
    {"log", f32::log, "log(x)", exact_of<mpfr_log>},
    {"tanh", f32::tanh, "tanh(x)", exact_of<mpfr_tanh>},
    {"erf", f32::erf, "erf(x)", exact_of<mpfr_erf>},
    {"sigmoid", f32::sigmoid, "1 / (1 + exp(-x))", sigmoid_exact},
    {"rsqrt", f32::rsqrt, "1 / sqrt(x)", rsqrt_exact},
    {"silu", f32::silu, "x / (1 + exp(-x))", silu_exact},
    {"gelu_tanh", f32::gelu_tanh, "x / (1 + exp(-1.59576912160573071176 * (x + 0.044715 * x * x * x)))",
     gelu_tanh_exact},
    {"gelu_erf", f32::gelu_erf, "x * (0.5 * erfc(x * -0.70710678118654752440))", gelu_erf_exact},
    {"exp2", f32::exp2, "exp2(x)", exact_of<mpfr_exp2>},
    {"expm1", f32::expm1, "expm1(x)", exact_of<mpfr_expm1>},
    {"log2", f32::log2, "log2(x)", exact_of<mpfr_log2>},
    {"log1p", f32::log1p, "log1p(x)", exact_of<mpfr_log1p>},
    {"exp10", f32::exp10, "exp10(x)", exact_of<mpfr_exp10>},
    {"log10", f32::log10, "log10(x)", exact_of<mpfr_log10>},
    {"sin", f32::sin, "sin(x)", exact_of<mpfr_sin>},
    {"cos", f32::cos, "cos(x)", exact_of<mpfr_cos>},
    {"softplus", f32::softplus, "log1p(exp(-__builtin_fabs(x))) + (x > 0 ? x : 0)", exact_in_place<softplus_exact>},
    {"log_sigmoid", f32::log_sigmoid, "-(log1p(exp(-__builtin_fabs(x))) + (x < 0 ? -x : 0))",
     exact_in_place<log_sigmoid_exact>},
    {"elu", elu<1.0>, "x >= 0 ? x : expm1(x)", elu_of<1.0>},
    {"elu_0.3", elu<0.3>, "x >= 0 ? x : 0.3 * expm1(x)", elu_of<0.3>},
    {"selu", f32::selu, "x >= 0 ? 1.05070098735548049342 * x : 1.75809934084737685994 * expm1(x)",
     exact_in_place<selu_exact>},
    {"mish", f32::mish, "x * tanh(log1p(exp(x)))", exact_in_place<mish_exact>, false},
    {"erfinv", f32::erfinv, "erf_inv(x)", exact_in_place<erfinv_exact>, false},
    {"lgamma", f32::lgamma, "lgamma(x)", exact_in_place<lgamma_exact>, false},
    {"digamma", f32::digamma, "psi(x)", exact_in_place<digamma_exact>, false},
    {"tan", f32::tan, "tan(x)", exact_of<mpfr_tan>, false},
    {"asin", f32::asin, "asin(x)", exact_of<mpfr_asin>, false},
    {"acos", f32::acos, "acos(x)", exact_of<mpfr_acos>, false},
    {"atan", f32::atan, "atan(x)", exact_of<mpfr_atan>, false},
    {"sinh", f32::sinh, "sinh(x)", exact_of<mpfr_sinh>, false},
    {"cosh", f32::cosh, "cosh(x)", exact_of<mpfr_cosh>, false},
    {"asinh", f32::asinh, "asinh(x)", exact_of<mpfr_asinh>, false},
    {"acosh", f32::acosh, "acosh(x)", exact_of<mpfr_acosh>, false},
    {"atanh", f32::atanh, "atanh(x)", exact_of<mpfr_atanh>, false},
    {"cbrt", f32::cbrt, "cbrt(x)", exact_of<mpfr_cbrt>, false},
    {"erfc", f32::erfc, "erfc(x)", exact_of<mpfr_erfc>, false},
    {"sinpi", f32::sinpi, "sin_pi(x)", exact_of<mpfr_sinpi>, false},
    {"cospi", f32::cospi, "cos_pi(x)", exact_of<mpfr_cospi>, false},
};

// Whether a value this large rounds to infinity in f32.
constexpr double overflow = 0x1.ffffffp127;

}  // namespace

std::span<const F32Function> f32_functions() { return functions; }

double ulp_error(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : inf;
  if (std::signbit(got) != std::signbit(exact)) return inf;
  if (std::isinf(got) || std::fabs(exact) >= overflow)
    return std::isinf(got) == (std::fabs(exact) >= overflow) ? 0 : inf;
  if (exact == 0) return got == 0 ? 0 : inf;
  int exponent;
  std::frexp(exact, &exponent);
  return std::ldexp(std::fabs(got - exact), 24 - std::max(exponent, -125));
}

double ulp_error(float got, mpfr_t exact) {
  const double near = mpfr_get_d(exact, MPFR_RNDN);
  if (!std::isfinite(got) || !std::isfinite(near) || near == 0) return ulp_error(got, near);
  if (std::signbit(got) != std::signbit(near) || std::fabs(near) >= overflow) return ulp_error(got, near);
  mpfr_t error;
  mpfr_init2(error, mpfr_get_prec(exact));
  mpfr_sub_d(error, exact, static_cast<double>(got), MPFR_RNDN);
  const double distance = std::fabs(mpfr_get_d(error, MPFR_RNDN));
  const auto exponent = std::max<long>(mpfr_get_exp(exact), -125);
  mpfr_clear(error);
  return std::ldexp(distance, static_cast<int>(24 - exponent));
}

}  // namespace ingot::test
