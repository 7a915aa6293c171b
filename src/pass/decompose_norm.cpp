// Normalisations, always in two passes over the values: c = x - mean, then the mean of c^2.
#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::DimId;
using ir::DimTable;
using Shape = std::vector<DimId>;

std::vector<int64_t> dims_from(size_t first, size_t rank) {
  std::vector<int64_t> out;
  for (size_t d = first; d < rank; ++d) out.push_back(static_cast<int64_t>(d));
  return out;
}

ValueId inverse_root(Rebuild& r, const Widened& w, const ir::Op& op, ValueId var) {
  const ValueId epsilon = r.to().scalar(w.inside(), attr(op, "epsilon").f);
  return r.op(OpCode::op_rsqrt, {r.op(OpCode::op_add, {var, epsilon})});
}

ValueId mean_square(Rebuild& r, ValueId c, const std::vector<int64_t>& over) {
  return reduced(r, OpCode::op_reduce_mean, r.op(OpCode::op_mul, {c, c}), over, true);
}

// c * inverse * scale + bias; without scale or bias where it is no_value.
ValueId scaled(Rebuild& r, ValueId c, ValueId inverse, ValueId scale, ValueId bias) {
  ValueId y = r.op(OpCode::op_mul, {c, inverse});
  if (scale != ir::no_value) y = r.op(OpCode::op_mul, {y, scale});
  return bias == ir::no_value ? y : r.op(OpCode::op_add, {y, bias});
}

// layer_norm: c = x - mean x; c * rsqrt(mean c^2 + epsilon) * scale + bias. rms_norm: the same with c = x and no bias.
ValueId last_dims(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  const ValueId x = w.in(r(op.operands[0]));
  const std::vector<int64_t> over = dims_from(static_cast<size_t>(attr(op, "axis").i), value.shape.size());
  ValueId c = x;
  if (op.code == OpCode::op_layer_norm)
    c = r.op(OpCode::op_sub, {x, reduced(r, OpCode::op_reduce_mean, x, over, true)});
  const ValueId inverse = inverse_root(r, w, op, mean_square(r, c, over));
  const ValueId scale = w.in(r(op.operands[1]));
  return w.out(scaled(r, c, inverse, scale, op.operands.size() > 2 ? w.in(r(op.operands[2])) : ir::no_value));
}

// What has one dim, along dim `axis` of a value of this rank.
ValueId on_axis(Rebuild& r, ValueId v, DimId extent, size_t axis, size_t rank) {
  Shape shape(rank - axis, r.to().dims().constant(1));
  shape[0] = extent;
  return r.op(OpCode::op_reshape, {v}, {shape_of(shape)});
}

// The same of a parameter.
ValueId along(Rebuild& r, const Widened& w, ValueId parameter, size_t axis, size_t rank) {
  return on_axis(r, w.in(r(parameter)), r.from().value(parameter).shape[0], axis, rank);
}

ValueId channel_parameter(Rebuild& r, const Widened& w, const ir::Op& op, size_t operand) {
  if (operand >= op.operands.size()) return ir::no_value;
  return along(r, w, op.operands[operand], 1, r.from().value(op.operands[0]).shape.size());
}

ValueId instance_norm(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  const ValueId x = w.in(r(op.operands[0]));
  const std::vector<int64_t> over = dims_from(2, value.shape.size());
  const ValueId c = r.op(OpCode::op_sub, {x, reduced(r, OpCode::op_reduce_mean, x, over, true)});
  const ValueId inverse = inverse_root(r, w, op, mean_square(r, c, over));
  return w.out(scaled(r, c, inverse, channel_parameter(r, w, op, 1), channel_parameter(r, w, op, 2)));
}

