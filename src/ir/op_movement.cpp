// Shape rules of the movement ops.
#include <algorithm>

#include "ir/counted.h"
#include "ir/op_rules.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

void set_dims(Attr& attr, const std::vector<DimId>& dims) { attr.ints.assign(dims.begin(), dims.end()); }

}  // namespace

void infer_iota(Inference& op) {
  const DType type = made_dtype(op);
  const std::vector<DimId> shape = as_dims(op.attr("shape"));
  Attr& axis = op.attr("axis");
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0) op.reject("attribute shape is empty, expected a dim to count along");
  if (axis.i < -rank || axis.i >= rank) op.reject("attribute axis: ", axis.i, " is not an axis of rank ", rank);
  if (axis.i < 0) axis.i += rank;
  for (const DimId d : shape) op.require_extent(d, "an extent of shape");
  op.results.push_back({type, shape});
}

void infer_dim(Inference& op) { op.results.push_back({DType::i64, {}}); }

void infer_reshape(Inference& op) {
  DimTable& dims = op.dims;
  std::vector<DimId> shape = as_dims(op.attr("shape"));
  size_t open = shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!dims.is_constant(shape[d], -1)) {
      op.require_extent(shape[d], "an extent of shape");
    } else if (open != shape.size()) {
      op.reject("attribute shape has two extents of -1, expected at most one");
    } else {
      open = d;
    }
  }
  // Extents on both sides are struck out first: what is left is smaller, and needs no proof that it is not 0.
  std::vector<DimId> from = op.value(0).shape, to;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == open) continue;
    const auto same = std::ranges::find_if(from, [&](DimId x) { return dims.known_equal(x, shape[d]); });
    if (same == from.end() || dims.is_constant(shape[d], 0)) to.push_back(shape[d]);
    else from.erase(same);
  }
  const DimId count = dims.product(from);
  if (open != shape.size()) {
    const DimId given = dims.product(to);
    if (dims.is_constant(given, 0)) op.reject("attribute shape: -1 cannot be solved beside an extent of 0");
    const auto exact = dims.exact_quotient(count, given);
    if (!exact && dims.as_constant(count) && dims.as_constant(given)) {
      op.reject(op.graph.describe(op.operands[0]), " cannot have the shape asked for: ", dims.to_string(count),
                " is not divisible by ", dims.to_string(given));
    }
    shape[open] = exact ? *exact : dims.floor_div(count, given);
    to.push_back(shape[open]);  // that a quotient is exact is checked below, as for a shape given in full
  }
  const DimId wanted = dims.product(to);
  if (!dims.known_equal(count, wanted)) {
    if (const Bounds a = dims.bounds(count), b = dims.bounds(wanted); std::max(a.lo, b.lo) > std::min(a.hi, b.hi)) {
      op.reject(op.graph.describe(op.operands[0]), " has ", dims.to_string(dims.product(op.value(0).shape)),
                " elements, not ", dims.to_string(dims.product(shape)));
    }
    op.facts.push_back({Inference::Need::equal, count, wanted,
                        cat("the elements of ", op.graph.describe(op.operands[0]), " and of attribute shape")});
  }
  set_dims(op.attr("shape"), shape);
  op.results.push_back({op.value(0).dtype, shape});
}

void infer_transpose(Inference& op) {
  Attr& perm = op.attr("perm");
  check_count(op, perm, "perm");
  const std::vector<DimId>& shape = op.value(0).shape;
  std::vector<bool> seen(shape.size(), false);
  std::vector<DimId> result;
  for (int64_t& axis : perm.ints) {
    axis = normal_axis(op, axis, shape.size(), "perm");
    const auto d = static_cast<size_t>(axis);
    if (seen[d]) op.reject("attribute perm names axis ", axis, " twice, expected a permutation");
    seen[d] = true;
    result.push_back(shape[d]);
  }
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

void infer_reverse(Inference& op) {
  Attr& axes = op.attr("axes");
  normalise_axes(op, axes, op.value(0).shape.size());
  op.results.push_back({op.value(0).dtype, op.value(0).shape});
}

void infer_broadcast(Inference& op) {
  DimTable& dims = op.dims;
  const std::vector<DimId> shape = as_dims(op.attr("shape"));
  const std::vector<DimId>& from = op.value(0).shape;
  if (from.size() > shape.size()) {
    fail(Code::invalid_argument, op.where(0), " has rank ", from.size(), ", more than the ", shape.size(),
         " of attribute shape");
  }
  for (const DimId d : shape) op.require_extent(d, "an extent of shape");
  const size_t skip = shape.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    const DimId target = shape[skip + d];
    if (dims.known_equal(from[d], target) || dims.is_constant(from[d], 1)) continue;
    const DimId both = broadcast_extent(op, from[d], target, 0, 0);
    if (!dims.known_equal(both, target))
      op.require_equal(both, target, "the extent broadcast to and that of shape", 0, 0);
  }
  op.results.push_back({op.value(0).dtype, shape});
}

