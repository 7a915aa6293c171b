// Errors of one f32 expansion over arrays: fast double arithmetic first, MPFR where that leaves a doubt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/emit_c.h"
#include "math/f32_reference.h"

namespace ingot::test {

struct Worst {
  double error = 0;
  float x = 0, got = 0;
  uint64_t above_one = 0;  // how many inputs are off by more than 1 ULP
};

class F32Checker {
 public:
  explicit F32Checker(const F32Function& function);

  static constexpr double usual_filter = 0.95;
  // Takes the errors of these inputs into `worst`. Those above `filter` ULP by double arithmetic are judged by MPFR.
  void check(std::span<const float> inputs, Worst& worst, double filter = usual_filter);

  // How far double arithmetic and MPFR are apart in the errors of these inputs, in ULP, at most. Above 1 - filter the
  // filter would prove nothing.
  double doubt(std::span<const float> inputs);

  const CompiledKernel& kernel() const { return kernel_; }
  // All of them, and those outside slow paths.
  size_t primitives() const { return primitives_; }
  size_t fast_primitives() const { return fast_primitives_; }

 private:
  F32Checker(const F32Function& function, const loop::Kernel& kernel);
  void estimate(std::span<const float> inputs);  // fills out_, and error_ by double arithmetic

  F32Function function_;
  size_t primitives_, fast_primitives_;
  CompiledKernel kernel_;
  CompiledC reference_;
  void (*errors_)(const float*, const float*, double*, long);
  std::vector<float> out_;
  std::vector<double> error_;
};

}  // namespace ingot::test
