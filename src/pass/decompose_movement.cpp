// Movement ops by reshape, broadcast, slice, reverse, concat and select: nothing but bits moves.
#include <algorithm>

#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DimId;
using ir::DimKind;
using ir::DimTable;
using ir::DType;
using Shape = std::vector<DimId>;

// A concat of more operands is cut into groups: a kernel has a limited number of views.
constexpr size_t concat_fan = 16;

const Shape& result_shape(Rebuild& r, const ir::Op& op) { return r.from().value(op.results[0]).shape; }
Shape shape_now(Rebuild& r, ValueId v) { return r.to().value(v).shape; }
DimId dim_at(const Attr& list, size_t i) { return static_cast<DimId>(list.ints[i]); }

ValueId concat(Rebuild& r, std::vector<ValueId> level, int64_t axis) {
  const NamedAttr attrs[] = {{"axis", Attr::of_int(axis)}};
  while (level.size() > 1) {
    std::vector<ValueId> next;
    for (size_t i = 0; i < level.size(); i += concat_fan) {
      const size_t n = std::min(concat_fan, level.size() - i);
      next.push_back(n == 1 ? level[i] : r.to().op(OpCode::op_concat, {level.data() + i, n}, attrs));
    }
    level = std::move(next);
  }
  return level[0];
}

void wide_concat(Rebuild& r, const ir::Op& op) {
  if (op.operands.size() <= concat_fan) return r.copy(op);
  std::vector<ValueId> pieces;
  for (const ValueId v : op.operands) pieces.push_back(r(v));
  r.set(op.results[0], concat(r, std::move(pieces), attr(op, "axis").i));
}

ValueId reshaped(Rebuild& r, const ir::Op& op) {
  return r.op(OpCode::op_reshape, {r(op.operands[0])}, {shape_of(result_shape(r, op))});
}

ValueId stack(Rebuild& r, const ir::Op& op) {
  Shape shape = result_shape(r, op);
  const int64_t axis = attr(op, "axis").i;
  shape[static_cast<size_t>(axis)] = r.to().dims().constant(1);
  std::vector<ValueId> pieces;
  for (const ValueId v : op.operands) pieces.push_back(r.op(OpCode::op_reshape, {r(v)}, {shape_of(shape)}));
  return concat(r, std::move(pieces), axis);
}

void split(Rebuild& r, const ir::Op& op) {
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  DimId start = r.to().dims().constant(0);
  for (const ValueId result : op.results) {
    const DimId extent = r.from().value(result).shape[axis];
    r.set(result, part(r, r(op.operands[0]), axis, start, extent));
    start = r.to().dims().add(start, extent);
  }
}

ValueId roll(Rebuild& r, const ir::Op& op) {
  DimTable& dims = r.to().dims();
  ValueId x = r(op.operands[0]);
  const Attr &shifts = attr(op, "shifts"), &along = attr(op, "axes");
  for (size_t i = 0; i < along.ints.size(); ++i) {
    const auto axis = static_cast<size_t>(along.ints[i]);
    const DimId n = shape_now(r, x)[axis];
    const DimId some[] = {n, dims.constant(1)};
    const DimId high[] = {dim_at(shifts, i), dims.expr(DimKind::max, some)};  // the remainder of an empty dim is 0
    const DimId last = dims.expr(DimKind::mod, high), first = dims.sub(n, last);
    if (dims.is_constant(last, 0)) continue;
    x = concat(r, {part(r, x, axis, first, last), part(r, x, axis, dims.constant(0), first)}, along.ints[i]);
  }
  return x;
}

// --- tile and repeat: a new dim beside each, broadcast, then merged with it

struct Times {
  size_t axis;
  DimId count;
};

enum class Side : uint8_t { before, after };  // the whole dim again and again, or each index in its place

