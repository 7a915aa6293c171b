#include "loop/math/f64.h"
#include "loop/math/parts_f64.h"

namespace ingot::loop::math::f64 {

namespace {

// 1 / (1 + e^-v) as a pair, and e^v in the far negative tail, where that is the same and may be denormal.
struct Logistic {
  Pair value;     // for -600 <= v
  Pair tail;      // e^v = tail * 2^k, for -800 <= v < -600
  Val negated_k;  // of the tail, shifted
};

Logistic logistic(const ExpReduced& e) {
  const Pair p = exp_pair(e);
  const Val power = exp2_k(e.shifted);
  const Pair d = two_sum(p.hi * power, p.hi.lit(1));
  const Val d_lo = fma(p.lo, power, d.lo);
  const Val q = 1.0 / d.hi;
  const Val residual = fma(-q, d_lo, fma(-q, d.hi, 1.0));
  const Val tail = 1.0 / p.hi;
  const Val tail_residual = fma(-tail, p.lo, fma(-tail, p.hi, 1.0));
  return {{q, q * residual}, {tail, tail * tail_residual}, e.shifted};
}

// tail * 2^-k, rounded once.
Val scale_back(Val value, Val shifted) { return scale2(value, -shifted.cast_bits(DType::i64).to(DType::i32)); }

// x / (1 + e^-v) for v of the sign of x, both growing together. `limit` and `zero` are bounds on |x|: v > -600 inside
// the first, and the result rounds to 0 beyond the second.
Val gated(Val x, const ExpReduced& e, double limit, double zero) {
  const Logistic s = logistic(e);
  const Val fast = fma(x, s.value.hi, x * s.value.lo);
  const Val tail = scale_back(fma(x, s.tail.hi, x * s.tail.lo), s.negated_k);
  const Val slow = select(gt(x, limit), x, select(lt(x, -zero), -0.0, tail));
  return rare(!le(abs(x), limit), number(fast), slow);
}

}  // namespace

Val sigmoid(Val x) {
  const Logistic s = logistic(exp_reduce(-x));
  const Val tail = scale_back(s.tail.hi + s.tail.lo, s.negated_k);
  const Val slow = select(gt(x, 600.0), 1.0, select(lt(x, -800.0), 0.0, tail));
  return rare(!le(abs(x), 600.0), number(s.value.hi + s.value.lo), slow);
}

Val silu(Val x) { return gated(x, exp_reduce(-x), 600, 800); }

Val gelu_tanh(Val x) {
  // (1 + tanh(u)) / 2 = 1 / (1 + e^-2u); -2u = x (a + b x^2) as a pair, for its absolute error is the relative one of
  // the result.
  constexpr double a = -0x1.9884533d43651p0, a_lo = 0x1.cbc0d30ebfd15p-54;
  constexpr double b = -0x1.2444f2a4d8b4bp-4, b_lo = 0x1.6c843a29d1c7p-61;
  const Pair square = two_prod(x, x);
  const Val cubic = square.hi * b;
  const Val cubic_lo = fma(square.hi, b_lo, fma(square.lo, b, fma(square.hi, b, -cubic)));
  const Pair sum = two_sum(cubic, x.lit(a));
  const Val sum_lo = sum.lo + (cubic_lo + a_lo);
  const Val v = x * sum.hi;
  const Val v_lo = fma(x, sum_lo, fma(x, sum.hi, -v));
  // v(19) = -520, v(23) = -905.
  return gated(x, exp_reduce(Pair{v, v_lo}), 19, 23);
}

}  // namespace ingot::loop::math::f64
