#include "ir/op_aliases.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ir/op.h"
#include "ir/parser.h"

namespace ingot::ir {

namespace {

// `op` empty: a well-known name that nothing here stands for. It has a row so that no near spelling is offered: sin is
// one letter from min.
struct Alias {
  std::string_view name, op;
};

constexpr Alias aliases[] = {
    {"absolute", "abs"},
    {"acos", ""},
    {"all", "reduce_all"},
    {"amax", "reduce_max"},
    {"amin", "reduce_min"},
    {"any", "reduce_any"},
    {"arange", "iota"},
    {"argmax", ""},
    {"argmin", ""},
    {"asin", ""},
    {"astype", "cast"},
    {"atan", ""},
    {"atan2", ""},
    {"bitwise_and", "and"},
    {"bitwise_not", "not"},
    {"bitwise_or", "or"},
    {"bitwise_xor", "xor"},
    {"bmm", "matmul"},
    {"broadcast_to", "broadcast"},
    {"cat", "concat"},
    {"clip", "clamp"},
    {"concatenate", "concat"},
    {"const", "constant"},
    {"convert", "cast"},
    {"cos", ""},
    {"cosh", ""},
    {"cumprod", ""},
    {"cumsum", ""},
    {"divide", "div"},
    {"dot", "matmul"},
    {"equal", "eq"},
    {"exp2", ""},
    {"expand", "broadcast"},
    {"expm1", ""},
    {"flip", "reverse"},
    {"full", "broadcast"},
    {"gather", ""},
    {"gemm", "matmul"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"invert", "not"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"literal", "constant"},
    {"ln", "log"},
    {"log10", ""},
    {"log1p", ""},
    {"log2", ""},
    {"logical_and", "and"},
    {"logical_not", "not"},
    {"logical_or", "or"},
    {"logical_xor", "xor"},
    {"logistic", "sigmoid"},
    {"maximum", "max"},
    {"mean", "reduce_mean"},
    {"minimum", "min"},
    {"mm", "matmul"},
    {"mod", ""},
    {"multiply", "mul"},
    {"negate", "neg"},
    {"negative", "neg"},
    {"not_equal", "ne"},
    {"permute", "transpose"},
    {"power", "pow"},
    {"prod", "reduce_prod"},
    {"product", "reduce_prod"},
    {"reciprocal", "div"},
    {"remainder", ""},
    {"rint", "round"},
    {"scatter", ""},
    {"sign", ""},
    {"sin", ""},
    {"sinh", ""},
    {"sort", ""},
    {"square", "mul"},
    {"subtract", "sub"},
    {"sum", "reduce_sum"},
    {"swish", "silu"},
    {"tan", ""},
    {"to", "cast"},
    {"true_divide", "div"},
    {"trunc", ""},
    {"view", "reshape"},
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
