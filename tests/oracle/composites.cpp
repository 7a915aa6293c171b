#include "composites.h"

#include <algorithm>
#include <cmath>

#include "contractions.h"
#include "folds.h"
#include "functions.h"
#include "index.h"
#include "narrow.h"
#include "scalar_ops.h"

namespace ingot::oracle {

namespace {

using ir::DType;
using ir::OpClass;
using ir::OpCode;

uint64_t number(DType type, double v) { return type == DType::f32 ? to_bits(static_cast<float>(v)) : to_bits(v); }

double value_of(DType type, uint64_t bits) {
  return type == DType::f32 ? double{from_bits<float>(bits)} : from_bits<double>(bits);
}

// sum (x - mean)^2, and divided by what is given.
uint64_t squares(DType type, std::span<const uint64_t> k, int64_t divisor) {
  const uint64_t mean = fold(OpCode::op_reduce_mean, type, k);
  std::vector<uint64_t> square;
  for (const uint64_t x : k) {
    const uint64_t c = compute(OpCode::op_sub, type, x, mean);
    square.push_back(compute(OpCode::op_mul, type, c, c));
  }
  const uint64_t n = cast(type, DType::i64, static_cast<uint64_t>(std::max<int64_t>(divisor, 0)));
  return compute(OpCode::op_div, type, fold(OpCode::op_reduce_sum, type, square), n);
}

uint64_t logsumexp(DType type, std::span<const uint64_t> k) {
  uint64_t m = fold(OpCode::op_reduce_max, type, k);
  if (std::isinf(value_of(type, m))) m = number(type, 0);
  std::vector<uint64_t> e;
  for (const uint64_t x : k) e.push_back(compute(OpCode::op_exp, type, compute(OpCode::op_sub, type, x, m)));
  return compute(OpCode::op_add, type, compute(OpCode::op_log, type, fold(OpCode::op_reduce_sum, type, e)), m);
}

// NumPy's rule: the first NaN, else the first of the extremes.
uint64_t argument(bool largest, DType type, std::span<const uint64_t> k) {
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    size_t best = 0;
    for (size_t i = 0; i < k.size(); ++i) {
      const T v = from_bits<T>(k[i]), b = from_bits<T>(k[best]);
      if (v != v) return uint64_t{i};
      if (largest ? v > b : v < b) best = i;
    }
    return uint64_t{best};
  });
}

// An element of a parameter that lies along one dim.
uint64_t along(const Array& parameter, const Index& index, size_t axis) {
  return parameter.bits[parameter.shape.empty() ? 0 : static_cast<size_t>(index[axis])];
}

// c * inverse, then * scale and + bias where they are given.
uint64_t scaled(DType type, uint64_t c, uint64_t inverse, const uint64_t* scale, const uint64_t* bias) {
  c = compute(OpCode::op_mul, type, c, inverse);
  if (scale) c = compute(OpCode::op_mul, type, c, *scale);
  return bias ? compute(OpCode::op_add, type, c, *bias) : c;
}

uint64_t inverse_of(DType type, uint64_t var, double epsilon) {
  return compute(OpCode::op_rsqrt, type, compute(OpCode::op_add, type, var, number(type, epsilon)));
}

// Statistics of each item over `groups` runs of its channels and all dims behind them.
void grouped(const ir::Op& op, std::span<const Array* const> operands, int64_t groups, Array& out) {
  const Array& x = *operands[0];
  const DType type = x.dtype;
  const auto items = static_cast<size_t>(x.shape[0] * groups);
  if (x.bits.empty()) return;
  const size_t size = x.bits.size() / items;
  std::vector<uint64_t> mean, inverse;
  for (size_t i = 0; i < items; ++i) {
    const std::span<const uint64_t> k(x.bits.data() + i * size, size);
    mean.push_back(fold(OpCode::op_reduce_mean, type, k));
    inverse.push_back(inverse_of(type, squares(type, k, static_cast<int64_t>(size)), attr(op, "epsilon").f));
  }
  size_t n = 0;
  each_index(x.shape, [&](const Index& index) {
    const size_t item = n / size;
    const auto parameter = [&](size_t i) { return i < operands.size() ? along(*operands[i], index, 1) : 0; };
    const uint64_t scale = parameter(1), bias = parameter(2);
    out.bits[n] = scaled(type, compute(OpCode::op_sub, type, x.bits[n], mean[item]), inverse[item],
                         operands.size() > 1 ? &scale : nullptr, operands.size() > 2 ? &bias : nullptr);
    ++n;
  });
}

void batch_norm(const ir::Op& op, std::span<const Array* const> operands, Array& out) {
  const Array& x = *operands[0];
  size_t n = 0;
  each_index(x.shape, [&](const Index& index) {
    const auto parameter = [&](size_t i) {
      return along(*operands[i], index, static_cast<size_t>(attr(op, "axis").i));
    };
    const uint64_t inverse = inverse_of(x.dtype, parameter(2), attr(op, "epsilon").f);
    const uint64_t scale = parameter(3), bias = parameter(4);
    const uint64_t c = compute(OpCode::op_sub, x.dtype, x.bits[n], parameter(1));
    out.bits[n++] = scaled(x.dtype, c, inverse, &scale, &bias);
  });
}