// Set in Attr::i of starts and limits in normal form: all of them are indices as they stand. Without it an index that
// facts turn into a negative constant would count from the end when the op is added again.
constexpr int64_t plain_indices = 1;

// A start or limit that is a constant counts from the end if it is negative, as in NumPy; an expression is an index as
// it stands. A start is not clamped to the extent: where it lies beyond, the result is empty and it is never used.
void infer_slice(Inference& op) {
  DimTable& dims = op.dims;
  Attr& steps = op.attr("steps");
  const std::vector<DimId>& shape = op.value(0).shape;
  if (steps.i == every_axis) {
    steps = Attr::of_ints(std::vector<int64_t>(shape.size(), 1));
  }
  std::vector<DimId> starts = as_dims(op.attr("starts")), limits = as_dims(op.attr("limits")), result;
  check_count(op, op.attr("starts"), "starts");
  check_count(op, op.attr("limits"), "limits");
  check_count(op, steps, "steps");
  const bool plain = op.attr("starts").i == plain_indices;
  const DimId zero = dims.constant(0), minus_one = dims.constant(-1);
  const auto least = [&](DimId a, DimId b) {
    const DimId both[] = {a, b};
    return dims.expr(DimKind::min, both);
  };
  const auto greatest = [&](DimId a, DimId b) {
    const DimId both[] = {a, b};
    return dims.expr(DimKind::max, both);
  };
  for (size_t d = 0; d < shape.size(); ++d) {
    const DimId n = shape[d];
    const int64_t step = steps.ints[d];
    if (step == 0 || step == INT64_MIN) op.reject("attribute steps: ", step, " is no step");
    const auto index = [&](DimId i) {
      const auto constant = dims.as_constant(i);
      return !plain && constant && *constant < 0 ? dims.add(n, i) : i;
    };
    // Clamping a constant that is out of range keeps the difference below from overflowing.
    const auto at_least = [&](DimId i, DimId floor) { return dims.as_constant(i) ? greatest(i, floor) : i; };
    const auto without_zero = [&](DimId i) {
      if (dims.kind(i) != DimKind::max) return i;
      std::vector<DimId> parts(dims.operands(i).begin(), dims.operands(i).end());
      std::erase_if(parts, [&](DimId part) { return dims.is_constant(part, 0); });
      return parts.empty() ? zero : dims.expr(DimKind::max, parts);
    };
    // a - b with b a maximum, as the minimum of the differences: of x[-3:] the length is min(3, N).
    const auto difference = [&](DimId a, DimId b) {
      if (dims.kind(b) != DimKind::max) return dims.sub(a, b);
      const std::vector<DimId> parts(dims.operands(b).begin(), dims.operands(b).end());
      DimId all = dims.sub(a, parts[0]);
      for (const DimId part : parts) all = least(all, dims.sub(a, part));
      return all;
    };
    // The length follows from what is stored alone, so that the op added again has the same one.
    DimId length;
    if (step > 0) {
      starts[d] = greatest(index(starts[d]), zero);
      limits[d] = greatest(least(at_least(index(limits[d]), zero), n), zero);
      // From the limit before it was raised to 0, which reads better: of x[1:-3] it is max(0, N-4).
      const DimId limit = dims.known_equal(limits[d], n) ? n : without_zero(limits[d]);
      length = dims.ceil_div(difference(limit, starts[d]), dims.constant(step));
    } else {
      starts[d] = at_least(least(index(starts[d]), dims.sub(n, dims.constant(1))), minus_one);
      const DimId limit = greatest(index(limits[d]), minus_one);
      length = dims.ceil_div(difference(starts[d], limit), dims.constant(-step));
      // A limit of -1 would count from the end when it is read from text.
      limits[d] = dims.is_constant(limit, -1) ? dims.sub(minus_one, n) : limit;
    }
    length = greatest(length, zero);
    if (dims.is_constant(length, 0)) starts[d] = limits[d] = zero;
    result.push_back(length);
  }
  set_dims(op.attr("starts"), starts);
  set_dims(op.attr("limits"), limits);
  op.attr("starts").i = op.attr("limits").i = plain_indices;
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

namespace {

void check_padding(const Inference& op) {
  if (op.operands.size() != 2) op.reject("takes 2 operands with mode \"constant\": the scalar to pad with is missing");
  if (op.value(1).dtype != op.value(0).dtype) {
    fail(Code::invalid_argument, op.where(1), " has dtype ", name(op.value(1).dtype), ", expected ",
         name(op.value(0).dtype), " as operand 0");
  }
  if (!op.value(1).shape.empty()) {
    fail(Code::invalid_argument, op.where(1), " has rank ", op.value(1).shape.size(),
         ", expected 0: it is the padding");
  }
}

// What a count of elements taken from the operand itself needs of the extent n. A dim that is not padded may be empty.
void check_source(Inference& op, std::string_view mode, DimId n, DimId count, std::string_view side) {
  DimTable& dims = op.dims;
  op.require_extent(count, cat(side, " with mode \"", mode, "\""));
  const DimId some[] = {count, dims.constant(1)};
  DimId most = count;  // wrap
  if (mode == "edge") most = dims.expr(DimKind::min, some);
  if (mode == "reflect") most = dims.add(count, dims.expr(DimKind::min, some));
  op.require_extent(dims.sub(n, most), cat("the extent ", dims.to_string(n), " less the ", dims.to_string(most),
                                           " that ", side, " takes with mode \"", mode, "\""));
}

}  // namespace

void infer_pad(Inference& op) {
  DimTable& dims = op.dims;
  const std::vector<DimId>& shape = op.value(0).shape;
  const std::string& mode = op.attr("mode").s;
  if (mode == "constant") {
    check_padding(op);
  } else if (mode != "edge" && mode != "reflect" && mode != "wrap") {
    op.reject("attribute mode is \"", shortened(mode), "\", expected \"constant\", \"edge\", \"reflect\" or \"wrap\"");
  } else if (op.operands.size() != 1) {
    op.reject("takes 1 operand with mode \"", mode, "\", not 2: the padding is the operand's own");
  }
  check_count(op, op.attr("low"), "low");
  check_count(op, op.attr("high"), "high");
  std::vector<DimId> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    const DimId parts[] = {shape[d], static_cast<DimId>(op.attr("low").ints[d]),
                           static_cast<DimId>(op.attr("high").ints[d])};
    if (mode != "constant") {
      check_source(op, mode, parts[0], parts[1], "low");
      check_source(op, mode, parts[0], parts[2], "high");
    }
    result.push_back(dims.expr(DimKind::add, parts));
    op.require_extent(result.back(), "the padded extent");
  }
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

void infer_concat(Inference& op) {
  DimTable& dims = op.dims;
  std::vector<DimId> shape = op.value(0).shape, along;
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size(), "axis");
  const auto joined = static_cast<size_t>(axis.i);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Value& v = op.value(i);
    if (v.dtype != op.value(0).dtype) {
      fail(Code::invalid_argument, op.where(i), " has dtype ", name(v.dtype), ", expected ", name(op.value(0).dtype),
           " as operand 0");
    }
    if (v.shape.size() != shape.size()) {
      fail(Code::invalid_argument, op.where(i), " has rank ", v.shape.size(), ", expected ", shape.size(),
           " as operand 0");
    }
    along.push_back(v.shape[joined]);
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != joined) op.require_equal(shape[d], v.shape[d], "extents outside of axis", 0, i);
  }
  shape[joined] = dims.expr(DimKind::add, along);
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

}  // namespace ingot::ir
