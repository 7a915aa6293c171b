#include "loop/expand.h"

#include "base/error.h"
#include "loop/expand_arith.h"
#include "loop/math/math.h"
#include "loop/rules.h"

namespace ingot::loop {

namespace {

using ir::OpCode;

// Binary and ternary ops that are one primitive.
Prim single(OpCode code) {
  switch (code) {
    case OpCode::op_add: return Prim::add;
    case OpCode::op_sub: return Prim::sub;
    case OpCode::op_mul: return Prim::mul;
    case OpCode::op_div: return Prim::div;
    case OpCode::op_neg: return Prim::neg;
    case OpCode::op_abs: return Prim::abs;
    case OpCode::op_min: return Prim::min;
    case OpCode::op_max: return Prim::max;
    case OpCode::op_sqrt: return Prim::sqrt;
    case OpCode::op_floor: return Prim::floor;
    case OpCode::op_ceil: return Prim::ceil;
    case OpCode::op_round: return Prim::round;
    case OpCode::op_trunc: return Prim::trunc;
    case OpCode::op_copysign: return Prim::copysign;
    case OpCode::op_shift_left: return Prim::shl;
    case OpCode::op_shift_right: return Prim::shr;
    case OpCode::op_popcount: return Prim::popcount;
    case OpCode::op_clz: return Prim::clz;
    case OpCode::op_ctz: return Prim::ctz;
    case OpCode::op_fma: return Prim::fma;
    case OpCode::op_eq: return Prim::eq;
    case OpCode::op_ne: return Prim::ne;
    case OpCode::op_lt: return Prim::lt;
    case OpCode::op_le: return Prim::le;
    case OpCode::op_and: return Prim::and_;
    case OpCode::op_or: return Prim::or_;
    case OpCode::op_xor: return Prim::xor_;
    case OpCode::op_not: return Prim::not_;
    case OpCode::op_select: return Prim::select;
    default: return Prim::literal;
  }
}

// A function's result is arithmetic whatever path made it: no path may leak the payload of an input NaN. Paths are made
// canonical each for itself, so that the fast one, where it knows that no NaN comes its way, is spared the check.
Val canonical(Val v) {
  const Node n = v.builder().node(v.id());
  if (n.op != Prim::rare) return v.un(Prim::canon);
  const auto arg = [&](size_t i) { return Val{v.builder(), n.arg[i]}; };
  return rare(arg(0), arg(1).un(Prim::canon), arg(2).un(Prim::canon));
}

// A float cast is arithmetic even where it keeps the type: a NaN becomes the canonical one.
Val cast(Val v, DType to) {
  if (is_narrow(to)) return narrow(v, to);
  return to == v.type() && ir::is_float(to) ? canonical(v) : v.to(to);
}

// Ops that move bits, or look at bits: f16 and bf16 have those of their own.
bool moves_bits(OpCode code) {
  switch (code) {
    case OpCode::op_neg:
    case OpCode::op_abs:
    case OpCode::op_copysign:
    case OpCode::op_select:
    case OpCode::op_signbit:
    case OpCode::op_bitcast: return true;
    default: return false;
  }
}

// Of operands that have a type for arithmetic, or that only move.
Val expand_wide(OpCode code, std::span<const ir::Attr> attrs, std::span<const Val> args) {
  if (const Prim prim = single(code); prim != Prim::literal) {
    const auto id = [&](size_t i) { return i < args.size() ? args[i].id() : no_node; };
    Builder& b = args[0].builder();
    // abs of an unsigned integer is the integer.
    if (prim == Prim::abs && ir::is_unsigned(args[0].type())) return args[0];
    return {b, b.op(prim, id(0), id(1), id(2))};
  }
  if (const std::optional<Val> v = expand_arith(code, attrs, args)) return *v;
  switch (code) {
    case OpCode::op_gt: return gt(args[0], args[1]);
    case OpCode::op_ge: return ge(args[0], args[1]);
    case OpCode::op_relu: return vmax(args[0], 0);
    case OpCode::op_clamp: return vmin(vmax(args[0], args[1]), args[2]);
    case OpCode::op_cast: return cast(args[0], static_cast<DType>(attrs[0].i));
    case OpCode::op_rsqrt: return canonical(math::rsqrt(args[0]));
    case OpCode::op_exp: return canonical(math::exp(args[0]));
    case OpCode::op_log: return canonical(math::log(args[0]));
    case OpCode::op_tanh: return canonical(math::tanh(args[0]));
    case OpCode::op_erf: return canonical(math::erf(args[0]));
    case OpCode::op_sigmoid: return canonical(math::sigmoid(args[0]));
    case OpCode::op_pow: return canonical(math::pow(args[0], args[1]));
    case OpCode::op_gelu: return canonical(attrs[0].s == "tanh" ? math::gelu_tanh(args[0]) : math::gelu_erf(args[0]));
    case OpCode::op_silu: return canonical(math::silu(args[0]));
    case OpCode::op_exp2: return canonical(math::exp2(args[0]));
    case OpCode::op_expm1: return canonical(math::expm1(args[0]));
    case OpCode::op_log2: return canonical(math::log2(args[0]));
    case OpCode::op_log1p: return canonical(math::log1p(args[0]));
    case OpCode::op_exp10: return canonical(math::exp10(args[0]));
    case OpCode::op_log10: return canonical(math::log10(args[0]));
    case OpCode::op_sin: return canonical(math::sin(args[0]));
    case OpCode::op_cos: return canonical(math::cos(args[0]));
    case OpCode::op_tan: return canonical(math::tan(args[0]));
    case OpCode::op_sinpi: return canonical(math::sinpi(args[0]));
    case OpCode::op_cospi: return canonical(math::cospi(args[0]));
    case OpCode::op_asin: return canonical(math::asin(args[0]));
    case OpCode::op_acos: return canonical(math::acos(args[0]));
    case OpCode::op_atan: return canonical(math::atan(args[0]));
    case OpCode::op_atan2: return canonical(math::atan2(args[0], args[1]));
    case OpCode::op_sinh: return canonical(math::sinh(args[0]));
    case OpCode::op_cosh: return canonical(math::cosh(args[0]));
    case OpCode::op_asinh: return canonical(math::asinh(args[0]));
    case OpCode::op_acosh: return canonical(math::acosh(args[0]));
    case OpCode::op_atanh: return canonical(math::atanh(args[0]));
    case OpCode::op_cbrt: return canonical(math::cbrt(args[0]));
    case OpCode::op_hypot: return canonical(math::hypot(args[0], args[1]));
    case OpCode::op_erfc: return canonical(math::erfc(args[0]));
    case OpCode::op_softplus: return canonical(math::softplus(args[0]));
    case OpCode::op_log_sigmoid: return canonical(math::log_sigmoid(args[0]));
    case OpCode::op_elu: return canonical(math::elu(args[0], attrs[0].f));
    case OpCode::op_selu: return canonical(math::selu(args[0]));
    case OpCode::op_mish: return canonical(math::mish(args[0]));
    case OpCode::op_logaddexp: return canonical(math::logaddexp(args[0], args[1]));
    case OpCode::op_erfinv: return canonical(math::erfinv(args[0]));
    case OpCode::op_lgamma: return canonical(math::lgamma(args[0]));
    case OpCode::op_digamma: return canonical(math::digamma(args[0]));
    default: fail(Code::unimplemented, "op number ", static_cast<uint32_t>(code), " has no expansion");
  }
}

}  // namespace

Val expand(OpCode code, std::span<const ir::Attr> attrs, std::span<const Val> args, Rounding rounding) {
  DType own = DType::invalid;
  for (const Val& v : args)
    if (is_narrow(v.type())) own = v.type();
  if (own == DType::invalid || moves_bits(code)) return expand_wide(code, attrs, args);
  std::vector<Val> wide;
  for (const Val& v : args) wide.push_back(is_narrow(v.type()) ? widen(v, rounding) : v);
  const Val result = expand_wide(code, attrs, wide);
  // A cast has the type that it names; a comparison is boolean.
  return code != OpCode::op_cast && result.type() == DType::f32 ? narrow(result, own) : result;
}

uint32_t expansion_weight(OpCode code, DType type) {
  if (is_narrow(type)) {
    // A conversion in front of each operand and one behind; casts may round to odd on the way.
    if (code == OpCode::op_cast) return 24;
    return expansion_weight(code, DType::f32) + 3;
  }
  const uint32_t wide = type == DType::f64 ? 2 : 1;  // f64 expansions are about twice as long
  switch (code) {
    case OpCode::op_exp: return 14 * wide;
    case OpCode::op_log:
    case OpCode::op_rsqrt: return 18 * wide;
    case OpCode::op_tanh:
    case OpCode::op_sigmoid:
    case OpCode::op_silu:
    case OpCode::op_erf: return 28 * wide;
    case OpCode::op_gelu: return 50 * wide;
    case OpCode::op_pow: return 60 * wide;
    case OpCode::op_gather:
    case OpCode::op_take_along_axis:
    case OpCode::op_gather_nd: return 12;  // per dim that is indexed
    case OpCode::op_rem:
    case OpCode::op_mod: return 40 * wide;
    case OpCode::op_floor_div: return 12;
    case OpCode::op_rotate_left:
    case OpCode::op_hardswish:
    case OpCode::op_hardsigmoid: return 5;
    case OpCode::op_sign:
    case OpCode::op_leaky_relu:
    case OpCode::op_softsign: return 3;
    case OpCode::op_hardtanh:
    case OpCode::op_clamp: return 2;
    case OpCode::op_exp2:
    case OpCode::op_exp10: return 14 * wide;
    case OpCode::op_expm1:
    case OpCode::op_elu:
    case OpCode::op_selu:
    case OpCode::op_log2:
    case OpCode::op_log10: return 30 * wide;
    case OpCode::op_log1p: return 36 * wide;
    case OpCode::op_softplus:
    case OpCode::op_log_sigmoid: return 40 * wide;
    case OpCode::op_mish: return 50;
    case OpCode::op_logaddexp: return 140;
    case OpCode::op_erfinv:
    case OpCode::op_lgamma:
    case OpCode::op_digamma: return 200;
    case OpCode::op_sin:
    case OpCode::op_cos: return 45 * wide;
    case OpCode::op_tan:
    case OpCode::op_sinpi:
    case OpCode::op_cospi:
    case OpCode::op_asin:
    case OpCode::op_acos:
    case OpCode::op_atan:
    case OpCode::op_atan2:
    case OpCode::op_sinh:
    case OpCode::op_cosh:
    case OpCode::op_cbrt: return 60;
    case OpCode::op_asinh:
    case OpCode::op_acosh:
    case OpCode::op_atanh:
    case OpCode::op_erfc: return 80 * wide;
    case OpCode::op_hypot: return 20;
    case OpCode::op_random_bits: return 130;
    case OpCode::op_random_uniform: return 140;
    case OpCode::op_random_normal: return 240;
    default: return 1;
  }
}

}  // namespace ingot::loop
