#include "ir/op_aliases.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ir/op.h"
#include "ir/parser.h"

namespace ingot::ir {

namespace {

// `op` empty: a well-known name that nothing here stands for. It has a row so that no near spelling is offered: sort is
// two letters from sqrt.
struct Alias {
  std::string_view name, op;
};

constexpr Alias aliases[] = {
    {"absolute", "abs"},
    {"all", "reduce_all"},
    {"amax", "reduce_max"},
    {"amin", "reduce_min"},
    {"any", "reduce_any"},
    {"arange", "iota"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"array_split", "split"},
    {"astype", "cast"},
    {"batch_normalization", "batch_norm"},
    {"batchnorm", "batch_norm"},
    {"bernoulli", "random_bernoulli"},
    {"bit_count", "popcount"},
    {"bitcast_convert_type", "bitcast"},
    {"bitwise_and", "and"},
    {"bitwise_count", "popcount"},
    {"bitwise_left_shift", "shift_left"},
    {"bitwise_not", "not"},
    {"bitwise_or", "or"},
    {"bitwise_right_shift", "shift_right"},
    {"bitwise_xor", "xor"},
    {"bmm", "matmul"},
    {"broadcast_to", "broadcast"},
    {"cat", "concat"},
    {"chunk", "split"},
    {"clip", "clamp"},
    {"concatenate", "concat"},
    {"const", "constant"},
    {"convert", "cast"},
    {"count_leading_zeros", "clz"},
    {"count_non_zero", "count_nonzero"},
    {"count_trailing_zeros", "ctz"},
    {"cumulative_prod", "cumprod"},
    {"cumulative_sum", "cumsum"},
    {"dequantize_linear", "dequantize"},
    {"diag", "diagonal"},
    {"divide", "div"},
    {"dot", "matmul"},
    {"equal", "eq"},
    {"expand", "broadcast"},
    {"fix", "trunc"},
    {"flip", "reverse"},
    {"fliplr", "reverse"},
    {"flipud", "reverse"},
    {"floor_divide", "floor_div"},
    {"floordiv", "floor_div"},
    {"fmod", "rem"},
    {"full", "broadcast"},
    {"gather", ""},
    {"gemm", "matmul"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"groupnorm", "group_norm"},
    {"hard_sigmoid", "hardsigmoid"},
    {"hard_swish", "hardswish"},
    {"hard_tanh", "hardtanh"},
    {"hsplit", "split"},
    {"hstack", "concat"},
    {"identity", "eye"},
    {"instancenorm", "instance_norm"},
    {"invert", "not"},
    {"is_finite", "isfinite"},
    {"is_inf", "isinf"},
    {"is_nan", "isnan"},
    {"l1_norm", "reduce_l1"},
    {"l2_norm", "reduce_l2"},
    {"layernorm", "layer_norm"},
    {"leakyrelu", "leaky_relu"},
    {"left_shift", "shift_left"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"literal", "constant"},
    {"ln", "log"},
    {"logical_and", "and"},
    {"logical_not", "not"},
    {"logical_or", "or"},
    {"logical_xor", "xor"},
    {"logistic", "sigmoid"},
    {"logsoftmax", "log_softmax"},
    {"logsumexp", "reduce_logsumexp"},
    {"maximum", "max"},
    {"maximum_accumulate", "cummax"},
    {"mean", "reduce_mean"},
    {"minimum", "min"},
    {"minimum_accumulate", "cummin"},
    {"mm", "matmul"},
    {"multiply", "mul"},
    {"negate", "neg"},
    {"negative", "neg"},
    {"newaxis", "expand_dims"},
    {"nonzero", ""},
    {"norm", "reduce_l2"},
    {"normal", "random_normal"},
    {"not_equal", "ne"},
    {"permute", "transpose"},
    {"population_count", "popcount"},
    {"power", "pow"},
    {"prod", "reduce_prod"},
    {"product", "reduce_prod"},
    {"quantize_linear", "quantize"},
    {"rand", "random_uniform"},
    {"randn", "random_normal"},
    {"reduce_argmax", "argmax"},
    {"reduce_argmin", "argmin"},
    {"reinterpret", "bitcast"},
    {"remainder", "mod"},
    {"repeat_interleave", "repeat"},
    {"right_shift", "shift_right"},
    {"rint", "round"},
    {"rotary_embedding", "rope"},
    {"rotl", "rotate_left"},
    {"rotr", "rotate_left"},
    {"scalbn", "ldexp"},
    {"scatter", ""},
    {"sgn", "sign"},
    {"shl", "shift_left"},
    {"shr", "shift_right"},
    {"soft_sign", "softsign"},
    {"sort", ""},
    {"standard_normal", "random_normal"},
    {"std", "reduce_std"},
    {"subtract", "sub"},
    {"sum", "reduce_sum"},
    {"swish", "silu"},
    {"to", "cast"},
    {"true_divide", "div"},
    {"unbind", "split"},
    {"uniform", "random_uniform"},
    {"unpackbits", "unpack_bits"},
    {"unsqueeze", "expand_dims"},
    {"unstack", "split"},
    {"var", "reduce_var"},
    {"variance", "reduce_var"},
    {"view", "reshape"},
    {"vsplit", "split"},
    {"vstack", "concat"},
    {"where", "select"},
};
static_assert(std::ranges::is_sorted(aliases, {}, &Alias::name));

}  // namespace

std::string op_hint(std::string_view name) {
  const auto* at = std::ranges::lower_bound(aliases, name, {}, &Alias::name);
  if (at != std::end(aliases) && at->name == name)
    return at->op.empty() ? std::string(", and no op here does the same") : cat(", did you mean ", at->op, "?");
  std::vector<std::string_view> known{"constant"};
  for (const OpInfo& row : op_table()) known.push_back(row.name);
  return suggestion(name, known);
}

}  // namespace ingot::ir
