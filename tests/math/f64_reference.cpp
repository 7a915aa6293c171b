#include "math/f64_reference.h"

#include <cmath>
#include <limits>

#include "loop/math/f64.h"
#include "math/emit_c.h"
#include "math/exact.h"

namespace ingot::test {

namespace f64 = loop::math::f64;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr mpfr_prec_t precision = 160;

using Unary = int (*)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
template <Unary function>
void exact_of(mpfr_t r, double x, double) {
  mpfr_set_d(r, x, MPFR_RNDN);
  function(r, r, MPFR_RNDN);
}

void rsqrt_exact(mpfr_t r, double x, double) {
  mpfr_set_d(r, x, MPFR_RNDN);
  mpfr_rec_sqrt(r, r, MPFR_RNDN);
  if (x == 0) mpfr_set_inf(r, std::signbit(x) ? -1 : 1);  // C's; MPFR gives +inf for both
}

// 1 / (1 + e^-r); r is replaced.
void logistic(mpfr_t r) {
  mpfr_neg(r, r, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}
// r times x, where -inf * 0 means the limit.
void times(mpfr_t r, double x) {
  mpfr_mul_d(r, r, x, MPFR_RNDN);
  if (x == -inf) mpfr_set_zero(r, -1);
}

void sigmoid_exact(mpfr_t r, double x, double) {
  mpfr_set_d(r, x, MPFR_RNDN);
  logistic(r);
}
void silu_exact(mpfr_t r, double x, double) {
  mpfr_set_d(r, x, MPFR_RNDN);
  logistic(r);
  times(r, x);
}
void gelu_erf_exact(mpfr_t r, double x, double) {
  mpfr_t root;
  mpfr_init2(root, precision);
  mpfr_sqrt_ui(root, 2, MPFR_RNDN);
  mpfr_set_d(r, -x, MPFR_RNDN);
  mpfr_div(r, r, root, MPFR_RNDN);
  mpfr_erfc(r, r, MPFR_RNDN);
  mpfr_div_2ui(r, r, 1, MPFR_RNDN);
  times(r, x);
  mpfr_clear(root);
}
void gelu_tanh_exact(mpfr_t r, double x, double) {
  mpfr_t factor, cube;
  mpfr_inits2(precision, factor, cube, nullptr);
  mpfr_set_d(cube, x, MPFR_RNDN);
  mpfr_pow_ui(cube, cube, 3, MPFR_RNDN);
  mpfr_mul_ui(cube, cube, 44715, MPFR_RNDN);
  mpfr_div_ui(cube, cube, 1000000, MPFR_RNDN);
  mpfr_add_d(cube, cube, x, MPFR_RNDN);
  mpfr_const_pi(factor, MPFR_RNDN);
  mpfr_ui_div(factor, 8, factor, MPFR_RNDN);  // (2 sqrt(2/pi))^2
  mpfr_sqrt(factor, factor, MPFR_RNDN);
  mpfr_mul(r, factor, cube, MPFR_RNDN);
  logistic(r);
  times(r, x);
  mpfr_clears(factor, cube, nullptr);
}
using InPlace = void (*)(mpfr_t);
template <InPlace function>
void exact_in_place(mpfr_t r, double x, double) {
  mpfr_set_d(r, x, MPFR_RNDN);
  function(r);
}
void elu_of_third(mpfr_t r, double x, double) {
  mpfr_t alpha;
  mpfr_init2(alpha, 53);
  mpfr_set_d(alpha, 1.0 / 3, MPFR_RNDN);
  mpfr_set_d(r, x, MPFR_RNDN);
  elu_exact(r, alpha);
  mpfr_clear(alpha);
}
void logaddexp_of(mpfr_t r, double x, double y) {
  mpfr_t second;
  mpfr_init2(second, 53);
  mpfr_set_d(second, y, MPFR_RNDN);
  mpfr_set_d(r, x, MPFR_RNDN);
  logaddexp_exact(r, second);
  mpfr_clear(second);
}
// Beside the roots, and left of 0 anywhere, an absolute error counts.
double gamma_slack(double x, double exact) {
  const double a = std::fabs(exact);
  return x < 0 ? 1e-15 * std::max(1.0, a) : a < 0.25 ? 1e-15 : 0;
}
double cancellation_slack(double, double exact) { return std::fabs(exact) < 0x1p-5 ? 0x1p-57 : 0; }

using Binary = int (*)(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
template <Binary function>
void exact_of_two(mpfr_t r, double x, double y) {
  mpfr_t second;
  mpfr_init2(second, 53);
  mpfr_set_d(second, y, MPFR_RNDN);
  mpfr_set_d(r, x, MPFR_RNDN);
  function(r, r, second, MPFR_RNDN);
  mpfr_clear(second);
}

F64Function unary(std::string_view name, loop::Val (*expansion)(loop::Val), void (*exact)(mpfr_t, double, double),
                  double bound, std::vector<Range> ranges, std::vector<double> landmarks) {
  return {name, 1, expansion, nullptr, exact, bound, std::move(ranges), std::move(landmarks), nullptr};
}

std::vector<F64Function> make_functions() {
  constexpr double min = 0x1p-1022;
  return {
      unary("exp", f64::exp, exact_of<mpfr_exp>, 1, {{-745.2, 709.8}, {-1, 1}, {-746, -707}, {707, 710}},
            {708, -708, 710, -746, 709.782712893384, -708.3964185322641, -745.1332191019411, 0.34657359027997264}),
      unary("log", f64::log, exact_of<mpfr_log>, 1, {{0, 2}, {0.7, 1.5}, {0.99, 1.01}, {1.4, 2.9}, {0, 1e3}, {0, min}},
            {1, min, 0.7071067811865476, 1.4142135623730951, 2, 0.5}),
      unary("tanh", f64::tanh, exact_of<mpfr_tanh>, 2, {{-1, 1}, {-0.4, 0.4}, {-3, 3}, {-23, 23}},
            {22, 19.061547465398498, 0.17328679513998632, 0.5198603854199589, 1}),
      unary("erf", f64::erf, exact_of<mpfr_erf>, 2, {{-1.25, 1.25}, {1, 1.4}, {-6, 6}, {0, 3}},
            {1.21875, 6, 5.921587195794507, 0.8660254037844386}),
      unary("sigmoid", f64::sigmoid, sigmoid_exact, 2, {{-1, 1}, {-40, 40}, {-746, -590}, {-700, 700}, {-5, 5}},
            {600, -600, -800, -745.1332191019411, -708.3964185322641, 36.7368005696771}),
      unary("silu", f64::silu, silu_exact, 2, {{-1, 1}, {-40, 40}, {-756, -590}, {-700, 700}, {-5, 5}},
            {600, -600, -800, -751.7, -715.0, 36.7368005696771}),
      unary("rsqrt", f64::rsqrt, rsqrt_exact, 2, {{1, 4}, {0, 100}, {0, min}}, {1, 4, min, 2}),
      unary("gelu_erf", f64::gelu_erf, gelu_erf_exact, 2, {{-1, 1}, {-10, 10}, {-38.7, -29}, {-38, 0}, {0, 9}},
            {30, -30, -40, 8.3, -38.5, -37.7, 5}),
      unary("gelu_tanh", f64::gelu_tanh, gelu_tanh_exact, 2, {{-1, 1}, {-22, 23}, {-22, -18}, {-5, 5}},
            {19, -19, -23, -21.6, -21.2, 7}),
      unary("exp2", f64::exp2, exact_of<mpfr_exp2>, 2, {{-1075, 1024}, {-1, 1}, {-1076, -1020}, {1020, 1025}},
            {1021, -1021, 1024, -1022, -1075, 0.5}),
      unary("expm1", f64::expm1, exact_of<mpfr_expm1>, 2, {{-45, 709.8}, {-1, 1}, {-40, 40}, {-0.4, 2}, {707, 710}},
            {708, 709.782712893384, -40, -37.4, 0.34657359027997264, 1.0397207708399179, 36.7368005696771}),
      unary("log2", f64::log2, exact_of<mpfr_log2>, 2, {{0, 2}, {0.7, 1.5}, {0.99, 1.01}, {0, 1e3}, {0, min}},
            {1, min, 0.7071067811865476, 1.4142135623730951, 2, 0.5}),
      unary("log1p", f64::log1p, exact_of<mpfr_log1p>, 2, {{-1, 1}, {-0.4, 0.5}, {-0.01, 0.01}, {-1, -0.9}, {0, 1e3}},
            {-1, 1, 0.4142135623730951, -0.2928932188134524, 0x1p-53, 0x1p-52}),
      unary("exp10", f64::exp10, exact_of<mpfr_exp10>, 2, {{-324, 308.3}, {-1, 1}, {-324, -306}, {306, 308.3}},
            {307, -307, 308.25471555991674, -307.6526555685888, -323.6062124024332, 0.1505149978319906}),
      unary("log10", f64::log10, exact_of<mpfr_log10>, 2, {{0, 2}, {0.7, 1.5}, {0.99, 1.01}, {0, 1e3}, {0, min}},
            {1, min, 0.7071067811865476, 1.4142135623730951, 10, 0.1}),
      unary("sin", f64::sin, exact_of<mpfr_sin>, 1, {{-1, 1}, {-10, 10}, {-1e4, 1e4}, {-2e9, 2e9}, {-1e20, 1e20}},
            {0.7853981633974483, 1.5707963267948966, 3.141592653589793, 0x1p30, 6381956970095103.0 * 0x1p797}),
      unary("cos", f64::cos, exact_of<mpfr_cos>, 1, {{-1, 1}, {-10, 10}, {-1e4, 1e4}, {-2e9, 2e9}, {-1e20, 1e20}},
            {0.7853981633974483, 1.5707963267948966, 3.141592653589793, 0x1p30, 6381956970095103.0 * 0x1p797}),
      unary("tan", f64::tan, exact_of<mpfr_tan>, 2, {{-1, 1}, {-10, 10}, {-1e4, 1e4}, {-2e9, 2e9}, {-1e20, 1e20}},
            {0.7853981633974483, 1.5707963267948966, 3.141592653589793, 0x1p30, 6381956970095103.0 * 0x1p797}),
      unary("sinpi", f64::sinpi, exact_of<mpfr_sinpi>, 2, {{-1, 1}, {-10, 10}, {-1e6, 1e6}, {-0.25, 0.25}},
            {0.25, 0.5, 0.75, 1, 1.5, 2, 0x1p52, min}),
      unary("cospi", f64::cospi, exact_of<mpfr_cospi>, 2, {{-1, 1}, {-10, 10}, {-1e6, 1e6}, {-0.25, 0.25}},
            {0.25, 0.5, 0.75, 1, 1.5, 2, 0x1p52, 0x1p53}),
      unary("asin", f64::asin, exact_of<mpfr_asin>, 2, {{-1, 1}, {-0.5, 0.5}, {0.4, 0.6}, {0.99, 1}},
            {0.5, -0.5, 1, -1, 0.75}),
      unary("acos", f64::acos, exact_of<mpfr_acos>, 2, {{-1, 1}, {-0.5, 0.5}, {-0.6, -0.4}, {0.99, 1}, {-1, -0.99}},
            {0.5, -0.5, 1, -1, 0.75}),
      unary("atan", f64::atan, exact_of<mpfr_atan>, 2, {{-1, 1}, {-0.4, 0.5}, {0.9, 3}, {-100, 100}},
            {0.41421356237309503, 1, 2.414213562373095, 0x1p53, 0x1p60}),
      unary("sinh", f64::sinh, exact_of<mpfr_sinh>, 2, {{-1, 1}, {-0.4, 0.4}, {-30, 30}, {-710.5, 710.5}, {707, 711}},
            {708, 710.4758600739439, 0.34657359027997264, 1.0397207708399179}),
      unary("cosh", f64::cosh, exact_of<mpfr_cosh>, 2, {{-1, 1}, {-0.4, 0.4}, {-30, 30}, {-710.5, 710.5}, {707, 711}},
            {708, 710.4758600739439, 0.34657359027997264, 1.0397207708399179}),
      unary("asinh", f64::asinh, exact_of<mpfr_asinh>, 2, {{-1, 1}, {-0.4, 0.4}, {-10, 10}, {0, 1e9}, {1e300, 1.7e308}},
            {0x1p28, 0x1p-28, 0.7071067811865476, 1}),
      unary("acosh", f64::acosh, exact_of<mpfr_acosh>, 2, {{1, 2}, {1, 1.01}, {1, 1.1}, {1, 100}, {1e300, 1.7e308}},
            {1, 0x1p28, 1.25, 2, 1.0606601717798212}),
      unary("atanh", f64::atanh, exact_of<mpfr_atanh>, 2, {{-1, 1}, {-0.3, 0.3}, {0.9, 1}, {-0.01, 0.01}},
            {1, -1, 0.5, 0.17157287525380990, 0.3333333333333333}),
      unary("cbrt", f64::cbrt, exact_of<mpfr_cbrt>, 2, {{1, 8}, {-10, 10}, {0, min}, {-1e300, 1e300}},
            {1, 2, 4, 8, 0.125, min, 27}),
      unary("erfc", f64::erfc, exact_of<mpfr_erfc>, 2, {{-1, 1}, {-7, 7}, {5, 26}, {25.5, 27.3}, {0, 2}},
            {-7, -6, 26, 26.5, 27.226017111108366, 27.4, 0.5}),
      unary("softplus", f64::softplus, exact_in_place<softplus_exact>, 2,
            {{-1, 1}, {-40, 40}, {-746, -690}, {-700, 700}, {-5, 5}},
            {700, -700, -745.1332191019411, -708.3964185322641, 36.7368005696771, 745}),
      unary("log_sigmoid", f64::log_sigmoid, exact_in_place<log_sigmoid_exact>, 2,
            {{-1, 1}, {-40, 40}, {690, 746}, {-700, 700}, {-5, 5}},
            {700, -700, 745.1332191019411, 708.3964185322641, 36.7368005696771}),
      unary("elu", [](loop::Val x) { return f64::elu(x, 1.0 / 3); }, elu_of_third, 2,
            {{-1, 1}, {-45, 0}, {-0.4, 0}, {-2, 0}}, {-40, -37.4, -0.34657359027997264, -1.0397207708399179}),
      unary("selu", f64::selu, exact_in_place<selu_exact>, 2, {{-1, 1}, {-45, 0}, {-0.4, 0}, {-2, 0}},
            {-40, -37.4, -0.34657359027997264, -1.0397207708399179}),
      unary("mish", f64::mish, exact_in_place<mish_exact>, 2, {{-1, 1}, {-40, 42}, {-756, -590}, {-700, 700}, {-5, 5}},
            {600, -600, -800, -751.7, -715.0, 40, 18.7}),
      unary("erfinv", f64::erfinv, exact_in_place<erfinv_exact>, 2, {{-1, 1}, {-0.1, 0.1}, {0.99, 1}, {0.9999999, 1}},
            {0.99903, 0.9999999437, 0.5, -0.99903, 1, -1}),
      {"lgamma",
       1,
       f64::lgamma,
       nullptr,
       exact_in_place<lgamma_exact>,
       4,
       {{0, 10}, {0.5, 3}, {-10, 0}, {-40, -0.5}, {0, 200}, {1e300, 2.6e305}},
       {0.5, 1, 1.5, 2, 2.5, 3, 4.5, 7.5, 8, -0.5, -1, -2.4570247382208006, -2.7476826467274127, -3.1435808883499798,
        2.556348e305, 1e300, -15, 100},
       gamma_slack},
      {"digamma",
       1,
       f64::digamma,
       nullptr,
       exact_in_place<digamma_exact>,
       4,
       {{0, 10}, {1, 2}, {-10, 0}, {-40, 0}, {0, 200}, {0, 0.01}},
       {1, 1.4616321449683622, 2, 3, 4, 7, 8, -0.504083008264455409, -1.5734984731623904, -2.6107208684441446, 0x1p-60,
        -0x1p-60, -15, 100},
       gamma_slack},
      {"logaddexp",
       2,
       nullptr,
       f64::logaddexp,
       logaddexp_of,
       2,
       {{-1, 1}, {-3, 3}, {-50, 50}, {-0.7, -0.6}, {-750, 750}, {0, min}},
       {0, 1, -0.6931471805599453, 700, -700, 745, 36.7},
       cancellation_slack},
      {"atan2",
       2,
       nullptr,
       f64::atan2,
       exact_of_two<mpfr_atan2>,
       2,
       {{-1, 1}, {-3, 3}, {0, 1e3}, {0, min}, {1e300, 1.7e308}},
       {1, 2, 0.5, min, 0x1p500, 0x1p-500},
       nullptr},
      {"hypot",
       2,
       nullptr,
       f64::hypot,
       exact_of_two<mpfr_hypot>,
       2,
       {{-1, 1}, {-3, 3}, {0, 1e3}, {0, min}, {1e300, 1.7e308}},
       {1, 2, 0.5, min, 0x1p500, 0x1p-450},
       nullptr},
      {"pow",
       2,
       nullptr,
       f64::pow,
       exact_of_two<mpfr_pow>,
       2,
       {{0, 2}, {0.5, 1.5}, {0.99, 1.01}, {0, 1e3}, {0, min}, {1e300, 1.7e308}},
       {1, 2, 0.5, min, 0.7071067811865476, 1.4142135623730951, 10},
       nullptr},
  };
}

// Whether a value this large rounds to infinity.
bool overflows(mpfr_t exact) { return std::isinf(mpfr_get_d(exact, MPFR_RNDN)); }

}  // namespace

const std::vector<F64Function>& f64_functions() {
  static const std::vector<F64Function> functions = make_functions();
  return functions;
}

double ulp_error(double got, mpfr_t exact) {
  if (mpfr_nan_p(exact) || std::isnan(got)) return mpfr_nan_p(exact) && std::isnan(got) ? 0 : inf;
  if (std::signbit(got) != (mpfr_signbit(exact) != 0)) return inf;
  if (std::isinf(got) || overflows(exact)) return std::isinf(got) == overflows(exact) ? 0 : inf;
  if (mpfr_zero_p(exact)) return got == 0 ? 0 : inf;
  mpfr_t error;
  mpfr_init2(error, precision);
  mpfr_sub_d(error, exact, got, MPFR_RNDN);
  const mpfr_exp_t ulp = std::max<mpfr_exp_t>(mpfr_get_exp(exact) - 53, -1074);
  mpfr_mul_2si(error, error, -ulp, MPFR_RNDN);
  const double result = std::fabs(mpfr_get_d(error, MPFR_RNDN));
  mpfr_clear(error);
  return result;
}

double ulp_error(const F64Function& f, F64Input in, double got) {
  mpfr_t exact;
  mpfr_init2(exact, precision);
  f.exact(exact, in.x, in.y);
  double error = ulp_error(got, exact);
  const double near = mpfr_get_d(exact, MPFR_RNDN);
  if (f.slack && std::isfinite(got) && std::isfinite(near) && std::fabs(got - near) <= f.slack(in.x, near)) error = 0;
  mpfr_clear(exact);
  return error;
}

struct F64Runner::State {
  loop::Kernel kernel;
  CompiledKernel compiled;
  size_t arity;
};

F64Runner::F64Runner(const F64Function& f) {
  loop::Kernel kernel = function_kernel(loop::DType::f64, f.arity, [&](std::span<const loop::Val> v) {
    // The sign of a NaN is arbitrary until expand() makes it canonical.
    return (f.arity == 1 ? f.unary(v[0]) : f.binary(v[0], v[1])).un(loop::Prim::canon);
  });
  CompiledKernel compiled(kernel);
  state_ = std::make_unique<State>(State{std::move(kernel), std::move(compiled), f.arity});
}

F64Runner::~F64Runner() = default;

std::vector<double> F64Runner::operator()(std::span<const F64Input> inputs) const {
  std::vector<double> x, y, out(inputs.size());
  for (const F64Input& in : inputs) x.push_back(in.x), y.push_back(in.y);
  const void* arrays[] = {x.data(), y.data()};
  state_->compiled.run(std::span(arrays).first(state_->arity), out.data(), inputs.size());
  return out;
}

const loop::Kernel& F64Runner::kernel() const { return state_->kernel; }

}  // namespace ingot::test
