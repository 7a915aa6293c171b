// Rules of composites and of reductions that decompose.
#include <algorithm>

#include "ir/op_rules.h"

namespace ingot::ir {

namespace {

// The operand has one dim, equal to that of operand 0 at `axis`.
void check_along(Inference& op, size_t operand, size_t axis) {
  const std::vector<DimId>& shape = op.value(operand).shape;
  if (shape.size() != 1) {
    fail(Code::invalid_argument, op.where(operand), " has rank ", shape.size(),
         ", expected 1: an element per index of ", "axis ", axis);
  }
  op.require_equal(op.value(0).shape[axis], shape[0], cat("the extent of axis ", axis, " and that of the parameter"), 0,
                   operand);
}

void check_floats(const Inference& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    check_set(op, i);
    check_same_dtype(op, i, 0);
  }
}

// A scale or zero point: one, or one per index of the attribute axis.
void check_quantum(Inference& op, size_t operand) {
  const std::vector<DimId>& shape = op.value(operand).shape;
  if (shape.empty()) return;
  if (shape.size() > 1)
    fail(Code::invalid_argument, op.where(operand), " has rank ", shape.size(), ", expected 0 or 1");
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, op.value(0).shape.size(), "axis");
  check_along(op, operand, static_cast<size_t>(axis.i));
}

void check_zero_point(const Inference& op, DType wanted, std::string_view as) {
  if (op.value(2).dtype == wanted) return;
  fail(Code::invalid_argument, op.where(2), " has dtype ", name(op.value(2).dtype), ", expected ", name(wanted), as);
}

// Where nothing lies along it, axis has no meaning and one form; it has to be an axis all the same.
void settle_axis(Inference& op) {
  if (!op.value(1).shape.empty() || !op.value(2).shape.empty()) return;
  Attr& axis = op.attr("axis");
  if (const size_t rank = op.value(0).shape.size(); rank > 0) normal_axis(op, axis.i, rank, "axis");
  axis.i = -1;
}

}  // namespace

void infer_count(Inference& op) {
  check_computed(op);
  infer_reduce(op);
  op.results[0].dtype = DType::i64;
}

void infer_argument(Inference& op) {
  check_set(op, 0);
  check_computed(op);
  std::vector<DimId> shape = op.value(0).shape;
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size(), "axis");
  const auto d = static_cast<size_t>(axis.i);
  if (op.dims.bounds(shape[d]).hi == 0) {
    op.reject(op.graph.describe(op.operands[0]), " has nothing along axis ", d, ": no index is that of its ",
              op.info.code == OpCode::op_argmax ? "maximum" : "minimum");
  }
  require_some(op, d, "one element that an index is of");
  if (op.attr("keepdims").i != 0) shape[d] = op.dims.constant(1);
  else shape.erase(shape.begin() + axis.i);
  op.results.push_back({DType::i64, std::move(shape)});
}

// group_norm and instance_norm: [N, C, ...] with a parameter per channel.
void infer_channel_norm(Inference& op) {
  check_floats(op);
  const std::vector<DimId>& shape = op.value(0).shape;
  if (shape.size() < 2)
    fail(Code::invalid_argument, op.where(0), " has rank ", shape.size(), ", expected 2 or more: items and channels");
  if (op.info.code == OpCode::op_group_norm) {
    const int64_t groups = op.attr("groups").i;
    if (groups < 1) op.reject("attribute groups is ", groups, ", expected 1 or more");
    if (const auto channels = op.dims.as_constant(shape[1]); channels && *channels % groups != 0)
      op.reject(op.graph.describe(op.operands[0]), " has ", *channels, " channels, not divisible into ", groups,
                " groups");
    if (!op.dims.known_divisible(shape[1], groups))
      op.facts.push_back({Inference::Need::divisible, shape[1], op.dims.constant(groups),
                          cat("the channels of ", op.graph.describe(op.operands[0]), " and groups")});
  }
  for (size_t i = 1; i < op.operands.size(); ++i) check_along(op, i, 1);
  op.results.push_back({op.value(0).dtype, shape});
}

void infer_batch_norm(Inference& op) {
  check_floats(op);
  const std::vector<DimId>& shape = op.value(0).shape;
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size(), "axis");
  const auto channels = static_cast<size_t>(axis.i);
  for (size_t i = 1; i < op.operands.size(); ++i) check_along(op, i, channels);
  op.results.push_back({op.value(0).dtype, shape});
  if (op.info.code == OpCode::op_batch_norm_training)
    for (int statistic = 0; statistic < 2; ++statistic) op.results.push_back({op.value(0).dtype, {shape[channels]}});
}

void infer_quantize(Inference& op) {
  check_set(op, 0);
  check_same_dtype(op, 1, 0);
  const auto to = static_cast<DType>(op.attr("dtype").i);
  if (to != DType::i8 && to != DType::u8) op.reject("attribute dtype is \"", name(to), "\", expected \"i8\" or \"u8\"");
  check_zero_point(op, to, " as attribute dtype");
  for (const size_t i : {1, 2}) check_quantum(op, i);
  settle_axis(op);
  op.results.push_back({to, op.value(0).shape});
}

void infer_dequantize(Inference& op) {
  const DType from = op.value(0).dtype;
  if (from != DType::i8 && from != DType::u8)
    fail(Code::invalid_argument, op.where(0), " has dtype ", name(from), ", expected i8 or u8");
  if (!in_set(TypeSet::flt, op.value(1).dtype)) {
    fail(Code::invalid_argument, op.where(1), " has dtype ", name(op.value(1).dtype),
         ", expected f16, bf16, f32 or f64, that of the result");
  }
  check_zero_point(op, from, " as operand 0");
  for (const size_t i : {1, 2}) check_quantum(op, i);
  settle_axis(op);
  op.results.push_back({op.value(1).dtype, op.value(0).shape});
}

void infer_rope(Inference& op) {
  check_floats(op);
  DimTable& dims = op.dims;
  std::vector<DimId> shape = op.value(0).shape;
  if (shape.empty()) fail(Code::invalid_argument, op.where(0), " has rank 0, expected 1 or more");
  const DimId two = dims.constant(2), last = shape.back();
  if (const auto n = dims.as_constant(last); n && *n % 2 != 0)
    op.reject(op.graph.describe(op.operands[0]), " has ", *n, " elements in its last dim, expected an even number");
  if (!dims.known_divisible(last, 2)) {
    op.facts.push_back(
        {Inference::Need::divisible, last, two, cat("the last dim of ", op.graph.describe(op.operands[0]))});
  }
  op.results.push_back({op.value(0).dtype, shape});
  const auto exact = dims.exact_quotient(last, two);
  shape.back() = exact ? *exact : dims.floor_div(last, two);
  for (const size_t i : {1, 2}) {
    const std::vector<DimId>& table = op.value(i).shape;
    if (table.size() > shape.size()) {
      fail(Code::invalid_argument, op.where(i), " has rank ", table.size(), ", expected at most ", shape.size(),
           ", that of operand 0");
    }
    for (size_t d = 0; d < table.size(); ++d) {
      if (dims.is_constant(table[d], 1)) continue;
      op.require_equal(shape[shape.size() - table.size() + d], table[d],
                       "the extents of operand 0, its last one halved, and those of the table", 0, i);
    }
  }
}

}  // namespace ingot::ir
