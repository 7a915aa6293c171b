// One instruction set's table, put together.
#include "jit/interp/lanes.h"
#include "jit/interp/tables.h"

namespace ingot::jit::interp {

namespace INGOT_ISA {
namespace {

bool is_fp_type(loop::DType t) { return t == loop::DType::f32 || t == loop::DType::f64; }

unsigned size_of(loop::DType t) {
  switch (t) {
    case loop::DType::i64:
    case loop::DType::u64:
    case loop::DType::f64: return 8;
    case loop::DType::i32:
    case loop::DType::u32:
    case loop::DType::f32: return 4;
    case loop::DType::i16:
    case loop::DType::u16:
    case loop::DType::f16:
    case loop::DType::bf16: return 2;
    default: return 1;
  }
}

StripFn strip(loop::Prim prim, loop::DType type, loop::DType arg) {
  using loop::Prim;
  switch (prim) {
    case Prim::select: return select_strip(size_of(type), false);
    case Prim::rare: return select_strip(size_of(type), true);
    case Prim::convert: return convert_strip(type, arg);
    default: break;
  }
  if (is_fp_type(arg)) return float_strip(prim, arg);
  switch (type) {
    case loop::DType::f16:
    case loop::DType::bf16:
    case loop::DType::f8e4m3:
    case loop::DType::f8e5m2: return sign_strip(prim, size_of(type));
    default: return int_strip(prim, arg);
  }
}

ChainFn chain(loop::DType type) { return is_fp_type(type) ? float_chain(type) : int_chain(type); }
DotFn dot(loop::DType type) { return is_fp_type(type) ? float_dot(type) : int_dot(type); }
StripFn accumulate(loop::DType type) { return strip(loop::Prim::add, type, type); }

constexpr Ops ops = {strip, move_strip, load_strip, fold, chain, dot, accumulate};

}  // namespace
}  // namespace INGOT_ISA

const Ops& INGOT_OPS() { return INGOT_ISA::ops; }

}  // namespace ingot::jit::interp
