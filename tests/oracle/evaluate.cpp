#include "evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "composites.h"
#include "contractions.h"
#include "folds.h"
#include "functions.h"
#include "index.h"
#include "indexed.h"
#include "moves.h"
#include "narrow.h"
#include "randoms.h"
#include "scalar_ops.h"
#include "scans.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpClass;
using ir::OpCode;
class Evaluator {
 public:
  Evaluator(const ir::Graph& g, std::vector<int64_t> dims) : g_(g), dims_(std::move(dims)), values_(g.value_count()) {}

  std::vector<Array> run(std::span<const Array> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[g_.inputs()[i]] = inputs[i];
    for (ir::ValueId v = 0; v < g_.value_count(); ++v)
      if (g_.value(v).kind == ir::ValueKind::constant) constant(v);
    for (uint32_t i = 0; i < g_.op_count(); ++i) {
      const ir::Op& op = g_.op(i);
      for (size_t which = 0; which < op.results.size(); ++which) {
        Array out{g_.value(op.results[which]).dtype, shape_of(op.results[which]), {}};
        out.bits.resize(element_count(out.shape));
        apply(op, which, out);
        values_[op.results[which]] = std::move(out);
      }
    }
    return std::move(values_);
  }

 private:
  std::vector<int64_t> shape_of(ir::ValueId v) const {
    std::vector<int64_t> out;
    for (const ir::DimId d : g_.value(v).shape) out.push_back(dims_[d]);
    return out;
  }
  std::vector<int64_t> dim_list(const ir::Op& op, std::string_view name) const {
    std::vector<int64_t> out;
    for (const int64_t d : attr(op, name).ints) out.push_back(dims_[static_cast<ir::DimId>(d)]);
    return out;
  }
  const Array& operand(const ir::Op& op, size_t i) const { return values_[op.operands[i]]; }