ValueId multiplied(Rebuild& r, ValueId x, std::span<const Times> times, Side side) {
  DimTable& dims = r.to().dims();
  Shape shape = shape_now(r, x), result = shape, one, many;
  for (const Times& t : times) result[t.axis] = dims.mul(result[t.axis], t.count);
  if (shape.size() + times.size() > ir::max_rank) {
    // No room for a new dim: the dims on either side of the only one are taken together.
    const std::span<const DimId> all(shape);
    const size_t axis = times[0].axis;
    shape = {dims.product(all.first(axis)), all[axis], dims.product(all.subspan(axis + 1))};
    const Times middle{1, times[0].count};
    const ValueId flat = r.op(OpCode::op_reshape, {x}, {shape_of(shape)});
    return r.op(OpCode::op_reshape, {multiplied(r, flat, {&middle, 1}, side)}, {shape_of(result)});
  }
  for (size_t d = 0, next = 0; d < shape.size(); ++d) {
    const bool here = next < times.size() && times[next].axis == d;
    const auto both = [&](DimId before, DimId after) {
      one.push_back(before);
      many.push_back(after);
    };
    if (here && side == Side::before) both(dims.constant(1), times[next].count);
    both(shape[d], shape[d]);
    if (here && side == Side::after) both(dims.constant(1), times[next].count);
    next += here;
  }
  x = r.op(OpCode::op_reshape, {x}, {shape_of(one)});
  x = r.op(OpCode::op_broadcast, {x}, {shape_of(many)});
  return r.op(OpCode::op_reshape, {x}, {shape_of(result)});
}

ValueId tile(Rebuild& r, const ir::Op& op) {
  ValueId x = r(op.operands[0]);
  std::vector<Times> times;
  for (size_t d = 0; d < attr(op, "repeats").ints.size(); ++d)
    if (const DimId count = dim_at(attr(op, "repeats"), d); !r.to().dims().is_constant(count, 1))
      times.push_back({d, count});
  const size_t room = std::max<size_t>(1, ir::max_rank - shape_now(r, x).size());
  for (size_t i = 0; i < times.size(); i += room)
    x = multiplied(r, x, std::span(times).subspan(i, std::min(room, times.size() - i)), Side::before);
  return x;
}

ValueId repeat(Rebuild& r, const ir::Op& op) {
  const Times times{static_cast<size_t>(attr(op, "axis").i), static_cast<DimId>(attr(op, "repeats").i)};
  return multiplied(r, r(op.operands[0]), {&times, 1}, Side::after);
}

// --- what depends on where an element lies

// column - row <, ==, > diagonal over the last two dims of a shape, as bool of those two dims.
ValueId against_diagonal(Rebuild& r, const Shape& shape, OpCode compare, int64_t diagonal) {
  const Shape last(shape.end() - 2, shape.end());
  const auto index = [&](int64_t axis) {
    return r.op(OpCode::op_iota, {}, {shape_of(last), {"axis", Attr::of_int(axis)}});
  };
  const ValueId row = index(0), column = index(1);
  const ValueId number = r.to().scalar(DType::i64, static_cast<uint64_t>(diagonal));
  return r.op(compare, {r.op(OpCode::op_sub, {column, row}), number});
}

ValueId tri(Rebuild& r, const ir::Op& op) {
  const OpCode compare = op.code == OpCode::op_tril ? OpCode::op_le : OpCode::op_ge;
  const ValueId kept = against_diagonal(r, result_shape(r, op), compare, attr(op, "diagonal").i);
  const ValueId zero = r.to().scalar(r.from().value(op.operands[0]).dtype, uint64_t{0});
  return r.op(OpCode::op_select, {kept, r(op.operands[0]), zero});
}

ValueId eye(Rebuild& r, const ir::Op& op) {
  const Shape& shape = result_shape(r, op);
  const ValueId ones = against_diagonal(r, shape, OpCode::op_eq, attr(op, "diagonal").i);
  const ValueId cast = r.op(OpCode::op_cast, {ones}, {{"to", attr(op, "dtype")}});
  return r.op(OpCode::op_broadcast, {cast}, {shape_of(shape)});
}

