// The op table as data.
#pragma once

#include <span>
#include <string_view>

#include "ir/attr.h"

namespace ingot::ir {

enum class OpCode : uint32_t {
  invalid = 0,
#define OP(name, number, cls, lo, hi, types, rule, attrs, doc, example) op_##name = number,
#include "ir/ops.def"
#undef OP
};

enum class OpClass : uint8_t { elementwise, function, reduce, scan, movement, gather, contraction, composite };
enum class TypeSet : uint8_t { num, flt, any, boo, bit, itg, sgn, qnt, key, byt };
enum class Rule : uint8_t {
  unary,
  nary,
  compare,
  select,
  cast,
  iota,
  reshape,
  transpose,
  broadcast,
  slice,
  pad,
  concat,
  reverse,
  dim,
  reduce,
  matmul,
  dot_general,
  softmax,
  norm,
  test,
  ldexp,
  bitcast,
  frexp,
  squeeze,
  expand_dims,
  stack,
  split,
  roll,
  tile,
  repeat,
  diagonal,
  tri,
  eye,
  count,
  argument,
  channel_norm,
  batch_norm,
  quantize,
  dequantize,
  rope,
  attention,
  dropout,
  unpack_bits,
  scan,
  random,
  bernoulli,
  cross_entropy,
  gather,
  take_along,
  gather_nd,
  one_hot,
  scatter,
  searchsorted,
};

struct OpInfo {
  std::string_view name;
  OpCode code;
  OpClass cls;
  uint32_t min_operands, max_operands;
  TypeSet types;
  Rule rule;
  std::span<const AttrSpec> attrs;
  std::string_view doc;
};

// nullptr for an unknown number or name.
const OpInfo* op_info(OpCode code) noexcept;
const OpInfo* find_op(std::string_view name) noexcept;
// All rows by ascending number.
std::span<const OpInfo> op_table() noexcept;
std::string_view name(OpClass cls) noexcept;
bool in_set(TypeSet set, DType type) noexcept;

// Index of an attribute in the row's list, so that `graph.attr(op, axis_of)` is a lookup by position; bug() if absent.
size_t attr_index(const OpInfo& info, std::string_view name);

}  // namespace ingot::ir
