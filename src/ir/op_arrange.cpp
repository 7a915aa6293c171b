// Shape rules of the movement ops that decompose into those of op_movement.cpp, and of diagonal.
#include <algorithm>

#include "ir/counted.h"
#include "ir/op_rules.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

// As many results as a concat may have operands.
constexpr size_t max_parts = 65535;

DimId least(DimTable& dims, DimId a, DimId b) {
  const DimId both[] = {a, b};
  return dims.expr(DimKind::min, both);
}

DimId greatest(DimTable& dims, DimId a, DimId b) {
  const DimId both[] = {a, b};
  return dims.expr(DimKind::max, both);
}

void check_rank(const Inference& op, size_t rank, size_t least_rank) {
  if (rank >= least_rank) return;
  fail(Code::invalid_argument, op.where(0), " has rank ", rank, ", expected ", least_rank, " or more");
}

}  // namespace

void infer_squeeze(Inference& op) {
  const std::vector<DimId>& shape = op.value(0).shape;
  Attr& axes = op.attr("axes");
  normalise_axes(op, axes, shape.size());
  std::vector<DimId> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (std::ranges::find(axes.ints, static_cast<int64_t>(d)) == axes.ints.end()) result.push_back(shape[d]);
    else op.require_equal(shape[d], op.dims.constant(1), cat("the extent of axis ", d, " and 1"), 0, 0);
  }
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

void infer_expand_dims(Inference& op) {
  std::vector<DimId> result = op.value(0).shape;
  Attr& axes = op.attr("axes");
  normalise_axes(op, axes, result.size() + axes.ints.size());
  // Ascending, so that each place is already that of the result.
  for (const int64_t a : axes.ints) result.insert(result.begin() + a, op.dims.constant(1));
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

void infer_stack(Inference& op) {
  std::vector<DimId> shape = op.value(0).shape;
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size() + 1, "axis");
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Value& v = op.value(i);
    if (v.dtype != op.value(0).dtype) {
      fail(Code::invalid_argument, op.where(i), " has dtype ", name(v.dtype), ", expected ", name(op.value(0).dtype),
           " as operand 0");
    }
    if (v.shape.size() != shape.size()) {
      fail(Code::invalid_argument, op.where(i), " has rank ", v.shape.size(), ", expected ", shape.size(),
           " as operand 0");
    }
    for (size_t d = 0; d < shape.size(); ++d) op.require_equal(shape[d], v.shape[d], "the extents", 0, i);
  }
  shape.insert(shape.begin() + axis.i, op.dims.constant(static_cast<int64_t>(op.operands.size())));
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_split(Inference& op) {
  DimTable& dims = op.dims;
  std::vector<DimId> shape = op.value(0).shape;
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size(), "axis");
  const auto d = static_cast<size_t>(axis.i);
  const DimId whole = shape[d];
  const int64_t parts = op.attr("parts").i;
  std::vector<DimId> sizes = as_dims(op.attr("sizes"));
  if ((parts != 0) == !sizes.empty())
    op.reject(parts != 0 ? "takes attribute parts or sizes, not both" : "attribute parts or sizes is missing");
  if (parts < 0 || parts > static_cast<int64_t>(max_parts) || sizes.size() > max_parts)
    op.reject("has 1 to ", max_parts, " results, not ", parts != 0 ? parts : static_cast<int64_t>(sizes.size()));
  if (parts != 0) {
    const DimId count = dims.constant(parts);
    if (const auto n = dims.as_constant(whole); n && *n % parts != 0) {
      op.reject(op.graph.describe(op.operands[0]), " does not split into ", parts, " equal parts: the extent of axis ",
                d, " is ", *n);
    }
    if (!dims.known_divisible(whole, parts)) {
      op.facts.push_back({Inference::Need::divisible, whole, count,
                          cat("the extent of axis ", d, " of ", op.graph.describe(op.operands[0]), " and parts")});
    }
    const auto exact = dims.exact_quotient(whole, count);
    sizes.assign(static_cast<size_t>(parts), exact ? *exact : dims.floor_div(whole, count));
  } else {
    for (const DimId size : sizes) op.require_extent(size, "an entry of sizes");
    op.require_equal(dims.expr(DimKind::add, sizes), whole, "the sum of sizes and the extent split", 0, 0);
  }
  for (const DimId size : sizes) {
    shape[d] = size;
    op.results.push_back({op.value(0).dtype, shape});
  }
}

