// Rules of contractions and of attention, which is made of two.
#include <algorithm>

#include "ir/op_rules.h"

namespace ingot::ir {

namespace {

// The leading dims of two operands with `tail` dims of their own behind them, broadcast.
std::vector<DimId> batch_of(Inference& op, size_t x, size_t y, size_t tail) {
  const std::vector<DimId>&a = op.value(x).shape, &b = op.value(y).shape;
  const size_t batch_a = a.size() < tail ? 0 : a.size() - tail, batch_b = b.size() < tail ? 0 : b.size() - tail;
  const size_t batch = std::max(batch_a, batch_b);
  std::vector<DimId> result;
  for (size_t d = 0; d < batch; ++d) {
    const bool has_a = d + batch_a >= batch, has_b = d + batch_b >= batch;
    if (has_a && has_b) result.push_back(broadcast_extent(op, a[d + batch_a - batch], b[d + batch_b - batch], x, y));
    else result.push_back(has_a ? a[d + batch_a - batch] : b[d + batch_b - batch]);
  }
  return result;
}

// Brings a list of dims of an operand to normal form and marks them in `role`; refuses one that has a role already.
void take_dims(Inference& op, size_t operand, std::string_view attribute, char mark, std::vector<char>& role) {
  for (int64_t& axis : op.attr(attribute).ints) {
    const auto rank = static_cast<int64_t>(role.size());
    if (axis < -rank || axis >= rank)
      op.reject("attribute ", attribute, ": ", axis, " is not an axis of ", op.graph.describe(op.operands[operand]));
    axis += axis < 0 ? rank : 0;
    char& taken = role[static_cast<size_t>(axis)];
    if (taken) op.reject("attribute ", attribute, ": axis ", axis, " of operand ", operand, " is named twice");
    taken = mark;
  }
}

}  // namespace

void infer_matmul(Inference& op) {
  for (size_t i = 0; i < 2; ++i) {
    check_set(op, i);
    check_same_dtype(op, i, 0);
    if (op.value(i).shape.empty()) fail(Code::invalid_argument, op.where(i), " has rank 0, expected 1 or more");
  }
  const std::vector<DimId>&a = op.value(0).shape, &b = op.value(1).shape;
  const DimId k_a = a.back(), k_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  op.require_equal(k_a, k_b, "the inner extents", 0, 1);
  std::vector<DimId> result = batch_of(op, 0, 1, 2);
  if (a.size() > 1) result.push_back(a[a.size() - 2]);
  if (b.size() > 1) result.push_back(b.back());
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

void infer_dot_general(Inference& op) {
  std::vector<char> role[2];
  for (size_t i = 0; i < 2; ++i) {
    check_set(op, i);
    check_same_dtype(op, i, 0);
    role[i].resize(op.value(i).shape.size());
    take_dims(op, i, i == 0 ? "lhs_batch" : "rhs_batch", 'b', role[i]);
    take_dims(op, i, i == 0 ? "lhs_contract" : "rhs_contract", 'k', role[i]);
  }
  std::vector<DimId> result;
  for (const char* kind : {"batch", "contract"}) {
    const std::vector<int64_t>&l = op.attr(cat("lhs_", kind)).ints, &r = op.attr(cat("rhs_", kind)).ints;
    if (l.size() != r.size()) {
      op.reject("attributes lhs_", kind, " and rhs_", kind, " have ", l.size(), " and ", r.size(),
                " entries, expected as many");
    }
    for (size_t i = 0; i < l.size(); ++i) {
      const DimId a = op.value(0).shape[static_cast<size_t>(l[i])], b = op.value(1).shape[static_cast<size_t>(r[i])];
      op.require_equal(a, b, cat("the extents of axes ", l[i], " and ", r[i]), 0, 1);
      if (kind[0] == 'b') result.push_back(a);
    }
  }
  for (size_t i = 0; i < 2; ++i)
    for (size_t d = 0; d < role[i].size(); ++d)
      if (!role[i][d]) result.push_back(op.value(i).shape[d]);
  const size_t summed = op.attr("lhs_contract").ints.size();
  if (result.size() + summed > max_rank)
    op.reject("has ", result.size(), " result dims and sums over ", summed, ", together over ", max_rank);
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

void infer_attention(Inference& op) {
  for (size_t i = 0; i < 3; ++i) {
    check_set(op, i);
    check_same_dtype(op, i, 0);
    if (op.value(i).shape.size() < 2)
      fail(Code::invalid_argument, op.where(i), " has rank ", op.value(i).shape.size(), ", expected 2 or more");
  }
  const std::vector<DimId>&q = op.value(0).shape, &k = op.value(1).shape, &v = op.value(2).shape;
  op.require_equal(q.back(), k.back(), "the last extents of q and k", 0, 1);
  op.require_equal(k[k.size() - 2], v[v.size() - 2], "the numbers of keys and of values", 1, 2);
  const std::vector<DimId> over_keys = batch_of(op, 0, 1, 2);
  std::vector<DimId> result = batch_of(op, 0, 2, 2);
  // Broadcast of all three: the one of q and k against that of q and v.
  const size_t batch = std::max(over_keys.size(), result.size());
  while (result.size() < batch) result.insert(result.begin(), over_keys[over_keys.size() - result.size() - 1]);
  for (size_t d = 0; d < over_keys.size(); ++d) {
    DimId& extent = result[batch - over_keys.size() + d];
    extent = broadcast_extent(op, extent, over_keys[d], 1, 2);
  }
  if (op.operands.size() > 3) {
    const DType dtype = op.value(3).dtype;
    if (dtype != DType::boolean && dtype != op.value(0).dtype) {
      fail(Code::invalid_argument, op.where(3), " has dtype ", name(dtype), ", expected bool or ",
           name(op.value(0).dtype));
    }
    std::vector<DimId> seen = result;
    seen.push_back(q[q.size() - 2]);
    seen.push_back(k[k.size() - 2]);
    const std::vector<DimId>& mask = op.value(3).shape;
    if (mask.size() > seen.size()) {
      fail(Code::invalid_argument, op.where(3), " has rank ", mask.size(), ", expected at most ", seen.size(),
           ", that of the products of queries and keys");
    }
    for (size_t d = 0; d < mask.size(); ++d) {
      if (op.dims.is_constant(mask[d], 1)) continue;
      op.require_equal(seen[seen.size() - mask.size() + d], mask[d],
                       "the extents of the products of queries and keys and those of the mask", 0, 3);
    }
  }
  result.push_back(q[q.size() - 2]);
  result.push_back(v.back());
  op.results.push_back({op.value(0).dtype, std::move(result)});
}

}  // namespace ingot::ir
