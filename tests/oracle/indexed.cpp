#include "indexed.h"

#include "composites.h"
#include "folds.h"
#include "index.h"
#include "narrow.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpCode;

__extension__ using Wide = __int128;

// An index of any integer dtype.
Wide number_of(const Array& indices, size_t at) {
  return with_type(indices.dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T>) return static_cast<Wide>(from_bits<T>(indices.bits[at]));
    else return Wide{0};
  });
}

// Counted from the end if negative.
int64_t place(const Array& indices, size_t at, int64_t extent) {
  Wide i = number_of(indices, at);
  if (i < 0) i += extent;
  if (i < 0 || i >= extent) fail(Code::out_of_range, "an index of the oracle's");
  return static_cast<int64_t>(i);
}

size_t at(const Array& x, const Index& index) { return static_cast<size_t>(linear(x.shape, index)); }

void gather(const ir::Op& op, const Array& data, const Array& indices, Array& out) {
  const auto axis = static_cast<ptrdiff_t>(attr(op, "axis").i);
  const auto rank = static_cast<ptrdiff_t>(indices.shape.size());
  size_t n = 0;
  each_index(out.shape, [&](const Index& index) {
    const Index which(index.begin() + axis, index.begin() + axis + rank);
    Index from(index.begin(), index.begin() + axis);
    from.push_back(place(indices, at(indices, which), data.shape[static_cast<size_t>(axis)]));
    from.insert(from.end(), index.begin() + axis + rank, index.end());
    out.bits[n++] = data.bits[at(data, from)];
  });
}

void take_along(const ir::Op& op, const Array& data, const Array& indices, Array& out) {
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  size_t n = 0;
  each_index(out.shape, [&](const Index& index) {
    Index which = index, from = index;
    for (size_t d = 0; d < index.size(); ++d) {
      if (indices.shape[d] == 1) which[d] = 0;
      if (data.shape[d] == 1) from[d] = 0;
    }
    from[axis] = place(indices, at(indices, which), data.shape[axis]);
    out.bits[n++] = data.bits[at(data, from)];
  });
}

void gather_nd(const ir::Op& op, const Array& data, const Array& indices, Array& out) {
  const auto batch = static_cast<size_t>(attr(op, "batch_dims").i);
  const size_t lead = indices.shape.size() - 1;
  const int64_t count = indices.shape.back();
  size_t n = 0;
  each_index(out.shape, [&](const Index& index) {
    Index which(index.begin(), index.begin() + static_cast<ptrdiff_t>(lead));
    Index from(index.begin(), index.begin() + static_cast<ptrdiff_t>(batch));
    which.push_back(0);
    for (int64_t i = 0; i < count; ++i) {
      which.back() = i;
      from.push_back(place(indices, at(indices, which), data.shape[batch + static_cast<size_t>(i)]));
    }
    from.insert(from.end(), index.begin() + static_cast<ptrdiff_t>(lead), index.end());
    out.bits[n++] = data.bits[at(data, from)];
  });
}

// ONNX: -depth to depth - 1 set a 1, everything else sets none.
void one_hot(const ir::Op& op, const Array& indices, Array& out) {
  const auto axis = static_cast<ptrdiff_t>(attr(op, "axis").i);
  const int64_t depth = out.shape[static_cast<size_t>(axis)];
  size_t n = 0;
  each_index(out.shape, [&](const Index& index) {
    Index which = index;
    which.erase(which.begin() + axis);
    const Wide i = number_of(indices, at(indices, which));
    const int64_t own = index[static_cast<size_t>(axis)];
    out.bits[n++] = cast(out.dtype, DType::i64, i == own || i == own - depth);
  });
}

void scatter(const ir::Op& op, const Array& data, const Array& indices, const Array& updates, Array& out) {
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  out.bits = data.bits;
  size_t n = 0;
  each_index(indices.shape, [&](const Index& index) {
    Index to = index;
    to[axis] = place(indices, n, out.shape[axis]);
    uint64_t& element = out.bits[at(out, to)];
    const uint64_t update = updates.bits[n++];
    element = op.code == OpCode::op_scatter ? update : compute(OpCode::op_add, out.dtype, element, update);
  });
}

