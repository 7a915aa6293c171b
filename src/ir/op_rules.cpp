#include "ir/op_rules.h"

#include <algorithm>

#include "ir/counted.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

// What a message calls the dtypes of a set.
std::string_view expected(TypeSet set) {
  switch (set) {
    case TypeSet::num: return "an integer or float dtype";
    case TypeSet::flt: return "f16, bf16, f32 or f64";
    case TypeSet::any: return "any dtype";
    case TypeSet::boo: return "bool";
    case TypeSet::bit: return "bool or an integer dtype";
    case TypeSet::itg: return "an integer dtype";
    case TypeSet::sgn: return "a signed integer or float dtype";
    case TypeSet::qnt: return "i8 or u8";
    case TypeSet::key: return "i64 or u64";
    case TypeSet::byt: return "u8";
  }
  return "";
}

// All operands' shapes broadcast together.
std::vector<DimId> broadcast_shapes(Inference& op) {
  std::vector<DimId> shape = op.value(0).shape;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const std::vector<DimId>& other = op.value(i).shape;
    if (other == shape) continue;
    if (other.size() > shape.size()) shape.insert(shape.begin(), other.size() - shape.size(), op.dims.constant(1));
    const size_t skip = shape.size() - other.size();
    for (size_t d = 0; d < other.size(); ++d) {
      // Which earlier operand a clash is with matters only to the message; the first one serves.
      shape[skip + d] = broadcast_extent(op, shape[skip + d], other[d], 0, i);
    }
  }
  return shape;
}

void infer_nary(Inference& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    check_set(op, i);
    check_same_dtype(op, i, 0);
  }
  op.results.push_back({op.value(0).dtype, broadcast_shapes(op)});
}

void infer_compare(Inference& op) {
  infer_nary(op);
  check_computed(op);
  op.results[0].dtype = DType::boolean;
}

void infer_select(Inference& op) {
  if (op.value(0).dtype != DType::boolean) {
    fail(Code::invalid_argument, op.where(0), " has dtype ", name(op.value(0).dtype), ", expected bool, the condition");
  }
  check_set(op, 1);
  check_same_dtype(op, 2, 1);
  op.results.push_back({op.value(1).dtype, broadcast_shapes(op)});
}

void infer_ldexp(Inference& op) {
  check_set(op, 0);
  if (op.value(1).dtype != DType::i32)
    fail(Code::invalid_argument, op.where(1), " has dtype ", name(op.value(1).dtype), ", expected i32, the exponent");
  op.results.push_back({op.value(0).dtype, broadcast_shapes(op)});
}

void infer_bitcast(Inference& op) {
  const DType from = op.value(0).dtype, to = static_cast<DType>(op.attr("to").i);
  if (from == DType::boolean || to == DType::boolean)
    fail(Code::invalid_argument, op.where(0), ": a bool is no bit pattern; compare or cast it");
  if (item_size(from) != item_size(to))
    op.reject("attribute to is ", name(to), " of ", item_size(to), " bytes, but ", op.graph.describe(op.operands[0]),
              " has items of ", item_size(from));
  op.results.push_back({to, op.value(0).shape});
}

void infer_frexp(Inference& op) {
  check_set(op, 0);
  op.results.push_back({op.value(0).dtype, op.value(0).shape});
  op.results.push_back({DType::i32, op.value(0).shape});
}

void infer_softmax(Inference& op) {
  check_set(op, 0);
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, op.value(0).shape.size(), "axis");
  op.results.push_back({op.value(0).dtype, op.value(0).shape});
}

// Scale and bias broadcast onto the normalised dims, as ONNX has it, but not the other way.
void infer_norm(Inference& op) {
  const std::vector<DimId>& shape = op.value(0).shape;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    check_set(op, i);
    check_same_dtype(op, i, 0);
  }
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, shape.size(), "axis");
  const size_t normalised = shape.size() - static_cast<size_t>(axis.i);
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const std::vector<DimId>& other = op.value(i).shape;
    if (other.size() > normalised) {
      fail(Code::invalid_argument, op.where(i), " has rank ", other.size(), ", expected at most ", normalised,
           ", the number of normalised dims");
    }
    for (size_t d = 0; d < other.size(); ++d) {
      if (op.dims.is_constant(other[d], 1)) continue;
      op.require_equal(shape[shape.size() - other.size() + d], other[d],
                       "the normalised extents and those of the parameter", 0, i);
    }
  }
  op.results.push_back({op.value(0).dtype, shape});
}