  void constant(ir::ValueId v) {
    Array out{g_.value(v).dtype, shape_of(v), {}};
    const size_t item = ir::item_size(out.dtype);
    const uint8_t* data = g_.constant_data(v).data;
    for (size_t i = 0; i < element_count(out.shape); ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, data + i * item, item);
      out.bits.push_back(out.dtype == DType::boolean ? bits != 0 : bits);
    }
    values_[v] = std::move(out);
  }

  // The result `which` of an op.
  void apply(const ir::Op& op, size_t which, Array& out) {
    switch (op.code) {
      case OpCode::op_iota: return iota(op, out);
      case OpCode::op_dim: out.bits = {static_cast<uint64_t>(dims_[static_cast<size_t>(attr(op, "size").i)])}; return;
      case OpCode::op_frexp: return frexp(op, which, out);
      case OpCode::op_reshape: out.bits = operand(op, 0).bits; return;
      case OpCode::op_matmul: return matmul(op, out);
      case OpCode::op_dot_general: return dot_general(op, operand(op, 0), operand(op, 1), out);
      case OpCode::op_concat: return concat(op, out);
      case OpCode::op_softmax: return softmax(op, out);
      case OpCode::op_layer_norm:
      case OpCode::op_rms_norm: return norm(op, out);
      case OpCode::op_random_bits:
      case OpCode::op_random_uniform:
      case OpCode::op_random_normal: return random(op, out);
      case OpCode::op_random_bernoulli: return bernoulli(op, out);
      case OpCode::op_dropout: return dropout(op, out);
      case OpCode::op_unpack_bits: return unpack_bits(op, out);
      default: break;
    }
    std::vector<const Array*> operands;
    for (size_t i = 0; i < op.operands.size(); ++i) operands.push_back(&operand(op, i));
    if (composite(op, operands, which, out) || arranged(op, operands, dims_, which, out) || indexed(op, operands, out))
      return;
    switch (ir::op_info(op.code)->cls) {
      case OpClass::reduce: return reduce(op, out);
      case OpClass::scan: return scan_rows(op, out);
      case OpClass::movement: return move(op, out);
      default: return elementwise(op, out);
    }
  }

  void elementwise(const ir::Op& op, Array& out) {
    const bool function = ir::op_info(op.code)->cls == OpClass::function;
    const DType type = operand(op, op.code == OpCode::op_select ? 1 : 0).dtype;
    size_t n = 0;
    each_index(out.shape, [&](const Index& index) {
      uint64_t arg[3] = {0, 0, 0};
      for (size_t i = 0; i < op.operands.size(); ++i) arg[i] = broadcast_at(operand(op, i), index);
      out.bits[n++] = function ? function_op(op, type, arg[0], arg[1]) : scalar_op(op, type, arg[0], arg[1], arg[2]);
    });
  }

  // By the C library's; the exponent of what is not finite is unspecified there.
  void frexp(const ir::Op& op, size_t which, Array& out) {
    const Array& x = operand(op, 0);
    for (size_t i = 0; i < out.bits.size(); ++i) {
      const DType type = x.dtype;
      const double v = is_narrow(type)      ? narrow_value(type, x.bits[i])
                       : type == DType::f32 ? double{from_bits<float>(x.bits[i])}
                                            : from_bits<double>(x.bits[i]);
      int exponent = 0;
      const double mantissa = std::isfinite(v) ? std::frexp(v, &exponent) : v;
      if (which == 1) out.bits[i] = static_cast<uint32_t>(exponent);
      else if (type == DType::f64) out.bits[i] = to_bits(canonical(mantissa));
      else out.bits[i] = cast(type, DType::f32, to_bits(canonical(static_cast<float>(mantissa))));
    }
  }

  void iota(const ir::Op& op, Array& out) {
    const auto axis = static_cast<size_t>(attr(op, "axis").i);
    size_t n = 0;
    each_index(out.shape, [&](const Index& index) {
      out.bits[n++] = cast(out.dtype, DType::i64, static_cast<uint64_t>(index[axis]));
    });
  }

  // Ops whose result elements each are one element of the operand, or padding.
  void move(const ir::Op& op, Array& out) {
    const Array& x = operand(op, 0);
    const size_t rank = x.shape.size();
    size_t n = 0;
    std::vector<int64_t> starts, low;
    if (op.code == OpCode::op_slice) starts = dim_list(op, "starts");
    if (op.code == OpCode::op_pad) low = dim_list(op, "low");
    each_index(out.shape, [&](const Index& index) {
      Index from = index;
      bool padding = false;
      switch (op.code) {
        case OpCode::op_transpose:
          for (size_t d = 0; d < rank; ++d) from[static_cast<size_t>(attr(op, "perm").ints[d])] = index[d];
          break;
        case OpCode::op_broadcast: out.bits[n++] = broadcast_at(x, index); return;
        case OpCode::op_slice:
          for (size_t d = 0; d < rank; ++d) from[d] = starts[d] + index[d] * attr(op, "steps").ints[d];
          break;
        case OpCode::op_reverse:
          for (const int64_t a : attr(op, "axes").ints) {
            const auto d = static_cast<size_t>(a);
            from[d] = x.shape[d] - 1 - index[d];
          }
          break;
        case OpCode::op_pad:
          for (size_t d = 0; d < rank; ++d) {
            from[d] = index[d] - low[d];
            padding = padding || from[d] < 0 || from[d] >= x.shape[d];
          }
          break;
        default: bug("the oracle has no op ", ir::op_info(op.code)->name);
      }
      if (padding) {
        out.bits[n++] = operand(op, 1).bits[0];
        return;
      }
      for (size_t d = 0; d < rank; ++d)
        if (from[d] < 0 || from[d] >= x.shape[d]) bug("an index leaves the operand of ", ir::op_info(op.code)->name);
      out.bits[n++] = x.bits[static_cast<size_t>(linear(x.shape, from))];
    });
  }

  void concat(const ir::Op& op, Array& out) {
    const auto axis = static_cast<size_t>(attr(op, "axis").i);
    size_t n = 0;
    each_index(out.shape, [&](const Index& index) {
      Index from = index;
      size_t piece = 0;
      while (from[axis] >= operand(op, piece).shape[axis]) from[axis] -= operand(op, piece++).shape[axis];
      const Array& x = operand(op, piece);
      out.bits[n++] = x.bits[static_cast<size_t>(linear(x.shape, from))];
    });
  }

  void reduce(const ir::Op& op, Array& out) {
    const Array& x = operand(op, 0);
    const bool one = ir::op_info(op.code)->rule == ir::Rule::argument;
    const std::vector<int64_t> axes = one ? std::vector{attr(op, "axis").i} : attr(op, "axes").ints;
    out.bits = rows(x, axes, [&](std::span<const uint64_t> k) { return derived_fold(op, x.dtype, k); });
  }

  static std::vector<uint64_t> reduced(OpCode code, const Array& x, const std::vector<int64_t>& axes) {
    return rows(x, axes, [&](std::span<const uint64_t> k) { return fold(code, x.dtype, k); });
  }

  // Row-major over the kept axes; k row-major over the reduced ones.
  template <class F>
  static std::vector<uint64_t> rows(const Array& x, const std::vector<int64_t>& axes, F fold_of) {
    std::vector<int64_t> kept, removed;
    std::vector<size_t> kept_at, removed_at;
    for (size_t d = 0; d < x.shape.size(); ++d) {
      const bool gone = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
      (gone ? removed : kept).push_back(x.shape[d]);
      (gone ? removed_at : kept_at).push_back(d);
    }
    std::vector<uint64_t> out, k;
    Index from(x.shape.size());
    each_index(kept, [&](const Index& row) {
      for (size_t d = 0; d < row.size(); ++d) from[kept_at[d]] = row[d];
      k.clear();
      each_index(removed, [&](const Index& col) {
        for (size_t d = 0; d < col.size(); ++d) from[removed_at[d]] = col[d];
        k.push_back(x.bits[static_cast<size_t>(linear(x.shape, from))]);
      });
      out.push_back(fold_of(k));
    });
    return out;
  }

  void scan_rows(const ir::Op& op, Array& out) {
    const Array& x = operand(op, 0);
    const auto axis = static_cast<size_t>(attr(op, "axis").i);
    std::vector<int64_t> kept = x.shape;
    kept[axis] = x.shape[axis] == 0 ? 0 : 1;
    each_index(kept, [&](const Index& row) {
      std::vector<size_t> places;
      std::vector<uint64_t> k;
      Index at = row;
      for (at[axis] = 0; at[axis] < x.shape[axis]; ++at[axis]) {
        places.push_back(static_cast<size_t>(linear(x.shape, at)));
        k.push_back(x.bits[places.back()]);
      }
      const std::vector<uint64_t> y = scan(op, x.dtype, k);
      for (size_t i = 0; i < places.size(); ++i) out.bits[places[i]] = y[i];
    });
  }

  // --- random numbers

  void random(const ir::Op& op, Array& out) {
    for (size_t i = 0; i < out.bits.size(); ++i) out.bits[i] = random_element(op, out.dtype, operand(op, 0).bits[0], i);
  }

  // Calls f with each index and the uniform number there.
  template <class F>
  static void each_uniform(const ir::Op& op, uint64_t seed, const std::vector<int64_t>& shape, F f) {
    ir::Op uniform;
    uniform.code = OpCode::op_random_uniform;
    uniform.attrs = {{}, attr(op, "stream"), {}};
    uint64_t n = 0;
    each_index(shape,
               [&](const Index& index) { f(index, from_bits<float>(random_element(uniform, DType::f32, seed, n++))); });
  }

  void bernoulli(const ir::Op& op, Array& out) {
    size_t n = 0;
    each_uniform(op, operand(op, 0).bits[0], out.shape, [&](const Index& index, float u) {
      out.bits[n++] = u < from_bits<float>(broadcast_at(operand(op, 1), index));
    });
  }

  void dropout(const ir::Op& op, Array& out) {
    const Array x = widened(operand(op, 0));
    const double p = attr(op, "p").f, scale = 1 / (1 - p);
    const uint64_t factor = x.dtype == DType::f32 ? to_bits(static_cast<float>(scale)) : to_bits(scale);
    size_t n = 0;
    each_uniform(op, operand(op, 1).bits[0], out.shape, [&](const Index&, float u) {
      const uint64_t y = u >= static_cast<float>(p) ? compute(OpCode::op_mul, x.dtype, x.bits[n], factor) : 0;
      out.bits[n++] = is_narrow(out.dtype) ? cast(out.dtype, x.dtype, y) : y;
    });
  }

  void unpack_bits(const ir::Op& op, Array& out) {
    const Array& x = operand(op, 0);
    const bool big = attr(op, "bitorder").s == "big";
    size_t n = 0;
    each_index(out.shape, [&](Index index) {
      const int64_t bit = index.back() % 8;
      index.back() /= 8;
      out.bits[n++] = x.bits[static_cast<size_t>(linear(x.shape, index))] >> (big ? 7 - bit : bit) & 1;
    });
  }

  // NumPy's rule: a 1-d operand is a row (left) or a column (right) that the result lacks; leading dims broadcast.
  void matmul(const ir::Op& op, Array& out) {
    Array a = operand(op, 0), b = operand(op, 1);
    std::vector<int64_t> shape = out.shape;
    if (b.shape.size() == 1) {
      b.shape.push_back(1);
      shape.push_back(1);
    }
    if (a.shape.size() == 1) {
      a.shape.insert(a.shape.begin(), 1);
      shape.insert(shape.end() - 1, 1);
    }
    const int64_t inner = a.shape.back();
    const auto at = [](const Array& x, const Index& batch, int64_t row, int64_t col) {
      const size_t own = x.shape.size() - 2;
      Index from;
      for (size_t d = 0; d < own; ++d) from.push_back(x.shape[d] == 1 ? 0 : batch[batch.size() - own + d]);
      from.push_back(row);
      from.push_back(col);
      return x.bits[static_cast<size_t>(linear(x.shape, from))];
    };
    std::vector<uint64_t> u, v;
    size_t n = 0;
    each_index(shape, [&](const Index& index) {
      const Index batch(index.begin(), index.end() - 2);
      u.clear();
      v.clear();
      for (int64_t k = 0; k < inner; ++k) {
        u.push_back(at(a, batch, index[index.size() - 2], k));
        v.push_back(at(b, batch, k, index.back()));
      }
      out.bits[n++] = dot(a.dtype, u, v);
    });
  }

  // --- composites, by what docs/numerics.md says they decompose into

  static Array cast_all(Array x, DType to) {
    for (uint64_t& v : x.bits) v = cast(to, x.dtype, v);
    x.dtype = to;
    return x;
  }
  // What a composite computes with: f16 and bf16 as f32, rounded once at the end.
  static Array widened(const Array& x) { return is_narrow(x.dtype) ? cast_all(x, DType::f32) : x; }

  void softmax(const ir::Op& op, Array& out) {
    Array x = widened(operand(op, 0));
    const int64_t axis = attr(op, "axis").i;
    std::vector<int64_t> row = x.shape;
    row[static_cast<size_t>(axis)] = 1;
    const Array most{x.dtype, row, reduced(OpCode::op_reduce_max, x, {axis})};
    size_t n = 0;
    each_index(out.shape, [&](const Index& index) {
      x.bits[n] =
          compute(OpCode::op_exp, x.dtype, compute(OpCode::op_sub, x.dtype, x.bits[n], broadcast_at(most, index)));
      ++n;
    });
    const Array total{x.dtype, row, reduced(OpCode::op_reduce_sum, x, {axis})};
    n = 0;
    each_index(out.shape, [&](const Index& index) {
      const uint64_t y = compute(OpCode::op_div, x.dtype, x.bits[n], broadcast_at(total, index));
      out.bits[n++] = is_narrow(out.dtype) ? cast(out.dtype, x.dtype, y) : y;
    });
  }

  void norm(const ir::Op& op, Array& out) {
    Array c = widened(operand(op, 0));
    const DType type = c.dtype;
    std::vector<int64_t> axes, row = c.shape;
    for (auto d = static_cast<size_t>(attr(op, "axis").i); d < row.size(); ++d) {
      axes.push_back(static_cast<int64_t>(d));
      row[d] = 1;
    }
    const auto binary = [&](OpCode code, Array& x, const Array& y) {
      size_t n = 0;
      each_index(x.shape, [&](const Index& index) {
        x.bits[n] = compute(code, type, x.bits[n], broadcast_at(y, index));
        ++n;
      });
    };
    if (op.code == OpCode::op_layer_norm) {
      const Array mean{type, row, reduced(OpCode::op_reduce_mean, c, axes)};
      binary(OpCode::op_sub, c, mean);
    }
    Array square = c;
    binary(OpCode::op_mul, square, c);
    Array inverse{type, row, reduced(OpCode::op_reduce_mean, square, axes)};
    const double epsilon = attr(op, "epsilon").f;
    const uint64_t e = type == DType::f32 ? to_bits(static_cast<float>(epsilon)) : to_bits(epsilon);
    for (uint64_t& v : inverse.bits) v = compute(OpCode::op_rsqrt, type, compute(OpCode::op_add, type, v, e));
    binary(OpCode::op_mul, c, inverse);
    binary(OpCode::op_mul, c, widened(operand(op, 1)));
    if (op.operands.size() > 2) binary(OpCode::op_add, c, widened(operand(op, 2)));
    out.bits = (is_narrow(out.dtype) ? cast_all(std::move(c), out.dtype) : std::move(c)).bits;
  }

  const ir::Graph& g_;
  std::vector<int64_t> dims_;
  std::vector<Array> values_;
};

}  // namespace

