// One-hot rows and the loss that picks a class.
#include "ir/scalar.h"
#include "pass/decompose.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DimId;
using ir::DType;
using Shape = std::vector<DimId>;

ValueId with_dim(Rebuild& r, ValueId v, size_t axis) {
  Shape shape = r.to().value(v).shape;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), r.to().dims().constant(1));
  return r.op(OpCode::op_reshape, {v}, {shape_of(shape)});
}

// iota == index, where a negative one counts from the end.
ValueId one_hot(Rebuild& r, const ir::Op& op) {
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  const auto depth = static_cast<DimId>(attr(op, "depth").i);
  ValueId index = r(op.operands[0]);
  const DType own = r.to().value(index).dtype;
  // What no i64 is must not come out as one that is an index.
  if (own == DType::u64) index = r.op(OpCode::op_min, {index, r.to().scalar(own, static_cast<uint64_t>(INT64_MAX))});
  const bool from_end = ir::is_signed(own);
  index = cast(r, index, DType::i64);
  if (from_end) {
    const ValueId extent = r.op(OpCode::op_dim, {}, {{"size", Attr{.kind = ir::AttrKind::dim, .i = depth}}});
    const ValueId below = r.op(OpCode::op_lt, {index, r.to().scalar(DType::i64, uint64_t{0})});
    index = r.op(OpCode::op_select, {below, r.op(OpCode::op_add, {index, extent}), index});
  }
  Shape line(r.to().value(index).shape.size() + 1 - axis, r.to().dims().constant(1));
  line[0] = depth;
  const ValueId classes = r.op(OpCode::op_iota, {}, {shape_of(line)});
  const auto dtype = static_cast<DType>(attr(op, "dtype").i);
  const ValueId hit = r.op(OpCode::op_eq, {with_dim(r, index, axis), classes});
  return dtype == DType::boolean ? hit : cast(r, hit, dtype);
}

// How many labels count.
ValueId counted(Rebuild& r, ValueId labels, ValueId ignored, const std::vector<int64_t>& all, DType as) {
  if (ignored == ir::no_value) {
    const Attr size{.kind = ir::AttrKind::dim, .i = r.to().dims().product(r.to().value(labels).shape)};
    return cast(r, r.op(OpCode::op_dim, {}, {{"size", size}}), as);
  }
  const ValueId counts = cast(r, r.op(OpCode::op_not, {ignored}), DType::i64);
  return cast(r, reduced(r, OpCode::op_reduce_sum, counts, all, false), as);
}

// log(sum exp(x - max)) - (x[label] - max), which is -log_softmax(x)[label]; 0 where the label is ignored.
ValueId cross_entropy(Rebuild& r, const ir::Op& op) {
  const Widened w{r, r.from().value(op.operands[0]).dtype};
  const ValueId scores = r(op.operands[0]);
  const ValueId labels = r(op.operands[1]);
  const DType label_type = r.to().value(labels).dtype;
  const int64_t axis = attr(op, "axis").i;
  const ValueId zero = r.to().scalar(w.inside(), 0.0);
  const int64_t ignore = attr(op, "ignore_index").i;
  const auto number = ir::integer_bits(label_type, ignore < 0,
                                       ignore < 0 ? -static_cast<uint64_t>(ignore) : static_cast<uint64_t>(ignore));
  // A number that the labels' dtype has not is no label.
  const ValueId ignored = number ? r.op(OpCode::op_eq, {labels, r.to().scalar(label_type, *number)}) : ir::no_value;
  const ValueId safe =
      number ? r.op(OpCode::op_select, {ignored, r.to().scalar(label_type, uint64_t{0}), labels}) : labels;

  const ValueId x = w.in(scores);
  const ValueId most = r.op(OpCode::op_reduce_max, {x}, {axes({axis}), keep()});
  const ValueId e = r.op(OpCode::op_exp, {r.op(OpCode::op_sub, {x, most})});
  const ValueId log = r.op(OpCode::op_log, {r.op(OpCode::op_reduce_sum, {e}, {axes({axis}), keep()})});
  // A label below 0 is no class: unsigned it is beyond them all, where take_along_axis would count from the end.
  const ValueId classes =
      cast(r, with_dim(r, safe, static_cast<size_t>(axis)), ir::is_signed(label_type) ? DType::u64 : label_type);
  const ValueId picked = w.in(r.op(OpCode::op_take_along_axis, {scores, classes}, {{"axis", Attr::of_int(axis)}}));
  ValueId loss = r.op(OpCode::op_sub, {log, r.op(OpCode::op_sub, {picked, most})});
  loss = r.op(OpCode::op_reshape, {loss}, {shape_of(r.to().value(labels).shape)});
  if (number) loss = r.op(OpCode::op_select, {ignored, zero, loss});
  const std::string& reduction = attr(op, "reduction").s;
  if (reduction == "none") return w.out(loss);
  std::vector<int64_t> all;
  for (size_t d = 0; d < r.to().value(labels).shape.size(); ++d) all.push_back(static_cast<int64_t>(d));
  const ValueId sum = reduced(r, OpCode::op_reduce_sum, loss, all, false);
  if (reduction == "sum") return w.out(sum);
  return w.out(r.op(OpCode::op_div, {sum, counted(r, labels, ignored, all, w.inside())}));
}

}  // namespace

std::span<const Decomposition> indexed_decompositions() {
  static constexpr Decomposition table[] = {
      {OpCode::op_one_hot, single<one_hot>},
      {OpCode::op_cross_entropy, single<cross_entropy>},
  };
  return table;
}

}  // namespace ingot::pass
