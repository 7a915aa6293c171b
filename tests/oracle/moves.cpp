#include "moves.h"

#include <algorithm>

#include "index.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::OpCode;

std::vector<int64_t> dim_list(const ir::Op& op, std::string_view name, std::span<const int64_t> dims) {
  std::vector<int64_t> out;
  for (const int64_t d : attr(op, name).ints) out.push_back(dims[static_cast<size_t>(d)]);
  return out;
}

// Of a dim padded by its own elements: where below 0 or beyond the end an index is found.
int64_t inside(const std::string& mode, int64_t i, int64_t n) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == "wrap") return ((i % n) + n) % n;
  return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;  // reflect
}

}  // namespace

bool arranged(const ir::Op& op, std::span<const Array* const> operands, std::span<const int64_t> dims, size_t which,
              Array& out) {
  size_t n = 0;
  // Every result element is the element of operand `piece` that `from` says.
  const auto gather = [&](auto from) {
    each_index(out.shape, [&](const Index& index) {
      size_t piece = 0;
      const Index at = from(index, piece);
      const Array& x = *operands[piece];
      for (size_t d = 0; d < at.size(); ++d)
        if (at[d] < 0 || at[d] >= x.shape[d]) bug("an index leaves the operand of ", ir::op_info(op.code)->name);
      out.bits[n++] = x.bits[static_cast<size_t>(linear(x.shape, at))];
    });
    return true;
  };
  const auto position = [&](std::string_view name) { return static_cast<size_t>(attr(op, name).i); };
  const ir::OpInfo& info = *ir::op_info(op.code);
  const bool has_axis = std::ranges::find(info.attrs, "axis", &ir::AttrSpec::name) != info.attrs.end();
  const size_t axis = has_axis ? position("axis") : 0;
  switch (op.code) {
    case OpCode::op_squeeze:
    case OpCode::op_expand_dims: out.bits = operands[0]->bits; return true;
    case OpCode::op_stack:
      return gather([&](Index index, size_t& piece) {
        piece = static_cast<size_t>(index[axis]);
        index.erase(index.begin() + static_cast<int64_t>(axis));
        return index;
      });
    case OpCode::op_split: {
      const int64_t whole = operands[0]->shape[axis], parts = attr(op, "parts").i;
      std::vector<int64_t> sizes = dim_list(op, "sizes", dims);
      if (parts > 0) sizes.assign(static_cast<size_t>(parts), whole / parts);
      int64_t start = 0;
      for (size_t i = 0; i < which; ++i) start += sizes[i];
      return gather([&](Index index, size_t&) {
        index[axis] += start;
        return index;
      });
    }
    case OpCode::op_roll: {
      const std::vector<int64_t> shifts = dim_list(op, "shifts", dims), along = attr(op, "axes").ints;
      return gather([&](Index index, size_t&) {
        for (size_t i = 0; i < shifts.size(); ++i) {
          const auto d = static_cast<size_t>(along[i]);
          const int64_t extent = out.shape[d];
          index[d] = ((index[d] - shifts[i] % extent) % extent + extent) % extent;
        }
        return index;
      });
    }
    case OpCode::op_tile:
      return gather([&](Index index, size_t&) {
        for (size_t d = 0; d < index.size(); ++d) index[d] %= operands[0]->shape[d];
        return index;
      });
    case OpCode::op_repeat:
      return gather([&](Index index, size_t&) {
        index[axis] /= dims[position("repeats")];
        return index;
      });
    case OpCode::op_diagonal: {
      const size_t row = position("axis1"), column = position("axis2");
      const int64_t offset = attr(op, "offset").i;
      return gather([&](Index index, size_t&) {
        const int64_t i = index.back();
        Index at(operands[0]->shape.size(), -1);
        at[row] = offset < 0 ? i - offset : i;
        at[column] = offset < 0 ? i : i + offset;
        size_t next = 0;
        for (int64_t& a : at)
          if (a < 0) a = index[next++];
        return at;
      });
    }
    case OpCode::op_tril:
    case OpCode::op_triu:
      each_index(out.shape, [&](const Index& index) {
        const int64_t above = index.back() - index[index.size() - 2], diagonal = attr(op, "diagonal").i;
        const bool kept = op.code == OpCode::op_tril ? above <= diagonal : above >= diagonal;
        out.bits[n] = kept ? operands[0]->bits[n] : 0;
        ++n;
      });
      return true;
    case OpCode::op_eye:
      each_index(out.shape, [&](const Index& index) {
        const bool one = index.back() - index[index.size() - 2] == attr(op, "diagonal").i;
        out.bits[n++] = cast(out.dtype, ir::DType::i64, one);
      });
      return true;
    case OpCode::op_pad: {
      const std::string& mode = attr(op, "mode").s;
      if (mode == "constant") return false;
      const std::vector<int64_t> low = dim_list(op, "low", dims);
      return gather([&](Index index, size_t&) {
        for (size_t d = 0; d < index.size(); ++d) index[d] = inside(mode, index[d] - low[d], operands[0]->shape[d]);
        return index;
      });
    }
    default: return false;
  }
}

}  // namespace ingot::oracle
