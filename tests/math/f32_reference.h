// The f32 functions under test with their references, and how errors are counted.
#pragma once

#include <mpfr.h>

#include <span>
#include <string_view>

#include "loop/expr.h"

namespace ingot::test {

struct F32Function {
  std::string_view name;
  loop::Val (*expansion)(loop::Val);
  // A filter good to 2^-40: the function in C's double arithmetic, in terms of x.
  const char* quick;
  // The judge: correctly rounded to the precision of `result` or within a unit of it, x exact.
  void (*exact)(mpfr_t result, float x);
  // Whether it keeps to f32 and i32 primitives.
  bool daily = true;
};

// One-argument functions. Those of two have tests of their own.
std::span<const F32Function> f32_functions();

// The distance of `got` from `exact` in ulp(exact), the ulp floored at 2^-149. Infinity where overflow, NaN, a zero's
// sign or the sign differ from what the exact value demands.
double ulp_error(float got, double exact);
double ulp_error(float got, mpfr_t exact);

}  // namespace ingot::test
