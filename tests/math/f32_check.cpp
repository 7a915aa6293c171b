#include "math/f32_check.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace ingot::test {

namespace {

// Errors in ULP for arrays, vectorised with glibc's libmvec where there is one. Not a number or infinite where the case
// is one for MPFR: only one of the two is infinite or NaN, a wrong sign.
std::string error_source(const F32Function& f) {
  std::string text = R"(
#include <features.h>
#if defined(__x86_64__) && defined(__GLIBC__)
#define SIMD __attribute__((simd("notinbranch")))
#else
#define SIMD
#endif
SIMD double exp(double); SIMD double log(double); SIMD double tanh(double); SIMD double erf(double);
SIMD double erfc(double); SIMD double exp2(double); SIMD double expm1(double); SIMD double exp10(double);
SIMD double log2(double); SIMD double log1p(double); SIMD double log10(double); SIMD double sin(double);
SIMD double cos(double); SIMD double tan(double); SIMD double asin(double); SIMD double acos(double);
SIMD double atan(double); SIMD double sinh(double); SIMD double cosh(double); SIMD double asinh(double);
SIMD double acosh(double); SIMD double atanh(double); SIMD double cbrt(double);
double sqrt(double); double rint(double);
static inline double sin_pi(double x) {
  const double r = x - rint(x), s = sin(3.14159265358979323846 * r);
  const double whole = rint(x) * 0.5;
  return r == 0 ? __builtin_copysign(0, x) : whole != rint(whole) ? -s : s;
}
static inline double cos_pi(double x) {
  const double r = __builtin_fabs(x - rint(x)), c = sin(3.14159265358979323846 * (0.5 - r)), whole = rint(x) * 0.5;
  return whole != rint(whole) ? 0 - c : c;
}
static inline double erf_inv(double x) {
  const double a = __builtin_fabs(x), l = log((1 - a) * (1 + a)), b = 4.3307 + l / 2;
  double y = sqrt(sqrt(b * b - l / 0.147) - b);
  if (a == 0 || !(a < 1)) return a == 0 ? x : a == 1 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
  if (a < 1e-4) return x * (0.886226925452758014 + x * x * 0.232013666534654500);
  for (int i = 0; i < 3; ++i) {  // Halley's
    const double e = (a < 0.5 ? erf(y) - a : (1 - a) - erfc(y)) * 0.886226925452758014 * exp(y * y);
    y -= e / (1 + y * e);
  }
  return __builtin_copysign(y, x);
}
double lgamma(double);
long double logl(long double); long double tanl(long double); long double rintl(long double);
static double psi(double x) {
  if (x == 0) return __builtin_copysign(__builtin_inf(), -x);
  if (!(__builtin_fabs(x) < __builtin_inf())) return x > 0 ? x : __builtin_nan("");
  long double r = 0, t = x < 0 ? 1 - (long double)x : x;
  if (x < 0) {
    const long double f = x - rintl(x);
    if (f == 0) return __builtin_nan("");
    r = -3.14159265358979323846264L / tanl(3.14159265358979323846264L * f);
  }
  for (; t < 16; t += 1) r -= 1 / t;
  const long double z = 1 / (t * t);
  return r + logl(t) - 0.5L / t - z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z * (1 / 132.0L -
         z * (691 / 32760.0L - z / 12.0L))))));
}
void errors(const float* restrict in, const float* restrict got, double* restrict error, long n) {
#pragma omp simd
  for (long i = 0; i < n; ++i) {
    const double x = in[i], y = got[i];
    const double r = )";
  append(text, f.quick);
  text += R"(;
    unsigned long long rb, yb;
    __builtin_memcpy(&rb, &r, 8);
    __builtin_memcpy(&yb, &y, 8);
    unsigned long long e = rb >> 52 & 2047;
    e = e < 1023 - 126 ? 1023 - 126 : e;
    const unsigned long long sb = (2 * 1023 + 23 - e) << 52;  // 1 / ulp(r)
    double scale;
    __builtin_memcpy(&scale, &sb, 8);
    const double difference = __builtin_fabs(y - r) * scale;
    const double sign = (long long)(rb ^ yb) < 0 ? __builtin_inf() : 0;
    const int overflow = __builtin_fabs(r) >= 0x1.ffffffp127 && __builtin_fabs(y) == __builtin_inf();
    error[i] = r != r && y != y ? 0 : overflow ? sign : difference + sign;
  }
}
)";
  return text;
}

#if defined(__x86_64__) && defined(__GLIBC__)
constexpr const char* libraries = "-lmvec -lm";
#else
constexpr const char* libraries = "-lm";
#endif

double exact_error(const F32Function& f, float x, float got) {
  mpfr_t exact;
  mpfr_init2(exact, 120);
  f.exact(exact, x);
  const double error = ulp_error(got, exact);
  mpfr_clear(exact);
  return error;
}

loop::Kernel kernel_of(const F32Function& f) {
  return function_kernel(loop::DType::f32, 1, [&](std::span<const loop::Val> x) { return f.expansion(x[0]); });
}

}  // namespace

F32Checker::F32Checker(const F32Function& function) : F32Checker(function, kernel_of(function)) {}

F32Checker::F32Checker(const F32Function& function, const loop::Kernel& kernel)
    : function_(function),
      primitives_(primitive_count(kernel)),
      fast_primitives_(fast_primitive_count(kernel)),
      kernel_(kernel),
      reference_(error_source(function), libraries),
      errors_(reinterpret_cast<decltype(errors_)>(reference_.symbol("errors"))) {}

void F32Checker::estimate(std::span<const float> inputs) {
  out_.resize(inputs.size());
  error_.resize(inputs.size());
  const void* arrays[] = {inputs.data()};
  kernel_.run(arrays, out_.data(), inputs.size());
  errors_(inputs.data(), out_.data(), error_.data(), static_cast<long>(inputs.size()));
}

double F32Checker::doubt(std::span<const float> inputs) {
  estimate(inputs);
  double most = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (std::isfinite(error_[i]))  // others are MPFR's anyway
      most = std::max(most, std::fabs(error_[i] - exact_error(function_, inputs[i], out_[i])));
  return most;
}

void F32Checker::check(std::span<const float> inputs, Worst& worst, double filter) {
  estimate(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (error_[i] <= filter && error_[i] <= worst.error) continue;  // false for NaN
    const double e = error_[i] <= filter ? error_[i] : exact_error(function_, inputs[i], out_[i]);
    worst.above_one += e > 1;
    if (e > worst.error) worst.error = e, worst.x = inputs[i], worst.got = out_[i];
  }
}

}  // namespace ingot::test