void check_values(Inference& op) {
  if (op.info.code == OpCode::op_hardtanh && op.attrs[0].f > op.attrs[1].f)
    op.reject("attribute low is ", op.attrs[0].f, ", above high, ", op.attrs[1].f);
  if (op.info.code == OpCode::op_gelu) {
    const std::string& form = op.attr("approximate").s;
    if (form != "none" && form != "tanh")
      op.reject("attribute approximate is \"", shortened(form), "\", expected \"none\" or \"tanh\"");
  }
  if (op.info.code == OpCode::op_reduce_var || op.info.code == OpCode::op_reduce_std) {
    const int64_t ddof = op.attr("ddof").i;
    if (ddof < 0) op.reject("attribute ddof is ", ddof, ", expected 0 or more");
  }
}

}  // namespace

void check_set(const Inference& op, size_t operand) {
  const DType type = op.value(operand).dtype;
  if (in_set(op.info.types, type)) return;
  fail(Code::invalid_argument, op.where(operand), " has dtype ", name(type), ", expected ", expected(op.info.types),
       is_storage_only(type) ? "; fp8 is for storage, cast it first" : "");
}

bool is_storage_only(DType type) noexcept { return type == DType::f8e4m3 || type == DType::f8e5m2; }

void check_computed(const Inference& op) {
  if (!is_storage_only(op.value(0).dtype)) return;
  fail(Code::invalid_argument, op.where(0), " has dtype ", name(op.value(0).dtype),
       "; fp8 is for storage, cast it first");
}

DType made_dtype(Inference& op) {
  const auto type = static_cast<DType>(op.attr("dtype").i);
  if (is_storage_only(type)) op.reject("attribute dtype: ", name(type), " is for storage only");
  return type;
}

void check_same_dtype(const Inference& op, size_t operand, size_t model) {
  if (op.value(operand).dtype == op.value(model).dtype) return;
  fail(Code::invalid_argument, op.where(operand), " has dtype ", name(op.value(operand).dtype), ", expected ",
       name(op.value(model).dtype), " as operand ", model);
}

void infer_reduce(Inference& op) {
  check_set(op, 0);
  const std::vector<DimId>& shape = op.value(0).shape;
  Attr& axes = op.attr("axes");
  normalise_axes(op, axes, shape.size());
  const bool keep = op.attr("keepdims").i != 0;
  std::vector<DimId> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool reduced = std::ranges::find(axes.ints, static_cast<int64_t>(d)) != axes.ints.end();
    if (!reduced) result.push_back(shape[d]);
    else if (keep) result.push_back(op.dims.constant(1));
  }
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

std::vector<DimId> as_dims(const Attr& attr) { return {attr.ints.begin(), attr.ints.end()}; }

void check_count(const Inference& op, const Attr& attr, std::string_view name) {
  const size_t rank = op.value(0).shape.size();
  if (attr.ints.size() == rank) return;
  op.reject("attribute ", name, " has ", counted(attr.ints.size(), "entry", "entries"), ", expected ", rank,
            ", one per dim of ", op.graph.describe(op.operands[0]));
}

std::string Inference::where(size_t operand) const {
  return cat(info.name, ": operand ", operand, " (", graph.describe(operands[operand]), ")");
}

void Inference::require_equal(DimId a, DimId b, std::string_view what, size_t x, size_t y) {
  if (dims.known_equal(a, b)) return;
  const Bounds p = dims.bounds(a), q = dims.bounds(b);
  const std::string whose = graph.describe(operands[x]) + (x == y ? "" : ", " + graph.describe(operands[y]));
  if (std::max(p.lo, q.lo) > std::min(p.hi, q.hi))
    reject(what, " differ: ", dims.to_string(a), " and ", dims.to_string(b), " (", whose, ")");
  facts.push_back({Need::equal, a, b, cat(what, ": ", whose)});
}