void infer_roll(Inference& op) {
  Attr &shifts = op.attr("shifts"), &axes = op.attr("axes");
  if (shifts.ints.size() != axes.ints.size()) {
    op.reject("attribute shifts has ", counted(shifts.ints.size(), "entry", "entries"), ", expected ", axes.ints.size(),
              ", one per entry of axes");
  }
  std::vector<std::pair<int64_t, int64_t>> order;  // axis, shift
  for (size_t i = 0; i < axes.ints.size(); ++i)
    order.emplace_back(normal_axis(op, axes.ints[i], op.value(0).shape.size(), "axes"), shifts.ints[i]);
  std::ranges::sort(order);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].first == order[i - 1].first)
      op.reject("attribute axes names axis ", order[i].first, " twice");
    axes.ints[i] = order[i].first;
    shifts.ints[i] = order[i].second;
  }
  op.results.push_back({op.value(0).dtype, op.value(0).shape});
}

void infer_tile(Inference& op) {
  std::vector<DimId> shape = op.value(0).shape;
  check_count(op, op.attr("repeats"), "repeats");
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto times = static_cast<DimId>(op.attr("repeats").ints[d]);
    op.require_extent(times, "an entry of repeats");
    shape[d] = op.dims.mul(shape[d], times);
  }
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_repeat(Inference& op) {
  std::vector<DimId> shape = op.value(0).shape;
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size(), "axis");
  const auto times = static_cast<DimId>(op.attr("repeats").i);
  op.require_extent(times, "attribute repeats");
  DimId& extent = shape[static_cast<size_t>(axis.i)];
  extent = op.dims.mul(extent, times);
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_diagonal(Inference& op) {
  DimTable& dims = op.dims;
  std::vector<DimId> shape = op.value(0).shape;
  check_rank(op, shape.size(), 2);
  Attr &first = op.attr("axis1"), &second = op.attr("axis2");
  first.i = normal_axis(op, first.i, shape.size(), "axis1");
  second.i = normal_axis(op, second.i, shape.size(), "axis2");
  if (first.i == second.i) op.reject("attributes axis1 and axis2 are both axis ", first.i);
  const int64_t offset = op.attr("offset").i;
  if (offset == INT64_MIN) op.reject("attribute offset is ", offset, ", which is too small");
  const DimId rows = dims.sub(shape[static_cast<size_t>(first.i)], dims.constant(std::max<int64_t>(-offset, 0)));
  const DimId columns = dims.sub(shape[static_cast<size_t>(second.i)], dims.constant(std::max<int64_t>(offset, 0)));
  shape.erase(shape.begin() + std::max(first.i, second.i));
  shape.erase(shape.begin() + std::min(first.i, second.i));
  shape.push_back(greatest(dims, least(dims, rows, columns), dims.constant(0)));
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_tri(Inference& op) {
  check_rank(op, op.value(0).shape.size(), 2);
  op.results.push_back({op.value(0).dtype, op.value(0).shape});
}

void infer_eye(Inference& op) {
  const DType type = made_dtype(op);
  const std::vector<DimId> shape = as_dims(op.attr("shape"));
  if (shape.size() < 2) op.reject("attribute shape has rank ", shape.size(), ", expected 2 or more");
  for (const DimId d : shape) op.require_extent(d, "an extent of shape");
  op.results.push_back({type, shape});
}

void infer_unpack_bits(Inference& op) {
  check_set(op, 0);
  DimTable& dims = op.dims;
  std::vector<DimId> shape = op.value(0).shape;
  if (shape.empty()) fail(Code::invalid_argument, op.where(0), " has rank 0, expected 1 or more");
  const std::string& order = op.attr("bitorder").s;
  if (order != "little" && order != "big")
    op.reject("attribute bitorder is \"", shortened(order), "\", expected \"little\" or \"big\"");
  Attr& count = op.attr("count");
  const DimId all = dims.mul(shape.back(), dims.constant(8));
  if (dims.is_constant(static_cast<DimId>(count.i), -1)) {
    count.i = all;
  } else {
    op.require_extent(static_cast<DimId>(count.i), "attribute count");
    op.require_extent(dims.sub(all, static_cast<DimId>(count.i)), "the number of bits beyond attribute count");
  }
  shape.back() = static_cast<DimId>(count.i);
  op.results.push_back({DType::boolean, std::move(shape)});
}

}  // namespace ingot::ir