// Counts what stands before the value: NaN is behind all else.
void searchsorted(const ir::Op& op, const Array& sorted, const Array& values, Array& out) {
  const bool right = attr(op, "side").s == "right";
  const auto length = static_cast<size_t>(sorted.shape.back());
  const auto before = [&](uint64_t a, uint64_t b) {
    DType type = sorted.dtype;
    if (is_narrow(type)) {
      a = cast(DType::f32, type, a);
      b = cast(DType::f32, type, b);
      type = DType::f32;
    }
    return with_type(type, [&](auto t) {
      using T = decltype(t);
      const T x = from_bits<T>(a), y = from_bits<T>(b);
      return x < y || (x == x && y != y);
    });
  };
  const size_t per_row = sorted.shape.size() > 1 ? static_cast<size_t>(values.shape.back()) : values.bits.size();
  for (size_t i = 0; i < values.bits.size(); ++i) {
    const size_t row = i / per_row * length;
    uint64_t count = 0;
    for (size_t k = 0; k < length; ++k) {
      const uint64_t x = sorted.bits[row + k], v = values.bits[i];
      count += right ? !before(v, x) : before(x, v);
    }
    out.bits[i] = count;
  }
}

void cross_entropy(const ir::Op& op, const Array& given, const Array& labels, Array& out) {
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  Array x = given;
  if (is_narrow(x.dtype)) {
    x.dtype = DType::f32;
    for (uint64_t& v : x.bits) v = cast(DType::f32, given.dtype, v);
  }
  std::vector<uint64_t> losses;
  int64_t counting = 0;
  size_t n = 0;
  each_index(labels.shape, [&](const Index& index) {
    const size_t label_at = n++;
    if (number_of(labels, label_at) == attr(op, "ignore_index").i) {
      losses.push_back(0);
      return;
    }
    ++counting;
    std::vector<uint64_t> row, e;
    Index from = index;
    from.insert(from.begin() + static_cast<ptrdiff_t>(axis), 0);
    for (int64_t c = 0; c < x.shape[axis]; ++c) {
      from[axis] = c;
      row.push_back(x.bits[at(x, from)]);
    }
    const uint64_t most = fold(OpCode::op_reduce_max, x.dtype, row);
    const auto shifted = [&](uint64_t v) { return compute(OpCode::op_sub, x.dtype, v, most); };
    for (const uint64_t v : row) e.push_back(compute(OpCode::op_exp, x.dtype, shifted(v)));
    const uint64_t log = compute(OpCode::op_log, x.dtype, fold(OpCode::op_reduce_sum, x.dtype, e));
    const uint64_t picked = row[static_cast<size_t>(place(labels, label_at, x.shape[axis]))];
    losses.push_back(compute(OpCode::op_sub, x.dtype, log, shifted(picked)));
  });
  if (attr(op, "reduction").s != "none") {
    uint64_t total = fold(OpCode::op_reduce_sum, x.dtype, losses);
    if (attr(op, "reduction").s == "mean")
      total = compute(OpCode::op_div, x.dtype, total, cast(x.dtype, DType::i64, static_cast<uint64_t>(counting)));
    losses = {total};
  }
  for (size_t i = 0; i < losses.size(); ++i)
    out.bits[i] = out.dtype == x.dtype ? losses[i] : cast(out.dtype, x.dtype, losses[i]);
}

}  // namespace

bool indexed(const ir::Op& op, std::span<const Array* const> operands, Array& out) {
  switch (op.code) {
    case OpCode::op_gather: gather(op, *operands[0], *operands[1], out); return true;
    case OpCode::op_take_along_axis: take_along(op, *operands[0], *operands[1], out); return true;
    case OpCode::op_gather_nd: gather_nd(op, *operands[0], *operands[1], out); return true;
    case OpCode::op_one_hot: one_hot(op, *operands[0], out); return true;
    case OpCode::op_scatter:
    case OpCode::op_scatter_add: scatter(op, *operands[0], *operands[1], *operands[2], out); return true;
    case OpCode::op_searchsorted: searchsorted(op, *operands[0], *operands[1], out); return true;
    case OpCode::op_cross_entropy: cross_entropy(op, *operands[0], *operands[1], out); return true;
    default: return false;
  }
}

}  // namespace ingot::oracle