void Inference::require_extent(DimId d, std::string_view what) {
  const Bounds b = dims.bounds(d);
  if (b.hi < 0) reject(what, " is ", dims.to_string(d), ", which is negative");
  if (b.lo < 0) facts.push_back({Need::nonnegative, d, d, std::string(what)});
}

int64_t normal_axis(const Inference& op, int64_t axis, size_t rank, std::string_view attribute) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) {
    if (r == 0)
      op.reject("attribute ", attribute, " is ", axis, ", but ", op.graph.describe(op.operands[0]), " has no dims");
    op.reject("attribute ", attribute, ": ", axis, " is not an axis of rank ", rank, ", expected ", -r, " to ", r - 1);
  }
  return axis < 0 ? axis + r : axis;
}

void normalise_axes(Inference& op, Attr& axes, size_t rank) {
  if (axes.i == every_axis) {
    axes.i = 0;
    for (size_t d = 0; d < rank; ++d) axes.ints.push_back(static_cast<int64_t>(d));
    return;
  }
  for (int64_t& a : axes.ints) a = normal_axis(op, a, rank, "axes");
  std::ranges::sort(axes.ints);
  const auto twice = std::ranges::adjacent_find(axes.ints);
  if (twice != axes.ints.end()) op.reject("attribute axes names axis ", *twice, " twice");
}

void require_some(Inference& op, size_t d, std::string_view needed) {
  op.require_extent(
      op.dims.sub(op.value(0).shape[d], op.dims.constant(1)),
      cat("the extent of axis ", d, " of ", op.graph.describe(op.operands[0]), ", less the ", needed, ","));
}

DimId broadcast_extent(const Inference& op, DimId a, DimId b, size_t operand_a, size_t operand_b) {
  if (a == b) return a;
  try {
    return op.dims.broadcast(a, b, op.asked_by);
  } catch (const Error& e) {
    // One operand against the attribute that names the result's shape.
    if (operand_a == operand_b)
      op.reject("attribute shape does not fit ", op.graph.describe(op.operands[operand_a]), ": ", e.message());
    fail(Code::invalid_argument, op.where(operand_b), " does not broadcast with operand ", operand_a, " (",
         op.graph.describe(op.operands[operand_a]), "): ", e.message());
  }
}

void check_shape(const DimTable& dims, DType dtype, std::span<const DimId> shape, std::string_view what) {
  if (shape.size() > max_rank) {
    fail(Code::invalid_argument, what, ": rank ", shape.size(), " is over the limit of ", max_rank);
  }
  // Zero extents count as 1, as in NumPy: strides of the other dims must not overflow either.
  bool empty = false, fits = true;
  int64_t bytes = static_cast<int64_t>(item_size(dtype));
  for (const DimId d : shape) {
    const auto extent = dims.as_constant(d);
    if (!extent) continue;
    if (*extent < 0) fail(Code::invalid_argument, what, ": extent ", *extent, " is negative");
    empty = empty || *extent == 0;
    fits = fits && (*extent <= 1 || !__builtin_mul_overflow(bytes, *extent, &bytes));
  }
  if (!fits) {
    fail(Code::invalid_argument, what, ": the size of ", type_text(dims, dtype, shape), " overflows 63 bits",
         empty ? ", its extent of 0 counted as 1" : "");
  }
}

std::string type_text(const DimTable& dims, DType dtype, std::span<const DimId> shape) {
  std::string out(name(dtype));
  out += '[';
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d) out += ", ";
    out += dims.to_string(shape[d]);
  }
  return out + ']';
}

DType literal_dtype(const Graph& graph, const OpInfo& info, std::span<const ValueId> operands,
                    const std::vector<bool>& literal, size_t operand, DType result) {
  const bool select = info.rule == Rule::select;
  if (select && operand == 0) return DType::boolean;
  if (info.rule == Rule::random) return DType::u64;
  if (info.rule == Rule::bernoulli) return operand == 0 ? DType::u64 : DType::f32;
  if (info.rule == Rule::dropout && operand == 1) return DType::u64;
  if (info.rule == Rule::ldexp) return operand == 1 ? DType::i32 : DType::invalid;
  if (operand == 1 && has_indices(info)) return DType::i64;
  if (operand == 2 && info.rule == Rule::quantize) return result;
  for (size_t i = select; i < literal.size(); ++i)
    if (!literal[i]) return graph.value(operands[i]).dtype;
  return DType::invalid;
}

