// The floating-point environment in which everything is computed (docs/numerics.md): round to nearest, denormals kept,
// all traps masked. The caller's own is restored to the bit, sticky flags included.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ingot::runtime {

#if defined(__x86_64__)
// MXCSR, and the x87 state where its control word is not the usual one: with all traps masked and nothing of the
// library computing in x87, the usual one needs no saving.
struct FpState {
  static constexpr uint32_t default_mxcsr = 0x1f80;
  static constexpr uint32_t sticky = 0x3f;
  static constexpr uint16_t default_x87 = 0x037f;
  struct X87 {
    uint32_t words[7];  // as fnstenv stores them
  };
  uint32_t mxcsr;
  uint16_t control;
  X87 x87;

  void save() noexcept {
    mxcsr = _mm_getcsr();
    asm volatile("fnstcw %0" : "=m"(control));
    if (control != default_x87) asm volatile("fnstenv %0" : "=m"(x87));  // masks all traps
  }
  // Writing MXCSR costs more than the rest of a tiny run, so it is left alone where only sticky flags differ: they
  // change no result, and load() compares.
  void load_default() const noexcept {
    if ((mxcsr & ~sticky) != default_mxcsr) _mm_setcsr(default_mxcsr);
    if (control != default_x87) asm volatile("fninit" ::: "memory");
  }
  void load() const noexcept {
    if (_mm_getcsr() != mxcsr) _mm_setcsr(mxcsr);
    if (control != default_x87) asm volatile("fldenv %0" ::"m"(x87));
  }
};
#elif defined(__aarch64__)
struct FpState {
  uint64_t control, status;

  void save() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(control));
    asm volatile("mrs %0, fpsr" : "=r"(status));
  }
  void load_default() const noexcept {
    if (control != 0) asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
  }
  void load() const noexcept {
    asm volatile("msr fpcr, %0" ::"r"(control));
    asm volatile("msr fpsr, %0" ::"r"(status));
  }
};
#else
#error "the floating-point environment of this architecture is not known"
#endif

// The library's environment while it lives. One inside of another does nothing.
class FpEnv {
 public:
  FpEnv() noexcept : outermost_(!active) {
    if (!outermost_) return;
    host_.save();
    host_.load_default();
    active = this;
  }
  ~FpEnv() {
    if (!outermost_) return;
    active = nullptr;
    host_.load();
  }
  FpEnv(const FpEnv&) = delete;
  FpEnv& operator=(const FpEnv&) = delete;

 private:
  friend class HostFpEnv;
  const bool outermost_;
  FpState host_;
  // Initial-exec: the warm path reads it, and the word fits what loaders keep for libraries that are opened late.
  static constinit thread_local FpEnv* active [[gnu::tls_model("initial-exec")]];
};

// The host's environment while it lives: around every callback. What the callback changes stays changed in the host's.
// Nothing on threads of the library's own, which have the default one.
class HostFpEnv {
 public:
  HostFpEnv() noexcept : left_(FpEnv::active) {
    if (!left_) return;
    FpEnv::active = nullptr;
    left_->host_.load();
  }
  ~HostFpEnv() {
    if (!left_) return;
    left_->host_.save();
    left_->host_.load_default();
    FpEnv::active = left_;
  }
  HostFpEnv(const HostFpEnv&) = delete;
  HostFpEnv& operator=(const HostFpEnv&) = delete;

 private:
  FpEnv* const left_;
};

}  // namespace ingot::runtime
