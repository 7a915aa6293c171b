#include "contractions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "composites.h"
#include "folds.h"
#include "index.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpCode;

uint64_t number(DType type, double v) { return type == DType::f32 ? to_bits(static_cast<float>(v)) : to_bits(v); }

bool holds(const std::vector<int64_t>& list, size_t d) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
}

// The element at [batch..., row, col] of an array whose leading dims broadcast.
uint64_t at(const Array& x, const Index& batch, int64_t row, int64_t col) {
  Index index = batch;
  index.push_back(row);
  index.push_back(col);
  return broadcast_at(x, index);
}

}  // namespace

void dot_general(const ir::Op& op, const Array& a, const Array& b, Array& out) {
  const auto &lb = attr(op, "lhs_batch").ints, &rb = attr(op, "rhs_batch").ints;
  // Pairs in the order of the first operand's dims, which is that of k.
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < attr(op, "lhs_contract").ints.size(); ++i)
    pairs.emplace_back(attr(op, "lhs_contract").ints[i], attr(op, "rhs_contract").ints[i]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<int64_t> extents, lk, rk;
  for (const auto& [l, r] : pairs) {
    extents.push_back(a.shape[l]);
    lk.push_back(static_cast<int64_t>(l));
    rk.push_back(static_cast<int64_t>(r));
  }
  size_t n = 0;
  each_index(out.shape, [&](const Index& index) {
    Index from_a(a.shape.size()), from_b(b.shape.size());
    size_t next = 0;
    for (; next < lb.size(); ++next)
      from_a[static_cast<size_t>(lb[next])] = from_b[static_cast<size_t>(rb[next])] = index[next];
    for (size_t d = 0; d < from_a.size(); ++d)
      if (!holds(lb, d) && !holds(lk, d)) from_a[d] = index[next++];
    for (size_t d = 0; d < from_b.size(); ++d)
      if (!holds(rb, d) && !holds(rk, d)) from_b[d] = index[next++];
    std::vector<uint64_t> u, v;
    each_index(extents, [&](const Index& k) {
      for (size_t i = 0; i < pairs.size(); ++i) from_a[pairs[i].first] = from_b[pairs[i].second] = k[i];
      u.push_back(a.bits[static_cast<size_t>(linear(a.shape, from_a))]);
      v.push_back(b.bits[static_cast<size_t>(linear(b.shape, from_b))]);
    });
    out.bits[n++] = dot(a.dtype, u, v);
  });
}

void attention(const ir::Op& op, std::span<const Array* const> operands, Array& out) {
  const Array &q = *operands[0], &k = *operands[1], &v = *operands[2];
  const DType type = q.dtype;
  const int64_t depth = q.shape.back(), keys = k.shape[k.shape.size() - 2], given = depth;
  const auto root = compute(OpCode::op_sqrt, type, number(type, static_cast<double>(given)));
  const double stated = attr(op, "scale").f;
  const uint64_t scale = stated == 0 ? compute(OpCode::op_div, type, number(type, 1), root) : number(type, stated);
  const uint64_t unseen = number(type, -std::numeric_limits<double>::infinity()), zero = number(type, 0);
  size_t n = 0;
  each_index(out.shape, [&](const Index& index) {
    const Index batch(index.begin(), index.end() - 2);
    const int64_t row = index[index.size() - 2];
    std::vector<uint64_t> s, e, column;
    for (int64_t j = 0; j < keys; ++j) {
      std::vector<uint64_t> x, y;
      for (int64_t d = 0; d < depth; ++d) {
        x.push_back(at(q, batch, row, d));
        y.push_back(at(k, batch, j, d));
      }
      uint64_t p = compute(OpCode::op_mul, type, dot(type, x, y), scale);
      if (operands.size() > 3) {
        const uint64_t m = at(*operands[3], batch, row, j);
        if (operands[3]->dtype == DType::boolean) p = m ? p : unseen;
        else p = compute(OpCode::op_add, type, p, m);
      }
      if (attr(op, "causal").i != 0 && j > row) p = unseen;
      s.push_back(p);
    }
    const uint64_t most = fold(OpCode::op_reduce_max, type, s);
    for (int64_t j = 0; j < keys; ++j) {
      const uint64_t from = most == unseen ? zero : most;
      e.push_back(compute(OpCode::op_exp, type, compute(OpCode::op_sub, type, s[static_cast<size_t>(j)], from)));
      column.push_back(at(v, batch, j, index.back()));
    }
    const uint64_t sum = fold(OpCode::op_reduce_sum, type, e);
    out.bits[n++] = sum == zero ? zero : compute(OpCode::op_div, type, dot(type, e, column), sum);
  });
}

}  // namespace ingot::oracle
