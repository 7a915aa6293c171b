// Roundings of the primitives against MPFR: once, to nearest even, through denormals and overflow.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
// mpfr.h declares the intmax_t functions only where it finds stdint.h before it.
#include <mpfr.h>

#include "loop/eval.h"

using namespace ingot::loop;

namespace {

template <class T>
constexpr DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

class Number {
 public:
  explicit Number(mpfr_prec_t precision) { mpfr_init2(v, precision); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(v); }
  mpfr_t v;
};

// Computes with `f(result)` in the format of T: its precision and exponents, denormals rounded once.
template <class T, class F>
uint64_t rounded(F f) {
  constexpr bool single = sizeof(T) == 4;
  Number r(single ? 24 : 53);
  mpfr_set_emin(single ? -148 : -1073);
  mpfr_set_emax(single ? 128 : 1024);
  int t = f(r.v);
  t = mpfr_check_range(r.v, t, MPFR_RNDN);
  mpfr_subnormalize(r.v, t, MPFR_RNDN);
  const T result = single ? static_cast<T>(mpfr_get_flt(r.v, MPFR_RNDN)) : static_cast<T>(mpfr_get_d(r.v, MPFR_RNDN));
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return std::bit_cast<Bits<T>>(result);
}

template <class T>
void same(uint64_t got, uint64_t want) {
  const bool nan = std::isnan(std::bit_cast<T>(static_cast<Bits<T>>(want)));
  if (nan) CHECK(std::isnan(std::bit_cast<T>(static_cast<Bits<T>>(got))));
  else CHECK(got == want);
}

// Any bits, or few significant ones (so that ties happen), with exponents near each other or near the borders.
template <class T>
T sample(std::mt19937_64& random) {
  constexpr int fraction = sizeof(T) == 4 ? 23 : 52, exponents = sizeof(T) == 4 ? 255 : 2047;
  const uint64_t any = random();
  uint64_t bits = any & ((uint64_t{1} << fraction) - 1);
  if (any >> 60 & 1) bits &= ~uint64_t{0} << (fraction - 3);
  if (any >> 61 & 1) bits &= 7;
  uint64_t e = random() % exponents;
  switch (random() % 4) {
    case 0: e = random() % 4; break;
    case 1: e = static_cast<uint64_t>(exponents / 2) - 3 + random() % 6; break;
    case 2: e = static_cast<uint64_t>(exponents) - 1 - random() % 3; break;
    default: break;
  }
  return std::bit_cast<T>(static_cast<Bits<T>>((any >> 63) << (8 * sizeof(T) - 1) | e << fraction | bits));
}

template <class T>
void arithmetic() {
  std::mt19937_64 random(11);
  Number a(53), b(53), c(53);
  for (int i = 0; i < 200000; ++i) {
    const T x = sample<T>(random), y = sample<T>(random), z = sample<T>(random);
    mpfr_set_d(a.v, static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(b.v, static_cast<double>(y), MPFR_RNDN);
    mpfr_set_d(c.v, static_cast<double>(z), MPFR_RNDN);
    const auto got = [&](Prim p) {
      return eval(p, dtype<T>, dtype<T>, std::bit_cast<Bits<T>>(x), std::bit_cast<Bits<T>>(y), std::bit_cast<Bits<T>>(z));
    };
    CAPTURE(x);
    CAPTURE(y);
    CAPTURE(z);
    same<T>(got(Prim::add), rounded<T>([&](mpfr_t r) { return mpfr_add(r, a.v, b.v, MPFR_RNDN); }));
    same<T>(got(Prim::sub), rounded<T>([&](mpfr_t r) { return mpfr_sub(r, a.v, b.v, MPFR_RNDN); }));
    same<T>(got(Prim::mul), rounded<T>([&](mpfr_t r) { return mpfr_mul(r, a.v, b.v, MPFR_RNDN); }));
    same<T>(got(Prim::div), rounded<T>([&](mpfr_t r) { return mpfr_div(r, a.v, b.v, MPFR_RNDN); }));
    same<T>(got(Prim::sqrt), rounded<T>([&](mpfr_t r) { return mpfr_sqrt(r, a.v, MPFR_RNDN); }));
    same<T>(got(Prim::fma), rounded<T>([&](mpfr_t r) { return mpfr_fma(r, a.v, b.v, c.v, MPFR_RNDN); }));
  }
}

template <class T>
void scale2() {
  std::mt19937_64 random(12);
  Number a(53);
  const auto check = [&](T x, int32_t n) {
    CAPTURE(x);
    CAPTURE(n);
    mpfr_set_d(a.v, static_cast<double>(x), MPFR_RNDN);
    same<T>(eval(Prim::scale2, dtype<T>, dtype<T>, std::bit_cast<Bits<T>>(x), static_cast<uint32_t>(n)),
            rounded<T>([&](mpfr_t r) { return mpfr_mul_2si(r, a.v, n, MPFR_RNDN); }));
  };
  constexpr int span = sizeof(T) == 4 ? 300 : 2200;
  for (int i = 0; i < 300000; ++i) check(sample<T>(random), static_cast<int32_t>(random() % (2 * span)) - span);
  for (const int32_t n : {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), -65536, 65536, -1, 0, 1})
    for (const T x : {T(0), T(-0.0), T(1), T(-1.5), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(),
                      -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
      check(x, n);
}

}  // namespace

TEST_CASE("f32 arithmetic rounds once") { arithmetic<float>(); }
TEST_CASE("f64 arithmetic rounds once") { arithmetic<double>(); }
TEST_CASE("f32 scale2 rounds once, for every exponent") { scale2<float>(); }
TEST_CASE("f64 scale2 rounds once, for every exponent") { scale2<double>(); }

TEST_CASE("scale2 into the denormals by hand") {
  // 3 * 2^-150 lies halfway between 2^-149 and 2^-148: to even. Two roundings, or truncation, give 2^-149.
  CHECK(eval(Prim::scale2, DType::f32, DType::f32, 0x40400000, static_cast<uint32_t>(-150)) == 2);
  CHECK(eval(Prim::scale2, DType::f32, DType::f32, 0x3F800000, static_cast<uint32_t>(-150)) == 0);
  CHECK(eval(Prim::scale2, DType::f32, DType::f32, 0x3F800001, static_cast<uint32_t>(-150)) == 1);
  CHECK(eval(Prim::scale2, DType::f32, DType::f32, 1, 277) == 0x7F800000);
  CHECK(eval(Prim::scale2, DType::f32, DType::f32, 1, 276) == 0x7F000000);
}

TEST_CASE("f64 rounds to f32 once") {
  std::mt19937_64 random(13);
  Number a(53);
  const auto check = [&](double x) {
    CAPTURE(x);
    mpfr_set_d(a.v, x, MPFR_RNDN);
    same<float>(eval(Prim::convert, DType::f32, DType::f64, std::bit_cast<uint64_t>(x)),
                rounded<float>([&](mpfr_t r) { return mpfr_set(r, a.v, MPFR_RNDN); }));
  };
  for (int i = 0; i < 300000; ++i) {
    check(sample<double>(random));
    // Around an f32 and halfway to the next: where a second rounding shows.
    const double x = sample<float>(random);
    const double half = x + 0.5 * (static_cast<double>(std::nextafter(static_cast<float>(x), HUGE_VALF)) - x);
    if (!std::isfinite(half)) continue;
    check(half);
    check(std::nextafter(half, HUGE_VAL));
    check(std::nextafter(half, -HUGE_VAL));
  }
}

TEST_CASE("integers round to floats once") {
  std::mt19937_64 random(14);
  for (int i = 0; i < 300000; ++i) {
    // Leading ones at every place, the low bits sparse, so that ties and near-ties are common.
    uint64_t v = random() >> random() % 64;
    if (random() % 2) v &= ~uint64_t{0} << random() % 64;
    if (random() % 4 == 0) v ^= 1;
    CAPTURE(v);
    const auto s = static_cast<int64_t>(v);
    CHECK(eval(Prim::convert, DType::f32, DType::u64, v) ==
          rounded<float>([&](mpfr_t r) { return mpfr_set_uj(r, v, MPFR_RNDN); }));
    CHECK(eval(Prim::convert, DType::f64, DType::u64, v) ==
          rounded<double>([&](mpfr_t r) { return mpfr_set_uj(r, v, MPFR_RNDN); }));
    CHECK(eval(Prim::convert, DType::f32, DType::i64, v) ==
          rounded<float>([&](mpfr_t r) { return mpfr_set_sj(r, s, MPFR_RNDN); }));
    CHECK(eval(Prim::convert, DType::f64, DType::i64, v) ==
          rounded<double>([&](mpfr_t r) { return mpfr_set_sj(r, s, MPFR_RNDN); }));
    const auto s32 = static_cast<int32_t>(v);
    CHECK(eval(Prim::convert, DType::f32, DType::i32, static_cast<uint32_t>(s32)) ==
          rounded<float>([&](mpfr_t r) { return mpfr_set_si(r, s32, MPFR_RNDN); }));
    CHECK(eval(Prim::convert, DType::f32, DType::u32, v & 0xFFFFFFFF) ==
          rounded<float>([&](mpfr_t r) { return mpfr_set_uj(r, v & 0xFFFFFFFF, MPFR_RNDN); }));
  }
  // 2^62 + 2^38 + 1 to f32: through f64 it would lose the 1, become a tie, and go down.
  CHECK(eval(Prim::convert, DType::f32, DType::i64, (uint64_t{1} << 62) + (uint64_t{1} << 38) + 1) ==
        std::bit_cast<uint32_t>(4611686568183201792.0f));
}
