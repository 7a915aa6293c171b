// Arithmetic on kernel nodes as one writes it on paper: `fma(p, x, c)`, `a * b + 1.0`. Math expansions are written with
// these, once, and consumed by every backend. Each operator is exactly one primitive; nothing is contracted or folded.
//
// A plain number on either side of an operator becomes a literal of the other side's type (f32: rounded to nearest).
#pragma once

#include "loop/builder.h"

namespace ingot::loop {

class Val {
 public:
  Val() = default;
  Val(Builder& b, NodeId id) : b_(&b), id_(id) {}

  NodeId id() const { return id_; }
  Builder& builder() const { return *b_; }
  DType type() const { return b_->type(id_); }

  // A literal of this value's type.
  Val lit(double v) const;
  Val lit(int64_t v) const;
  Val lit(int v) const { return lit(int64_t{v}); }
  // A literal of this value's type by its bits, for constants that must be exact.
  Val bits(uint64_t pattern) const { return {*b_, b_->literal(type(), pattern)}; }

  Val un(Prim p) const { return {*b_, b_->op(p, id_)}; }
  Val bin(Prim p, Val o) const { return {*b_, b_->op(p, id_, o.id_)}; }
  Val to(DType t) const { return t == type() ? *this : Val{*b_, b_->convert(t, id_)}; }
  Val cast_bits(DType t) const { return t == type() ? *this : Val{*b_, b_->bitcast(t, id_)}; }
  // The bits of an f32 or f64 as a signed integer of that size. Of a NaN they may be those of any NaN, with either
  // sign, and the result of a function must not depend on which; in return a NaN need not be made canonical for it.
  Val number_bits() const { return {*b_, b_->number_bits(id_)}; }

 private:
  Builder* b_ = nullptr;
  NodeId id_ = no_node;
};

// Literals of a given type when no value of it is at hand.
Val literal(Builder& b, DType type, double v);
Val literal(Builder& b, DType type, int64_t v);

template <class N>
concept Number = std::is_arithmetic_v<N>;

#define INGOT_BINARY(fn, prim)                                 \
  inline Val fn(Val a, Val b) { return a.bin(Prim::prim, b); } \
  template <Number N>                                          \
  Val fn(Val a, N b) {                                         \
    return a.bin(Prim::prim, a.lit(b));                        \
  }                                                            \
  template <Number N>                                          \
  Val fn(N a, Val b) {                                         \
    return b.lit(a).bin(Prim::prim, b);                        \
  }
INGOT_BINARY(operator+, add)
INGOT_BINARY(operator-, sub)
INGOT_BINARY(operator*, mul)
INGOT_BINARY(operator/, div)
INGOT_BINARY(operator%, rem)
INGOT_BINARY(operator&, and_)
INGOT_BINARY(operator|, or_)
INGOT_BINARY(operator^, xor_)
INGOT_BINARY(operator<<, shl)
INGOT_BINARY(operator>>, shr)
INGOT_BINARY(vmin, min)
INGOT_BINARY(vmax, max)
INGOT_BINARY(eq, eq)
INGOT_BINARY(ne, ne)
INGOT_BINARY(lt, lt)
INGOT_BINARY(le, le)
INGOT_BINARY(copysign, copysign)
#undef INGOT_BINARY

template <class A, class B>
auto gt(A a, B b) {
  return lt(b, a);
}
template <class A, class B>
auto ge(A a, B b) {
  return le(b, a);
}

inline Val operator-(Val a) { return a.un(Prim::neg); }
inline Val operator~(Val a) { return a.un(Prim::not_); }
inline Val operator!(Val a) { return a.un(Prim::not_); }
inline Val abs(Val a) { return a.un(Prim::abs); }
inline Val sqrt(Val a) { return a.un(Prim::sqrt); }
inline Val floor(Val a) { return a.un(Prim::floor); }
inline Val ceil(Val a) { return a.un(Prim::ceil); }
inline Val trunc(Val a) { return a.un(Prim::trunc); }
inline Val round(Val a) { return a.un(Prim::round); }
inline Val scale2(Val a, Val n) { return a.bin(Prim::scale2, n); }
inline Val fma(Val a, Val b, Val c) { return {a.builder(), a.builder().op(Prim::fma, a.id(), b.id(), c.id())}; }
inline Val fma(Val a, Val b, double c) { return fma(a, b, a.lit(c)); }
inline Val fma(Val a, double b, Val c) { return fma(a, a.lit(b), c); }
inline Val fma(Val a, double b, double c) { return fma(a, a.lit(b), a.lit(c)); }
inline Val select(Val p, Val a, Val b) { return {a.builder(), a.builder().op(Prim::select, p.id(), a.id(), b.id())}; }
inline Val select(Val p, Val a, double b) { return select(p, a, a.lit(b)); }
inline Val select(Val p, double a, Val b) { return select(p, b.lit(a), b); }
// `slow` where cond holds, else `fast`; both are total functions, a backend may skip `slow`.
inline Val rare(Val cond, Val fast, Val slow) {
  return {fast.builder(), fast.builder().op(Prim::rare, cond.id(), fast.id(), slow.id())};
}
// A value that is known not to be a NaN wherever it counts, as the fast arm of a `rare` whose condition a NaN fulfils.
// It spares the check that an arithmetic result needs before its bits are seen.
inline Val number(Val a) { return a.un(Prim::number); }
inline Val is_nan(Val a) { return ne(a, a); }

}  // namespace ingot::loop