std::vector<int64_t> bind_dims(const ir::Graph& graph, std::span<const Array> inputs) {
  std::vector<int64_t> dims(graph.dims().size(), INT64_MIN);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& v = graph.value(graph.inputs()[i]);
    if (v.dim != ir::no_dim) dims[v.dim] = static_cast<int64_t>(inputs[i].bits[0]);
    for (size_t d = 0; d < v.shape.size(); ++d)
      if (graph.dims().kind(v.shape[d]) == ir::DimKind::symbol) dims[v.shape[d]] = inputs[i].shape[d];
  }
  graph.dims().evaluate(dims);
  graph.dims().check(dims);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& v = graph.value(graph.inputs()[i]);
    for (size_t d = 0; d < v.shape.size(); ++d)
      if (dims[v.shape[d]] != inputs[i].shape[d]) fail(Code::invalid_argument, "input ", i, " has another shape");
  }
  return dims;
}

std::vector<Array> evaluate_all(const ir::Graph& graph, std::span<const Array> inputs) {
  return Evaluator(graph, bind_dims(graph, inputs)).run(inputs);
}

std::vector<Array> evaluate(const ir::Graph& graph, std::span<const Array> inputs) {
  const std::vector<Array> all = evaluate_all(graph, inputs);
  std::vector<Array> out;
  for (const ir::Output& o : graph.outputs()) out.push_back(all[o.value]);
  return out;
}

}  // namespace ingot::oracle
