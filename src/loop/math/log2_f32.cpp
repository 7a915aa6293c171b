#include <limits>

#include "loop/math/f32.h"
#include "loop/math/parts_f32.h"

namespace ingot::loop::math::f32 {

namespace {

// A number in two parts.
struct Parts {
  double high, low;
};

// The logarithm of x to a base: e log(2) + f log(e) + f^2 q to that base. The roundings of the second term and of the
// first sum are carried along; log_2.high has so few bits that the first term has none.
Val log_base(Val x, Parts log_2, Parts log_e, std::initializer_list<double> quotient) {
  const Val bits = x.number_bits();
  const Val special = not_positive_normal(bits);
  const auto [e, f, m] = log_reduce(rare(special, bits, (x * 0x1p23).number_bits()));  // denormals become normal
  const Val line = f * log_e.high;
  const Val curve = fma(f * f, horner(f, quotient), fma(f, log_e.low, fma(f, log_e.high, -line)));
  const auto sum = [&](Val exponent) {
    const Val whole = log_2.high == 1 ? exponent : exponent * log_2.high;
    const Val head = whole + line;
    const Val rest = (whole - head) + line;
    return head + (curve + (log_2.low == 0 ? rest : fma(exponent, log_2.low, rest)));
  };

  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Val finite = select(lt(0, x), sum(e - 23), select(eq(x, 0), -inf, x.lit(nan)));
  return rare(special, number(sum(e)), select(lt(x, inf), finite, x));
}

}  // namespace

Val log2(Val x) {
  return log_base(x, {1, 0}, {0x1.715476p0, 0x1.4ae0cp-26},
                  {0x1.7e10ep-4, -0x1.54771p-3, 0x1.60cdb4p-3, -0x1.6f82cap-3, 0x1.a407eap-3, -0x1.ec681p-3,
                   0x1.277f3ap-2, -0x1.7154c6p-2, 0x1.ec7088p-2, -0x1.715476p-1});
}

Val log10(Val x) {
  return log_base(x, {0x1.344p-2, 0x1.3509f8p-18}, {0x1.bcb7b2p-2, -0x1.5b235ep-27},
                  {-0x1.167ab6p-5, 0x1.ce0858p-5, -0x1.d5854p-5, 0x1.f7fd26p-5, -0x1.2786b4p-4, 0x1.63d378p-4,
                   -0x1.bcbe22p-4, 0x1.287a68p-3, -0x1.bcb7acp-3});
}

}  // namespace ingot::loop::math::f32
