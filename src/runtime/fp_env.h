// The floating-point environment in which everything is computed (docs/numerics.md): round to nearest, denormals kept,
// all traps masked. The caller's own is restored to the bit, sticky flags included.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ingot::runtime {

class FpEnv {
 public:
#if defined(__x86_64__)
  static constexpr uint32_t default_mxcsr = 0x1f80;
  FpEnv() noexcept : saved_(_mm_getcsr()) {
    if (saved_ != default_mxcsr) _mm_setcsr(default_mxcsr);
  }
  ~FpEnv() { _mm_setcsr(saved_); }

 private:
  uint32_t saved_;
#elif defined(__aarch64__)
  FpEnv() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(control_));
    asm volatile("mrs %0, fpsr" : "=r"(status_));
    if (control_ != 0) asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
  }
  ~FpEnv() {
    asm volatile("msr fpcr, %0" ::"r"(control_));
    asm volatile("msr fpsr, %0" ::"r"(status_));
  }

 private:
  uint64_t control_, status_;
#else
#error "the floating-point environment of this architecture is not known"
#endif

 public:
  FpEnv(const FpEnv&) = delete;
  FpEnv& operator=(const FpEnv&) = delete;
};

}  // namespace ingot::runtime
