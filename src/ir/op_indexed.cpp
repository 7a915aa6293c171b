// Rules of the ops that find elements by integers of another operand.
#include "ir/counted.h"
#include "ir/op_rules.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

void check_integers(const Inference& op, size_t operand, std::string_view role) {
  const DType type = op.value(operand).dtype;
  if (is_integer(type)) return;
  fail(Code::invalid_argument, op.where(operand), " has dtype ", name(type), ", expected an integer dtype, ", role);
}

void check_rank(const Inference& op, size_t operand, size_t wanted, std::string_view as) {
  const size_t rank = op.value(operand).shape.size();
  if (rank == wanted) return;
  fail(Code::invalid_argument, op.where(operand), " has rank ", rank, ", expected ", wanted, ", ", as);
}

// Data, indices, and the axis that they index.
size_t check_indexed(Inference& op) {
  check_set(op, 0);
  check_integers(op, 1, "the indices");
  Attr& axis = op.attr("axis");
  axis.i = normal_axis(op, axis.i, op.value(0).shape.size(), "axis");
  return static_cast<size_t>(axis.i);
}

// An attribute that is one of a few words.
void check_word(const Inference& op, std::string_view attribute, std::string_view value,
                std::initializer_list<std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    if (value == word) return;
    list += cat(list.empty() ? "\"" : ", \"", word, "\"");
  }
  op.reject("attribute ", attribute, " is \"", shortened(value), "\", expected one of ", list);
}

}  // namespace

bool has_indices(const OpInfo& info) noexcept {
  return info.rule == Rule::gather || info.rule == Rule::take_along || info.rule == Rule::gather_nd ||
         info.rule == Rule::scatter || info.rule == Rule::cross_entropy;
}

void infer_gather(Inference& op) {
  const size_t axis = check_indexed(op);
  std::vector<DimId> shape = op.value(0).shape;
  const std::vector<DimId>& indices = op.value(1).shape;
  const auto at = shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  shape.insert(at, indices.begin(), indices.end());
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_take_along(Inference& op) {
  const size_t axis = check_indexed(op);
  const std::vector<DimId>& data = op.value(0).shape;
  check_rank(op, 1, data.size(), "that of operand 0");
  std::vector<DimId> shape = op.value(1).shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != axis) shape[d] = broadcast_extent(op, data[d], shape[d], 0, 1);
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_gather_nd(Inference& op) {
  check_set(op, 0);
  check_integers(op, 1, "the indices");
  const std::vector<DimId>& data = op.value(0).shape;
  std::vector<DimId> shape = op.value(1).shape;
  if (shape.empty())
    fail(Code::invalid_argument, op.where(1), " has rank 0, expected 1 or more: its last dim holds an index per dim");
  const int64_t batch_dims = op.attr("batch_dims").i;
  if (batch_dims < 0 || batch_dims >= static_cast<int64_t>(std::min(data.size() + 1, shape.size())))
    op.reject("attribute batch_dims is ", batch_dims, ", expected 0 to ", std::min(data.size() + 1, shape.size()) - 1);
  const auto batch = static_cast<size_t>(batch_dims);
  const auto picked = op.dims.as_constant(shape.back());
  if (!picked)
    op.reject(op.graph.describe(op.operands[1]), " has ", op.dims.to_string(shape.back()),
              " indices in its last dim, expected a constant: as many dims are indexed");
  if (*picked < 1 || *picked > static_cast<int64_t>(data.size() - batch))
    op.reject(op.graph.describe(op.operands[1]), " has ", counted(static_cast<size_t>(*picked), "index", "indices"),
              " in its last dim, expected 1 to ", data.size() - batch, ", the dims of ",
              op.graph.describe(op.operands[0]), batch ? " behind batch_dims" : "");
  for (size_t d = 0; d < batch; ++d) op.require_equal(data[d], shape[d], "the extents of a batch dim", 0, 1);
  shape.pop_back();
  shape.insert(shape.end(), data.begin() + static_cast<ptrdiff_t>(batch) + *picked, data.end());
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

void infer_one_hot(Inference& op) {
  check_set(op, 0);
  const DType type = made_dtype(op);
  const DimId depth = static_cast<DimId>(op.attr("depth").i);
  op.require_extent(depth, "attribute depth");
  std::vector<DimId> shape = op.value(0).shape;
  Attr& axis = op.attr("axis");
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  if (axis.i < -rank || axis.i >= rank)
    op.reject("attribute axis: ", axis.i, " is not an axis of the result, whose rank is ", rank);
  if (axis.i < 0) axis.i += rank;
  shape.insert(shape.begin() + axis.i, depth);
  op.results.push_back({type, std::move(shape)});
}

void infer_scatter(Inference& op) {
  const size_t axis = check_indexed(op);
  const std::vector<DimId>& data = op.value(0).shape;
  const std::vector<DimId>& indices = op.value(1).shape;
  check_rank(op, 1, data.size(), "that of operand 0");
  check_rank(op, 2, data.size(), "that of operand 0");
  check_same_dtype(op, 2, 0);
  for (size_t d = 0; d < data.size(); ++d) {
    op.require_equal(indices[d], op.value(2).shape[d], "the extents of the indices and of the updates", 1, 2);
    if (d == axis || op.dims.known_equal(data[d], indices[d])) continue;
    op.require_extent(op.dims.sub(data[d], indices[d]),
                      cat("what dim ", d, " of ", op.graph.describe(op.operands[0]), " has beyond the indices"));
  }
  op.results.push_back({op.value(0).dtype, data});
}

void infer_searchsorted(Inference& op) {
  check_set(op, 0);
  check_same_dtype(op, 1, 0);
  const std::vector<DimId>& sorted = op.value(0).shape;
  const std::vector<DimId>& values = op.value(1).shape;
  if (sorted.empty()) fail(Code::invalid_argument, op.where(0), " has rank 0, expected 1 or more");
  if (sorted.size() > 1) {
    check_rank(op, 1, sorted.size(), "that of operand 0");
    for (size_t d = 0; d + 1 < sorted.size(); ++d)
      op.require_equal(sorted[d], values[d], "the leading extents of the sorted data and of the values", 0, 1);
  }
  check_word(op, "side", op.attr("side").s, {"left", "right"});
  op.results.push_back({DType::i64, values});
}

void infer_cross_entropy(Inference& op) {
  const size_t axis = check_indexed(op);
  check_word(op, "reduction", op.attr("reduction").s, {"none", "mean", "sum"});
  std::vector<DimId> shape = op.value(0).shape;
  if (op.dims.bounds(shape[axis]).hi == 0)
    op.reject(op.graph.describe(op.operands[0]), " has no class along axis ", axis, ": no label is one");
  require_some(op, axis, "one class that a label is of");
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  const std::vector<DimId>& labels = op.value(1).shape;
  check_rank(op, 1, shape.size(), "that of operand 0 without the dim of classes");
  for (size_t d = 0; d < shape.size(); ++d)
    op.require_equal(shape[d], labels[d], "the extents of the scores and of the labels", 0, 1);
  if (op.attr("reduction").s != "none") shape.clear();
  op.results.push_back({op.value(0).dtype, std::move(shape)});
}

}  // namespace ingot::ir