void infer(Inference& op) {
  const OpInfo& info = op.info;
  if (op.operands.size() < info.min_operands || op.operands.size() > info.max_operands) {
    // Other languages call the reductions so.
    if (op.operands.size() == 1 && (info.code == OpCode::op_max || info.code == OpCode::op_min))
      op.reject("takes 2 operands, not 1; over the dims of one operand it is reduce_", info.name);
    if (info.min_operands == info.max_operands)
      op.reject("takes ", counted(info.min_operands, "operand"), ", not ", op.operands.size());
    op.reject("takes ", info.min_operands, " to ", counted(info.max_operands, "operand"), ", not ", op.operands.size());
  }
  check_values(op);
  switch (info.rule) {
    case Rule::unary:
    case Rule::nary: infer_nary(op); break;
    case Rule::compare: infer_compare(op); break;
    case Rule::select: infer_select(op); break;
    case Rule::cast:
      check_set(op, 0);
      op.results.push_back({static_cast<DType>(op.attr("to").i), op.value(0).shape});
      break;
    case Rule::iota: infer_iota(op); break;
    case Rule::reshape: infer_reshape(op); break;
    case Rule::transpose: infer_transpose(op); break;
    case Rule::broadcast: infer_broadcast(op); break;
    case Rule::slice: infer_slice(op); break;
    case Rule::pad: infer_pad(op); break;
    case Rule::concat: infer_concat(op); break;
    case Rule::reverse: infer_reverse(op); break;
    case Rule::dim: infer_dim(op); break;
    case Rule::reduce: infer_reduce(op); break;
    case Rule::matmul: infer_matmul(op); break;
    case Rule::dot_general: infer_dot_general(op); break;
    case Rule::softmax: infer_softmax(op); break;
    case Rule::norm: infer_norm(op); break;
    case Rule::test:
      infer_nary(op);
      op.results[0].dtype = DType::boolean;
      break;
    case Rule::ldexp: infer_ldexp(op); break;
    case Rule::bitcast: infer_bitcast(op); break;
    case Rule::frexp: infer_frexp(op); break;
    case Rule::squeeze: infer_squeeze(op); break;
    case Rule::expand_dims: infer_expand_dims(op); break;
    case Rule::stack: infer_stack(op); break;
    case Rule::split: infer_split(op); break;
    case Rule::roll: infer_roll(op); break;
    case Rule::tile: infer_tile(op); break;
    case Rule::repeat: infer_repeat(op); break;
    case Rule::diagonal: infer_diagonal(op); break;
    case Rule::tri: infer_tri(op); break;
    case Rule::eye: infer_eye(op); break;
    case Rule::count: infer_count(op); break;
    case Rule::argument: infer_argument(op); break;
    case Rule::channel_norm: infer_channel_norm(op); break;
    case Rule::batch_norm: infer_batch_norm(op); break;
    case Rule::quantize: infer_quantize(op); break;
    case Rule::dequantize: infer_dequantize(op); break;
    case Rule::rope: infer_rope(op); break;
    case Rule::attention: infer_attention(op); break;
    case Rule::scan: infer_softmax(op); break;
    case Rule::dropout: infer_dropout(op); break;
    case Rule::unpack_bits: infer_unpack_bits(op); break;
    case Rule::random: infer_random(op); break;
    case Rule::bernoulli: infer_bernoulli(op); break;
    case Rule::cross_entropy: infer_cross_entropy(op); break;
    case Rule::gather: infer_gather(op); break;
    case Rule::take_along: infer_take_along(op); break;
    case Rule::gather_nd: infer_gather_nd(op); break;
    case Rule::one_hot: infer_one_hot(op); break;
    case Rule::scatter: infer_scatter(op); break;
    case Rule::searchsorted: infer_searchsorted(op); break;
  }
  for (const ResultType& r : op.results) check_shape(op.dims, r.dtype, r.shape, info.name);
}

}  // namespace ingot::ir
