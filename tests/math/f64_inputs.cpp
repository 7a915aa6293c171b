#include <bit>
#include <cmath>
#include <random>

#include "math/f64_reference.h"

namespace ingot::test {

namespace {

class Source {
 public:
  explicit Source(uint64_t seed) : bits_(seed) {}

  uint64_t word() { return bits_(); }
  size_t below(size_t n) { return static_cast<size_t>(bits_() % n); }
  double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double in(Range r) { return r.lo + (r.hi - r.lo) * unit(); }
  bool coin() { return (bits_() & 1) != 0; }

  // Up to 2^30 ulps away, near distances as often as far ones.
  double near(double v) {
    const uint64_t away = bits_() >> (34 + below(30));
    return std::bit_cast<double>(std::bit_cast<uint64_t>(v) + (coin() ? away : -away));  // wraps beside -0
  }
  // Any mantissa, an exponent from lo to hi, any sign.
  double spread(int lo, int hi) {
    const int exponent = lo + static_cast<int>(below(static_cast<size_t>(hi - lo + 1)));
    const double v = std::ldexp(1 + unit(), exponent);
    return coin() ? v : -v;
  }

  double argument(const F64Function& f, size_t kind) {
    switch (kind % 6) {
      case 0: return std::bit_cast<double>(word());
      case 1: return near(f.landmarks[below(f.landmarks.size())]);
      case 2: return spread(-60, 10);
      default: return in(f.ranges[below(f.ranges.size())]);
    }
  }

 private:
  std::mt19937_64 bits_;
};

double exponent_for(Source& s, double x) {
  const double l = std::log(std::fabs(x));
  switch (s.below(6)) {
    case 0: return std::bit_cast<double>(s.word());
    case 1: return static_cast<double>(s.below(80)) - 40;
    case 2: return (static_cast<double>(s.below(80)) - 40) / 2;
    case 3: return s.in({700, 746}) / (s.coin() ? l : -l);
    default: return s.in({-750, 715}) / l;
  }
}

// The other of two logarithms: of about the size, or where both powers add up to about 1.
double addend_for(Source& s, const F64Function& f, double x) {
  switch (s.below(4)) {
    case 0: return s.argument(f, s.below(6));
    case 1: return x < 0 ? s.near(std::log1p(-std::exp(x))) : -x;
    default: return x + s.spread(-50, 8);
  }
}

// The other of two lengths: mostly of about the size of x, where both count.
double partner_for(Source& s, const F64Function& f, double x) {
  if (s.below(4) == 0) return s.argument(f, s.below(6));
  return x * s.spread(-static_cast<int>(s.below(30)) - 1, 1);
}

}  // namespace

std::vector<F64Input> f64_inputs(const F64Function& f, size_t count, uint64_t seed) {
  Source s(seed);
  std::vector<F64Input> inputs;
  inputs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    F64Input in{s.argument(f, i), 0};
    if (f.arity == 2) {
      if (s.below(8) == 0) in.x = -in.x;
      in.y = f.name == "pow"         ? exponent_for(s, in.x)
             : f.name == "logaddexp" ? addend_for(s, f, in.x)
                                     : partner_for(s, f, in.x);
    }
    inputs.push_back(in);
  }
  return inputs;
}

}  // namespace ingot::test