// The statistics are taken over [N, groups, C / groups, ...] and brought back to one per channel, so that what is
// stored beside the result is small.
ValueId group_norm(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  DimTable& dims = r.to().dims();
  const ValueId x = w.in(r(op.operands[0]));
  const DimId one = dims.constant(1), groups = dims.constant(attr(op, "groups").i);
  const DimId members = dims.floor_div(value.shape[1], groups);
  Shape split = value.shape;
  if (split.size() == ir::max_rank) {  // no room for the dim of groups: the last two are taken together
    split[split.size() - 2] = dims.mul(split[split.size() - 2], split.back());
    split.pop_back();
  }
  split[1] = members;
  split.insert(split.begin() + 1, groups);
  const ValueId grouped = r.op(OpCode::op_reshape, {x}, {shape_of(split)});
  const std::vector<int64_t> over = dims_from(2, split.size());
  const ValueId mean = reduced(r, OpCode::op_reduce_mean, grouped, over, true);
  const ValueId inverse = inverse_root(r, w, op, mean_square(r, r.op(OpCode::op_sub, {grouped, mean}), over));
  const auto per_channel = [&](ValueId v) {
    const Shape each{value.shape[0], groups, members};
    Shape channel(value.shape.size(), one);
    channel[0] = value.shape[0];
    channel[1] = value.shape[1];
    v = r.op(OpCode::op_reshape, {v}, {shape_of({value.shape[0], groups, one})});
    v = r.op(OpCode::op_broadcast, {v}, {shape_of(each)});
    return r.op(OpCode::op_reshape, {v}, {shape_of(channel)});
  };
  const ValueId c = r.op(OpCode::op_sub, {x, per_channel(mean)});
  return w.out(scaled(r, c, per_channel(inverse), channel_parameter(r, w, op, 1), channel_parameter(r, w, op, 2)));
}

ValueId batch_norm(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  const auto parameter = [&](size_t i) { return along(r, w, op.operands[i], axis, value.shape.size()); };
  const ValueId c = r.op(OpCode::op_sub, {w.in(r(op.operands[0])), parameter(1)});
  const ValueId inverse = inverse_root(r, w, op, parameter(2));
  return w.out(scaled(r, c, inverse, parameter(3), parameter(4)));
}

// As batch_norm by the statistics of x itself, the variance divided by n. They are results too: so they are made as
// those are shaped, and seen along the dim of channels by an index map. The other way round a kernel would copy them.
void batch_norm_training(Rebuild& r, const ir::Op& op) {
  const ir::Value& value = r.from().value(op.operands[0]);
  const Widened w{r, value.dtype};
  const size_t rank = value.shape.size();
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  std::vector<int64_t> over = dims_from(0, rank);
  over.erase(over.begin() + static_cast<std::ptrdiff_t>(axis));
  const ValueId x = w.in(r(op.operands[0]));
  const auto parameter = [&](size_t i) { return along(r, w, op.operands[i], axis, rank); };
  const auto of_channels = [&](ValueId v) { return on_axis(r, v, value.shape[axis], axis, rank); };
  const ValueId mean = reduced(r, OpCode::op_reduce_mean, x, over, false);
  const ValueId c = r.op(OpCode::op_sub, {x, of_channels(mean)});
  const ValueId var = reduced(r, OpCode::op_reduce_mean, r.op(OpCode::op_mul, {c, c}), over, false);
  const ValueId inverse = inverse_root(r, w, op, of_channels(var));
  r.set(op.results[0], w.out(scaled(r, c, inverse, parameter(1), parameter(2))));
  r.set(op.results[1], w.out(mean));
  r.set(op.results[2], w.out(var));
}

}  // namespace

std::span<const Decomposition> norm_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_layer_norm, single<last_dims>},  {OpCode::op_rms_norm, single<last_dims>},
      {OpCode::op_group_norm, single<group_norm>}, {OpCode::op_instance_norm, single<instance_norm>},
      {OpCode::op_batch_norm, single<batch_norm>}, {OpCode::op_batch_norm_training, batch_norm_training},
  };
  return table;
}

}  // namespace ingot::pass
