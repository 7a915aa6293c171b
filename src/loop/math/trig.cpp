#include "loop/math/trig.h"

#include <cmath>
#include <vector>

namespace ingot::loop::math::trig {

namespace {

// 2/pi in chunks of 48 bits (tools/coefficients).
constexpr double chunks[] = {179192535600708, 23270068279249,  269607407508322, 164485373595713, 279625518014139,
                             217023475117626, 72902017812041,  51582721954332,  279404452032809, 183888630658549,
                             51381843323292,  123311537225281, 63298527134547,  63722760724363,  208877819469816,
                             167125197363215, 262985436846602, 119981743701711, 43752994852678,  69709976300077,
                             128813497838565, 265511607155191, 152087256787963, 105214343208200, 94571694849147,
                             118386223725600};

struct Sum {
  Val hi, lo;
};

Sum two_sum(Val a, Val b) {
  const Val hi = a + b;
  const Val b_part = hi - a;
  return {hi, (a - (hi - b_part)) + (b - b_part)};
}

Sum two_prod(Val a, Val b) {
  const Val hi = a * b;
  return {hi, fma(a, b, -hi)};
}

// v less its nearest multiple of 8, exact.
Val mod8(Val v) { return fma(round(v * 0.125), -8.0, v); }

}  // namespace

// a 2/pi modulo 8, from the five chunks of 2/pi that matter: the chunks before them give multiples of 8, those after
// them less than the last place. With a = m 2^e, m an integer below 2^p: the first is the least i with e < width (i +
// 1) + 3.
Reduced reduce_far(Val a, double unit) {
  constexpr int width = 48, precision = 53;
  constexpr size_t taken = 5;

  // i bit by bit, from the highest: the window of chunks moves and a is scaled down.
  std::vector<Val> window;
  for (const double c : chunks) window.push_back(a.lit(c));
  Val v = unit == 1 ? a : a * unit;
  for (size_t step = 16; step > 0; step /= 2) {
    const double limit = unit * std::ldexp(1.0, width * static_cast<int>(step) + 2 + precision);
    const Val beyond = unit < 0 ? le(v, limit) : le(limit, v);
    for (size_t i = 0; i < taken + step - 1 && i + step < window.size(); ++i)
      window[i] = select(beyond, window[i + step], window[i]);
    v = select(beyond, v * std::ldexp(1.0, -width * static_cast<int>(step)), v);
  }
  v = v * (std::ldexp(1.0, -width) / unit);

  std::vector<Sum> p;
  for (size_t i = 0; i < taken; ++i) {
    p.push_back(two_prod(v, window[i]));
    v = v * std::ldexp(1.0, -width);
  }
  // Largest first; what each addition rounds off is kept until the integer part is gone.
  const Sum a0 = two_sum(mod8(p[0].hi), mod8(p[0].lo));
  const Sum a1 = two_sum(a0.hi, mod8(p[1].hi));
  const Sum a2 = two_sum(a1.hi, mod8(p[1].lo));
  const Sum a3 = two_sum(a2.hi, mod8(p[2].hi));
  const Val n = round(a3.hi);
  const Sum b0 = two_sum(a3.hi - n, p[3].hi);
  const Sum b1 = two_sum(b0.hi, p[2].lo);
  const Sum b2 = two_sum(b1.hi, a3.lo);
  const Sum b3 = two_sum(b2.hi, a2.lo);
  const Sum b4 = two_sum(b3.hi, a1.lo + a0.lo);
  const Val rest = (b4.lo + b3.lo) + (b2.lo + (b1.lo + (b0.lo + (p[3].lo + p[4].hi))));
  const Sum f = two_sum(b4.hi, rest);

  const Sum r = two_prod(f.hi, a.lit(half_pi_f64[0]));
  const Val low = r.lo + fma(f.lo, half_pi_f64[0], f.hi * half_pi_f64[1]);
  const Val sum = r.hi + low;
  return {sum, (sum - r.hi) - low, (n + 0x1.8p52).cast_bits(DType::i64)};
}

}  // namespace ingot::loop::math::trig
