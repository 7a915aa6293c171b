// What decompositions are written with, and where each kind lies.
#pragma once

#include <span>
#include <vector>

#include "pass/rebuild.h"

namespace ingot::pass {

// How one op becomes others: sets its results.
struct Decomposition {
  OpCode code;
  void (*run)(Rebuild& r, const ir::Op& op);
};

std::span<const Decomposition> float_decompositions();      // decompose_float.cpp
std::span<const Decomposition> movement_decompositions();   // decompose_movement.cpp
std::span<const Decomposition> reduce_decompositions();     // decompose_reduce.cpp
std::span<const Decomposition> norm_decompositions();       // decompose_norm.cpp
std::span<const Decomposition> composite_decompositions();  // decompose_composite.cpp
std::span<const Decomposition> random_decompositions();     // decompose_random.cpp
std::span<const Decomposition> indexed_decompositions();    // decompose_indexed.cpp

// A reduction over axes of which some may be 1 and none need be there: a fold over nothing is no fold, but its operand,
// computed.
ValueId reduced(Rebuild& r, OpCode fold, ValueId x, const std::vector<int64_t>& over, bool keepdims);

// The indices start, start + step, ... of one dim, `extent` of them. That they lie inside of it is a fact of the op,
// out of which the algebra need not find the slice's extent. With a step above 1 they reach to the end of the dim.
ValueId part(Rebuild& r, ValueId x, size_t axis, ir::DimId start, ir::DimId extent, int64_t step = 1);

// Of an op with one result, by a function that makes it.
template <ValueId (*make)(Rebuild&, const ir::Op&)>
void single(Rebuild& r, const ir::Op& op) {
  r.set(op.results[0], make(r, op));
}

inline NamedAttr axes(std::vector<int64_t> list) { return {"axes", ir::Attr::of_ints(std::move(list))}; }
inline NamedAttr keep() { return {"keepdims", ir::Attr::of_bool(true)}; }
inline NamedAttr shape_of(const std::vector<ir::DimId>& dims) { return {"shape", ir::Attr::of_dims(dims)}; }

inline ValueId cast(Rebuild& r, ValueId v, ir::DType to) {
  return r.op(OpCode::op_cast, {v}, {{"to", ir::Attr::of_dtype(to)}});
}

// f16 and bf16 compute in f32 inside and round once at the output.
struct Widened {
  Rebuild& r;
  ir::DType own;

  bool narrow() const { return own == ir::DType::f16 || own == ir::DType::bf16; }
  ValueId in(ValueId v) const { return narrow() ? cast(r, v, ir::DType::f32) : v; }
  ValueId out(ValueId v) const { return narrow() ? cast(r, v, own) : v; }
  ir::DType inside() const { return narrow() ? ir::DType::f32 : own; }
};

}  // namespace ingot::pass