void batch_norm_training(const ir::Op& op, std::span<const Array* const> operands, size_t which, Array& out) {
  const Array& x = *operands[0];
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  std::vector<std::vector<uint64_t>> of_channel(static_cast<size_t>(x.shape[axis]));
  size_t n = 0;
  each_index(x.shape, [&](const Index& index) { of_channel[static_cast<size_t>(index[axis])].push_back(x.bits[n++]); });
  std::vector<uint64_t> mean, var;
  for (const auto& k : of_channel) {
    mean.push_back(fold(OpCode::op_reduce_mean, x.dtype, k));
    var.push_back(squares(x.dtype, k, static_cast<int64_t>(k.size())));
  }
  if (which > 0) {
    out.bits = which == 1 ? mean : var;
    return;
  }
  n = 0;
  each_index(x.shape, [&](const Index& index) {
    const auto channel = static_cast<size_t>(index[axis]);
    const uint64_t scale = along(*operands[1], index, axis), bias = along(*operands[2], index, axis);
    const uint64_t inverse = inverse_of(x.dtype, var[channel], attr(op, "epsilon").f);
    out.bits[n] = scaled(x.dtype, compute(OpCode::op_sub, x.dtype, x.bits[n], mean[channel]), inverse, &scale, &bias);
    ++n;
  });
}

void quantize(const ir::Op& op, std::span<const Array* const> operands, Array& out) {
  const Array& x = *operands[0];
  const double lo = out.dtype == DType::i8 ? -128 : 0, hi = lo + 255;
  size_t n = 0;
  each_index(x.shape, [&](const Index& index) {
    const auto axis = static_cast<size_t>(std::max<int64_t>(attr(op, "axis").i, 0));
    const uint64_t zero = along(*operands[2], index, axis);
    const double q = value_of(x.dtype, compute(OpCode::op_div, x.dtype, x.bits[n], along(*operands[1], index, axis)));
    const double z = out.dtype == DType::i8 ? from_bits<int8_t>(zero) : from_bits<uint8_t>(zero);
    // In double: what f32 rounds of a sum lies beyond the limits either way.
    const double v = std::isnan(q) ? z : std::clamp(std::nearbyint(q) + z, lo, hi);
    out.bits[n++] = cast(out.dtype, DType::f64, to_bits(v));
  });
}

void dequantize(const ir::Op& op, std::span<const Array* const> operands, Array& out) {
  const Array& x = *operands[0];
  size_t n = 0;
  each_index(x.shape, [&](const Index& index) {
    const auto axis = static_cast<size_t>(std::max<int64_t>(attr(op, "axis").i, 0));
    const auto whole = [&](uint64_t b) {
      return x.dtype == DType::i8 ? int{from_bits<int8_t>(b)} : static_cast<int>(b);
    };
    const int difference = whole(x.bits[n]) - whole(along(*operands[2], index, axis));
    out.bits[n++] = compute(OpCode::op_mul, out.dtype, number(out.dtype, difference), along(*operands[1], index, axis));
  });
}

void log_softmax(const ir::Op& op, const Array& x, Array& out) {
  const auto axis = static_cast<size_t>(attr(op, "axis").i);
  each_index(x.shape, [&](const Index& index) {
    if (index[axis] != 0) return;
    std::vector<size_t> at;
    std::vector<uint64_t> k;
    Index from = index;
    for (int64_t i = 0; i < x.shape[axis]; ++i) {
      from[axis] = i;
      at.push_back(static_cast<size_t>(linear(x.shape, from)));
      k.push_back(x.bits[at.back()]);
    }
    const uint64_t m = fold(OpCode::op_reduce_max, x.dtype, k);
    std::vector<uint64_t> e;
    for (uint64_t& v : k) {
      v = compute(OpCode::op_sub, x.dtype, v, m);
      e.push_back(compute(OpCode::op_exp, x.dtype, v));
    }
    const uint64_t log = compute(OpCode::op_log, x.dtype, fold(OpCode::op_reduce_sum, x.dtype, e));
    for (size_t i = 0; i < k.size(); ++i) out.bits[at[i]] = compute(OpCode::op_sub, x.dtype, k[i], log);
  });
}

