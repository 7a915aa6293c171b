#include "loop/narrow.h"

#include "loop/eval.h"
#include "loop/rules.h"

namespace ingot::loop {

namespace {

// f64 as f32 rounded to odd: of the two neighbours of what f32 cannot hold, the one whose last bit is set. With 24 bits
// and f32's exponents that is near enough to the value for a second rounding, to 11 bits or fewer, to be the only one
// that is seen.
Val odd_f32(Val x) {
  const Val near = x.to(DType::f32);
  const Val back = near.to(DType::f64);
  const Val bits = near.cast_bits(DType::i32);
  const Val even = eq(bits & 1, 0);
  // As the magnitude goes, whatever the sign: -0 is the even neighbour of what lies above 0. A NaN stays.
  const Val up = even & lt(abs(back), abs(x)), down = even & lt(abs(x), abs(back));
  return select(up, bits + 1, select(down, bits - 1, bits)).cast_bits(DType::f32);
}

// A 64-bit integer as f64, exact below 2^31. Above, what lies below bit 12 becomes one bit (rounded to odd, in two's
// complement too): 52 bits are left, exact in f64, and every bit that a narrow float keeps or rounds by is above them.
Val sticky_f64(Val x) {
  const Val high = x >> 31;
  const Val small = x.type() == DType::u64 ? eq(high, 0) : eq(high, x >> 63);
  const Val odd = (x & x.lit(int64_t{-4096})) | select(ne(x & 4095, 0), x.lit(4096), x.lit(0));
  return select(small, x, odd).to(DType::f64);
}

}  // namespace

Val widen(Val v, Rounding rounding) {
  Builder& b = v.builder();
  // neg and abs are exact, so they do as well behind the conversion as before it.
  std::vector<Prim> signs;
  for (; b.node(v.id()).op == Prim::neg || b.node(v.id()).op == Prim::abs; v = {b, b.node(v.id()).arg[0]})
    signs.push_back(b.node(v.id()).op);
  const Node n = b.node(v.id());
  // fp8 is what somebody casts to for its rounding.
  const bool relaxed = rounding == Rounding::at_stores && (n.type == DType::f16 || n.type == DType::bf16);
  Val wide;
  if (n.op == Prim::literal) wide = {b, b.literal(DType::f32, eval(Prim::convert, DType::f32, n.type, n.imm))};
  else if (n.op == Prim::convert && relaxed) wide = {b, n.arg[0]};
  else wide = v.to(DType::f32);
  for (size_t i = signs.size(); i-- > 0;) wide = wide.un(signs[i]);
  return wide;
}

Val narrow(Val v, DType to) {
  switch (v.type()) {
    case DType::f32: break;
    case DType::f64: v = odd_f32(v); break;
    case DType::i32:
    case DType::u32: v = odd_f32(v.to(DType::f64)); break;
    case DType::i64:
    case DType::u64: v = odd_f32(sticky_f64(v)); break;
    default: v = is_narrow(v.type()) ? widen(v) : v.to(DType::f32);  // exact
  }
  return v.to(to);
}

}  // namespace ingot::loop