// --- pad by the operand's own elements

// `count` elements below or above the elements of x along one dim.
ValueId padding(Rebuild& r, ValueId x, size_t axis, DimId count, bool below, const std::string& mode) {
  DimTable& dims = r.to().dims();
  const DimId n = shape_now(r, x)[axis], one = dims.constant(1);
  if (mode == "wrap") return part(r, x, axis, below ? dims.sub(n, count) : dims.constant(0), count);
  if (mode == "reflect") {
    const ValueId v = part(r, x, axis, below ? one : dims.sub(dims.sub(n, one), count), count);
    return r.op(OpCode::op_reverse, {v}, {axes({static_cast<int64_t>(axis)})});
  }
  // The nearest element: none of an empty dim, which is then padded by none.
  const DimId some[] = {n, one};
  const DimId extent = dims.expr(DimKind::min, some);
  const ValueId edge = part(r, x, axis, below ? dims.constant(0) : dims.sub(n, extent), extent);
  Shape shape = shape_now(r, x);
  shape[axis] = count;
  return r.op(OpCode::op_broadcast, {edge}, {shape_of(shape)});
}

void pad(Rebuild& r, const ir::Op& op) {
  const std::string& mode = attr(op, "mode").s;
  ValueId x = r(op.operands[0]);
  if (mode == "constant") {
    // Nothing is added: then nothing of the fill is in the kernel, where a fold that it is made by would have been.
    bool changes = false;
    for (const std::string_view side : {"low", "high"})
      for (const int64_t d : attr(op, side).ints)
        changes = changes || !r.to().dims().is_constant(static_cast<DimId>(d), 0);
    if (changes) r.copy(op);
    else r.set(op.results[0], x);
    return;
  }
  for (size_t axis = 0; axis < result_shape(r, op).size(); ++axis) {
    const DimId low = dim_at(attr(op, "low"), axis), high = dim_at(attr(op, "high"), axis);
    std::vector<ValueId> pieces;
    if (!r.to().dims().is_constant(low, 0)) pieces.push_back(padding(r, x, axis, low, true, mode));
    pieces.push_back(x);
    if (!r.to().dims().is_constant(high, 0)) pieces.push_back(padding(r, x, axis, high, false, mode));
    x = concat(r, std::move(pieces), static_cast<int64_t>(axis));
  }
  r.set(op.results[0], x);
}

}  // namespace

ValueId part(Rebuild& r, ValueId x, size_t axis, DimId start, DimId extent, int64_t step) {
  DimTable& dims = r.to().dims();
  Shape starts(shape_now(r, x).size(), dims.constant(0)), limits = shape_now(r, x);
  std::vector<int64_t> steps(starts.size(), 1);
  starts[axis] = start;
  steps[axis] = step;
  if (step == 1) limits[axis] = dims.add(start, extent);
  const ValueId v = r.op(OpCode::op_slice, {x},
                         {{"starts", Attr::of_dims(starts)},
                          {"limits", Attr::of_dims(limits)},
                          {"steps", Attr::of_ints(std::move(steps))}});
  const DimId same[] = {shape_now(r, v)[axis], extent};
  if (!dims.known_equal(same[0], same[1])) dims.assume(ir::DimFact::equal, same, {.op = "slice"});
  return v;
}

std::span<const Decomposition> movement_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_concat, wide_concat},       {OpCode::op_pad, pad},
      {OpCode::op_squeeze, single<reshaped>}, {OpCode::op_expand_dims, single<reshaped>},
      {OpCode::op_stack, single<stack>},      {OpCode::op_split, split},
      {OpCode::op_roll, single<roll>},        {OpCode::op_tile, single<tile>},
      {OpCode::op_repeat, single<repeat>},    {OpCode::op_tril, single<tri>},
      {OpCode::op_triu, single<tri>},         {OpCode::op_eye, single<eye>},
  };
  return table;
}

}  // namespace ingot::pass
