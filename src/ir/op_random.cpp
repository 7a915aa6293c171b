// Rules of what random words are made into.
#include "ir/op_rules.h"

namespace ingot::ir {

namespace {

void check_seed(const Inference& op, size_t operand) {
  const Value& seed = op.value(operand);
  if (!in_set(TypeSet::key, seed.dtype))
    fail(Code::invalid_argument, op.where(operand), " has dtype ", name(seed.dtype), ", expected i64 or u64, the seed");
  if (!seed.shape.empty())
    fail(Code::invalid_argument, op.where(operand), " has rank ", seed.shape.size(), ", expected 0: one seed");
}

std::vector<DimId> made_shape(Inference& op) {
  std::vector<DimId> shape = as_dims(op.attr("shape"));
  for (const DimId d : shape) op.require_extent(d, "an extent of shape");
  return shape;
}

}  // namespace

void infer_random(Inference& op) {
  check_seed(op, 0);
  const auto type = static_cast<DType>(op.attr("dtype").i);
  const bool bits = op.info.code == OpCode::op_random_bits;
  if (bits ? !is_unsigned(type) : !in_set(TypeSet::flt, type))
    op.reject("attribute dtype is ", name(type), ", expected ", bits ? "u8, u16, u32 or u64" : "f16, bf16, f32 or f64");
  op.results.push_back({type, made_shape(op)});
}

void infer_bernoulli(Inference& op) {
  check_seed(op, 0);
  const Value& p = op.value(1);
  if (p.dtype != DType::f32)
    fail(Code::invalid_argument, op.where(1), " has dtype ", name(p.dtype), ", expected f32, the probability");
  std::vector<DimId> shape = made_shape(op);
  if (p.shape.size() > shape.size()) {
    fail(Code::invalid_argument, op.where(1), " has rank ", p.shape.size(), ", expected at most ", shape.size(),
         ", that of the result");
  }
  for (size_t d = 0; d < p.shape.size(); ++d) {
    if (op.dims.is_constant(p.shape[d], 1)) continue;
    op.require_equal(shape[shape.size() - p.shape.size() + d], p.shape[d],
                     "the extents of attribute shape and of the probability", 1, 1);
  }
  op.results.push_back({DType::boolean, std::move(shape)});
}

void infer_dropout(Inference& op) {
  check_set(op, 0);
  check_seed(op, 1);
  const double p = op.attr("p").f;
  if (p < 0 || p > 1) op.reject("attribute p is ", p, ", expected 0 to 1");
  op.results.push_back({op.value(0).dtype, op.value(0).shape});
}

}  // namespace ingot::ir
