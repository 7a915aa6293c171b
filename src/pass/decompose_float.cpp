// Ops on the bits of floats, as integer arithmetic on what bitcast shows: the same for every float dtype.
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

}  // namespace

std::span<const Decomposition> float_decompositions() {
  static constexpr Decomposition table[] = {{OpCode::op_nextafter, single<nextafter>}};
  return table;
}

}  // namespace ingot::pass
