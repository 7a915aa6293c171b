// Ops on the bits of floats, as integer arithmetic on what bitcast shows: the same for every float dtype.
#include <cmath>

#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DType;

DType bits_of(DType float_type) {
  switch (ir::item_size(float_type)) {
    case 2: return DType::i16;
    case 4: return DType::i32;
    default: return DType::i64;
  }
}

// How many bits the fields of a float have.
struct Layout {
  int mantissa, exponent;
};
Layout layout_of(DType type) {
  switch (type) {
    case DType::f16: return {10, 5};
    case DType::bf16: return {7, 8};
    case DType::f32: return {23, 8};
    default: return {52, 11};
  }
}

// One step of the magnitude, up where b lies farther from zero on a's side; from a zero to the least denormal of b's
// sign; b itself where they are equal (so that -0 towards +0 is +0, as in C); NaN, by addition, where one is NaN.
ValueId nextafter(Rebuild& r, const ir::Op& op) {
  const ValueId a = r(op.operands[0]), b = r(op.operands[1]);
  const DType type = r.from().value(op.operands[0]).dtype, bits = bits_of(type);
  const auto integer = [&](double v) { return r.to().scalar(bits, v); };
  const auto as_bits = [&](ValueId v) { return r.op(OpCode::op_bitcast, {v}, {{"to", Attr::of_dtype(bits)}}); };
  const auto as_float = [&](ValueId v) { return r.op(OpCode::op_bitcast, {v}, {{"to", Attr::of_dtype(type)}}); };
  const ValueId zero = r.to().scalar(type, 0.0);
  const ValueId up = r.op(OpCode::op_eq, {r.op(OpCode::op_lt, {a, b}), r.op(OpCode::op_gt, {a, zero})});
  const ValueId step = r.op(OpCode::op_select, {up, integer(1), integer(-1)});
  const ValueId moved = as_float(r.op(OpCode::op_add, {as_bits(a), step}));
  const ValueId least = r.op(OpCode::op_copysign, {as_float(integer(1)), b});
  const ValueId next = r.op(OpCode::op_select, {r.op(OpCode::op_eq, {a, zero}), least, moved});
  const ValueId sum = r.op(OpCode::op_add, {a, b});
  const ValueId nan = r.op(OpCode::op_or, {r.op(OpCode::op_isnan, {a}), r.op(OpCode::op_isnan, {b})});
  const ValueId different = r.op(OpCode::op_select, {nan, sum, next});
  return r.op(OpCode::op_select, {r.op(OpCode::op_eq, {a, b}), b, different});
}

// The exponent field read and replaced, of a denormal once it is scaled up. Zeros, infinities and NaN are their own
// mantissas, by an addition, which makes a NaN canonical.
void frexp(Rebuild& r, const ir::Op& op) {
  const ValueId x = r(op.operands[0]);
  const DType type = r.from().value(op.operands[0]).dtype, bits = bits_of(type);
  const Layout layout = layout_of(type);
  const int bias = (1 << (layout.exponent - 1)) - 1, up = layout.mantissa + 1;
  const auto integer = [&](double v) { return r.to().scalar(bits, v); };
  const auto real = [&](double v) { return r.to().scalar(type, v); };

  const ValueId tiny = r.op(OpCode::op_lt, {r.op(OpCode::op_abs, {x}), real(std::ldexp(1.0, 1 - bias))});
  const ValueId scaled = r.op(OpCode::op_select, {tiny, r.op(OpCode::op_mul, {x, real(std::ldexp(1.0, up))}), x});
  const ValueId pattern = r.op(OpCode::op_bitcast, {scaled}, {{"to", Attr::of_dtype(bits)}});
  const ValueId width = integer(layout.mantissa), mask = integer((1 << layout.exponent) - 1);
  const ValueId field = r.op(OpCode::op_and, {r.op(OpCode::op_shift_right, {pattern, width}), mask});
  const ValueId exponent = r.op(OpCode::op_sub, {field, integer(bias - 1)});
  const ValueId moved = r.op(OpCode::op_sub, {pattern, r.op(OpCode::op_shift_left, {exponent, width})});
  const ValueId mantissa = r.op(OpCode::op_bitcast, {moved}, {{"to", Attr::of_dtype(type)}});
  const ValueId lifted = r.op(OpCode::op_select, {tiny, r.op(OpCode::op_sub, {exponent, integer(up)}), exponent});

  const ValueId zero = r.op(OpCode::op_eq, {x, real(0)});
  const ValueId plain = r.op(OpCode::op_and, {r.op(OpCode::op_isfinite, {x}), r.op(OpCode::op_not, {zero})});
  r.set(op.results[0], r.op(OpCode::op_select, {plain, mantissa, r.op(OpCode::op_add, {x, x})}));
  const ValueId whole = r.op(OpCode::op_select, {plain, lifted, integer(0)});
  r.set(op.results[1], cast(r, whole, DType::i32));
}

}  // namespace

std::span<const Decomposition> float_decompositions() {
  static constexpr Decomposition table[] = {{OpCode::op_nextafter, single<nextafter>}, {OpCode::op_frexp, frexp}};
  return table;
}

}  // namespace ingot::pass
