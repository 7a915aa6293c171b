// Arithmetic, tests and bit operations that take more than one primitive.
#include "loop/expand_arith.h"

#include <limits>

namespace ingot::loop {

namespace {

using ir::OpCode;

DType unsigned_of(DType t) {
  switch (ir::item_size(t)) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    default: return DType::u64;
  }
}
DType signed_of(DType float_type) {
  const size_t size = ir::item_size(float_type);
  return size == 2 ? DType::i16 : size == 4 ? DType::i32 : DType::i64;
}

Val infinity(Val like) { return like.lit(std::numeric_limits<double>::infinity()); }
Val signs_differ(Val a, Val b) { return ne(lt(a, 0), lt(b, 0)); }

// r mod b for 0 <= r < 2^50 b, exact: the quotient, rounded, is at most one too large, and the remainder of either fits
// the mantissa. r itself where b is above it, an infinity included.
Val reduce_once(Val r, Val b) {
  const Val rest = fma(-trunc(r / b), b, r);
  return select(lt(r, b), r, select(lt(rest, 0), rest + b, rest));
}

// |a| mod |b| of f64 values whose quotient is below 2^(50 (steps + 1)): long division, 50 bits of the quotient a step.
// What is subtracted on the way is b 2^(50 k); where that overflows, it is above the rest, and nothing is done.
Val fmod_magnitude(Val a, Val b, int steps) {
  Val r = a;
  for (int k = steps; k > 0; --k) r = reduce_once(r, scale2(b, literal(b.builder(), DType::i32, int64_t{50} * k)));
  return rare(lt(b * 0x1p50, a), reduce_once(a, b), reduce_once(r, b));
}

// C's fmod. f32 divides in f64, which is exact too and takes fewer steps. An infinite a or a zero b gives NaN by the
// arithmetic itself.
Val fmod(Val a, Val b) {
  if (a.type() == DType::f64) return copysign(fmod_magnitude(abs(a), abs(b), 41), a);
  return copysign(fmod_magnitude(abs(a).to(DType::f64), abs(b).to(DType::f64), 5).to(DType::f32), a);
}

// A remainder of 0 has the divisor's sign, too.
Val float_mod(Val a, Val b) {
  const Val r = fmod(a, b);
  return select(eq(r, 0), copysign(r, b), select(signs_differ(r, b), r + b, r));
}

// floor of the exact quotient while integers are exact, beyond that the quotient rounded: the exact remainder tells
// whether rounding went up to an integer. As NumPy has it, an infinite a gives NaN, and an infinite b of the other sign
// -1.
Val float_floor_div(Val a, Val b) {
  const double exact = a.type() == DType::f64 ? 0x1p53 : 0x1p24;
  const Val q = a / b, down = floor(q), rest = fma(-down, b, a);
  const Val fixed = select(lt(abs(q), exact) & ne(rest, 0) & signs_differ(rest, b), down - 1.0, down);
  const Val by_infinity = select(signs_differ(a, b) & ne(a, 0), -1.0, q);
  const Val finite = select(eq(abs(b), infinity(b)), by_infinity, fixed);
  return select(lt(abs(a), infinity(a)) | eq(b, 0), finite, a.lit(std::numeric_limits<double>::quiet_NaN()));
}

Val int_mod(Val a, Val b) {
  const Val r = a % b;
  if (ir::is_unsigned(a.type())) return r;
  return select(ne(r, 0) & signs_differ(r, b), r + b, r);
}

Val int_floor_div(Val a, Val b) {
  const Val q = a / b;
  if (ir::is_unsigned(a.type())) return q;
  return select(ne(a % b, 0) & signs_differ(a, b), q - 1, q);
}

Val sign(Val x) {
  if (ir::is_float(x.type())) return select(lt(0, abs(x)), copysign(x.lit(1), x), x.un(Prim::canon));
  const Val positive = lt(0, x).to(x.type());
  return ir::is_unsigned(x.type()) ? positive : positive - lt(x, 0).to(x.type());
}

Val shift_right_logical(Val a, Val b) {
  const DType bits = unsigned_of(a.type());
  return (a.cast_bits(bits) >> b.cast_bits(bits)).cast_bits(a.type());
}

Val rotate_left(Val a, Val b) {
  const DType bits = unsigned_of(a.type());
  const auto mask = static_cast<int64_t>(8 * ir::item_size(a.type()) - 1);
  const Val x = a.cast_bits(bits), n = b.cast_bits(bits) & mask;
  return ((x << n) | (x >> ((0 - n) & mask))).cast_bits(a.type());
}

Val hard_step(Val x) { return vmin(vmax(x + 3.0, 0), 6); }

}  // namespace

std::optional<Val> expand_arith(OpCode code, std::span<const ir::Attr> attrs, std::span<const Val> args) {
  const Val a = args[0];
  const bool real = ir::is_float(a.type());
  switch (code) {
    case OpCode::op_floor_div: return real ? float_floor_div(a, args[1]) : int_floor_div(a, args[1]);
    case OpCode::op_mod: return real ? float_mod(a, args[1]).un(Prim::canon) : int_mod(a, args[1]);
    case OpCode::op_rem: return real ? fmod(a, args[1]).un(Prim::canon) : a % args[1];
    case OpCode::op_sign: return sign(a);
    case OpCode::op_reciprocal: return 1 / a;
    case OpCode::op_square: return a * a;
    case OpCode::op_ldexp: return scale2(a, args[1]);
    case OpCode::op_isnan: return is_nan(a);
    case OpCode::op_isinf: return eq(abs(a), infinity(a));
    case OpCode::op_isfinite: return lt(abs(a), infinity(a));
    case OpCode::op_signbit: return lt(a.cast_bits(signed_of(a.type())), 0);
    case OpCode::op_shift_right_logical: return shift_right_logical(a, args[1]);
    case OpCode::op_rotate_left: return rotate_left(a, args[1]);
    case OpCode::op_bitcast: return a.cast_bits(static_cast<DType>(attrs[0].i));
    case OpCode::op_leaky_relu: return select(lt(0, a), a, a * attrs[0].f);
    case OpCode::op_hardtanh: return vmin(vmax(a, attrs[0].f), attrs[1].f);
    case OpCode::op_hardsigmoid: return hard_step(a) / 6;
    case OpCode::op_hardswish: return a * hard_step(a) / 6;
    case OpCode::op_softsign: return a / (1 + abs(a));
    default: return std::nullopt;
  }
}

}  // namespace ingot::loop
