// The f64 functions under test with their references, where to look, and how errors are counted.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "loop/expr.h"

namespace ingot::test {

struct Range {
  double lo, hi;
};

struct F64Function {
  std::string_view name;
  size_t arity;
  // One of the two is set.
  loop::Val (*unary)(loop::Val);
  loop::Val (*binary)(loop::Val, loop::Val);
  // The exact value in at least 150 bits, x and y exact; y is ignored by unary functions.
  void (*exact)(mpfr_t result, double x, double y);
  double bound;                   // ULP, by NUMERICS.md
  std::vector<Range> ranges;      // where arguments are dense
  std::vector<double> landmarks;  // whose neighbours are tried: thresholds of the expansion, borders of the result
  double (*slack)(double x, double exact) = nullptr;  // the absolute error that counts as none
};

const std::vector<F64Function>& f64_functions();

struct F64Input {
  double x, y;
};

// The same `count` inputs for the same seed: random bits, the ranges, neighbours of the landmarks, all exponents that
// matter. The arguments of pow are chosen for results over the whole range of exponents, borders included.
std::vector<F64Input> f64_inputs(const F64Function& f, size_t count, uint64_t seed);

// The distance of `got` from `exact` in ulp(exact), the ulp floored at 2^-1074. Infinity where overflow, NaN, a zero's
// sign or the sign differ from what the exact value demands.
double ulp_error(double got, mpfr_t exact);
// The same, from the function's exact value.
double ulp_error(const F64Function& f, F64Input in, double got);

// The expansion compiled and run over the inputs.
class F64Runner {
 public:
  explicit F64Runner(const F64Function& f);
  ~F64Runner();
  std::vector<double> operator()(std::span<const F64Input> inputs) const;
  const loop::Kernel& kernel() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::test