void rope(const ir::Op& op, std::span<const Array* const> operands, Array& out) {
  const Array& x = *operands[0];
  const bool interleaved = attr(op, "interleaved").i != 0;
  size_t n = 0;
  each_index(x.shape, [&](const Index& index) {
    const int64_t half = x.shape.back() / 2, i = index.back();
    const int64_t pair = interleaved ? i / 2 : i % half;
    const bool second = interleaved ? i % 2 == 1 : i >= half;
    Index angle = index, other = index;
    angle.back() = pair;
    other.back() = interleaved ? i + (second ? -1 : 1) : i + (second ? -half : half);
    const auto product = [&](uint64_t a, size_t table) {
      return compute(OpCode::op_mul, x.dtype, a, broadcast_at(*operands[table], angle));
    };
    const uint64_t straight = product(x.bits[n], 1);
    const uint64_t crossed = product(x.bits[static_cast<size_t>(linear(x.shape, other))], 2);
    out.bits[n++] = compute(second ? OpCode::op_add : OpCode::op_sub, x.dtype, straight, crossed);
  });
}

bool apply_composite(const ir::Op& op, std::span<const Array* const> operands, size_t which, Array& out) {
  switch (op.code) {
    case OpCode::op_log_softmax: log_softmax(op, *operands[0], out); return true;
    case OpCode::op_group_norm: grouped(op, operands, attr(op, "groups").i, out); return true;
    case OpCode::op_instance_norm: grouped(op, operands, operands[0]->shape[1], out); return true;
    case OpCode::op_batch_norm: batch_norm(op, operands, out); return true;
    case OpCode::op_quantize: quantize(op, operands, out); return true;
    case OpCode::op_dequantize: dequantize(op, operands, out); return true;
    case OpCode::op_rope: rope(op, operands, out); return true;
    case OpCode::op_batch_norm_training: batch_norm_training(op, operands, which, out); return true;
    case OpCode::op_attention: attention(op, operands, out); return true;
    default: return false;
  }
}

bool is_derived(OpCode code) { return (code >= OpCode::op_reduce_var && code <= OpCode::op_argmin); }

Array converted(Array x, DType to) {
  for (uint64_t& v : x.bits) v = cast(to, x.dtype, v);
  x.dtype = to;
  return x;
}

}  // namespace

uint64_t compute(OpCode code, DType type, uint64_t a, uint64_t b) {
  ir::Op op;
  op.code = code;
  const ir::OpInfo& info = *ir::op_info(code);
  op.operands.resize(info.min_operands);
  return info.cls == OpClass::function ? function_op(op, type, a, b) : scalar_op(op, type, a, b, 0);
}

uint64_t derived_fold(const ir::Op& op, DType type, std::span<const uint64_t> k) {
  const bool counts = op.code == OpCode::op_count_nonzero || ir::op_info(op.code)->rule == ir::Rule::argument;
  if (is_narrow(type) && is_derived(op.code)) {  // in f32, rounded once; counts are of what f32 holds exactly
    std::vector<uint64_t> wide;
    for (const uint64_t x : k) wide.push_back(cast(DType::f32, type, x));
    const uint64_t out = derived_fold(op, DType::f32, wide);
    return counts ? out : cast(type, DType::f32, out);
  }
  std::vector<uint64_t> terms;
  switch (op.code) {
    case OpCode::op_reduce_var:
    case OpCode::op_reduce_std: {
      const uint64_t var = squares(type, k, static_cast<int64_t>(k.size()) - attr(op, "ddof").i);
      return op.code == OpCode::op_reduce_var ? var : compute(OpCode::op_sqrt, type, var);
    }
    case OpCode::op_reduce_logsumexp: return logsumexp(type, k);
    case OpCode::op_reduce_l1:
      for (const uint64_t x : k) terms.push_back(compute(OpCode::op_abs, type, x));
      return fold(OpCode::op_reduce_sum, type, terms);
    case OpCode::op_reduce_l2:
      for (const uint64_t x : k) terms.push_back(compute(OpCode::op_mul, type, x, x));
      return compute(OpCode::op_sqrt, type, fold(OpCode::op_reduce_sum, type, terms));
    case OpCode::op_count_nonzero:
      return static_cast<uint64_t>(
          std::ranges::count_if(k, [&](uint64_t x) { return cast(DType::boolean, type, x) != 0; }));
    case OpCode::op_argmax:
    case OpCode::op_argmin: return argument(op.code == OpCode::op_argmax, type, k);
    default: return fold(op.code, type, k);
  }
}

bool composite(const ir::Op& op, std::span<const Array* const> operands, size_t which, Array& out) {
  if (op.code < OpCode::op_log_softmax || op.code > OpCode::op_attention) return false;
  // f16 and bf16 compute in f32 and round once at the end.
  std::vector<Array> wide;
  std::vector<const Array*> given;
  for (const Array* x : operands) wide.push_back(is_narrow(x->dtype) ? converted(*x, DType::f32) : *x);
  for (const Array& x : wide) given.push_back(&x);
  Array result{is_narrow(out.dtype) ? DType::f32 : out.dtype, out.shape, out.bits};
  if (!apply_composite(op, given, which, result)) return false;
  out.bits = converted(std::move(result), out.dtype).bits;
  return true;
}

}  // namespace ingot::oracle
