#include "ir/op.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace ingot::ir {

namespace {

// The attribute lists that ops.def names. A default is written in text form; empty means none.
namespace attrs {
constexpr std::array<AttrSpec, 0> none{};
constexpr std::array gelu{
    AttrSpec{"approximate", AttrKind::string, false, "\"none\"", "\"none\" (by erf) or \"tanh\""},
};
constexpr std::array cast{
    AttrSpec{"to", AttrKind::dtype, true, "", "the result's dtype"},
};
constexpr std::array iota{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape, of rank 1 or more"},
    AttrSpec{"axis", AttrKind::i64, false, "0", "the dim whose index is counted"},
    AttrSpec{"dtype", AttrKind::dtype, false, "\"i64\"", "the result's dtype"},
};
constexpr std::array reshape{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape; one extent may be -1 and follows from the others"},
};
constexpr std::array transpose{
    AttrSpec{"perm", AttrKind::i64s, true, "", "dim i of the result is dim perm[i] of the operand"},
};
constexpr std::array broadcast{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape"},
};
constexpr std::array slice{
    AttrSpec{"starts", AttrKind::dims, true, "", "first index of each dim; a negative constant counts from the end"},
    AttrSpec{"limits", AttrKind::dims, true, "",
             "where each dim stops, exclusive; a negative constant counts from the end"},
    AttrSpec{"steps", AttrKind::i64s, false, "all 1", "step of each dim, not 0"},
};
constexpr std::array pad{
    AttrSpec{"low", AttrKind::dims, true, "", "elements put before each dim; negative cuts"},
    AttrSpec{"high", AttrKind::dims, true, "", "elements put after each dim; negative cuts"},
    AttrSpec{"mode", AttrKind::string, false, "\"constant\"",
             "\"constant\", \"edge\", \"reflect\" (counts below the extent) or \"wrap\" (counts up to the extent)"},
};
constexpr std::array axis0{
    AttrSpec{"axis", AttrKind::i64, false, "0", "the dim joined along; negative counts from the end"},
};
constexpr std::array reverse{
    AttrSpec{"axes", AttrKind::i64s, true, "", "the dims reversed; negative counts from the end"},
};
constexpr std::array dim{
    AttrSpec{"size", AttrKind::dim, true, "", "the dim: a symbol or an expression of symbols"},
};
constexpr std::array reduce{
    AttrSpec{"axes", AttrKind::i64s, false, "all", "the dims reduced; negative counts from the end"},
    AttrSpec{"keepdims", AttrKind::boolean, false, "false", "whether a reduced dim stays as an extent of 1"},
};
constexpr std::array axis{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim worked along; negative counts from the end"},
};
constexpr std::array dot_general{
    AttrSpec{"lhs_batch", AttrKind::i64s, false, "[]", "the first operand's batch dims; negative counts from the end"},
    AttrSpec{"rhs_batch", AttrKind::i64s, false, "[]", "the second operand's, each equal to that of lhs_batch"},
    AttrSpec{"lhs_contract", AttrKind::i64s, false, "[]", "the first operand's dims that are summed over"},
    AttrSpec{"rhs_contract", AttrKind::i64s, false, "[]", "the second operand's, each equal to that of lhs_contract"},
};
constexpr std::array attention{
    AttrSpec{"causal", AttrKind::boolean, false, "false", "row i sees columns 0 to i only"},
    AttrSpec{"scale", AttrKind::f64, false, "0", "what the products are multiplied by; 0: 1 / sqrt of q's last extent"},
};
constexpr std::array slope{
    AttrSpec{"negative_slope", AttrKind::f64, false, "0.01", "the slope below 0"},
};
constexpr std::array range{
    AttrSpec{"low", AttrKind::f64, false, "-1", "the least result"},
    AttrSpec{"high", AttrKind::f64, false, "1", "the greatest result, not below low"},
};
constexpr std::array elu{
    AttrSpec{"alpha", AttrKind::f64, false, "1", "what the result is near at -inf, negated"},
};
constexpr std::array norm{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the first normalised dim; negative counts from the end"},
    AttrSpec{"epsilon", AttrKind::f64, false, "1e-05", "added to the variance or mean square"},
};
constexpr std::array squeeze{
    AttrSpec{"axes", AttrKind::i64s, true, "", "the dims removed; negative counts from the end"},
};
constexpr std::array expand_dims{
    AttrSpec{"axes", AttrKind::i64s, true, "", "the new dims, counted in the result; negative counts from its end"},
};
constexpr std::array stack{
    AttrSpec{"axis", AttrKind::i64, false, "0", "the new dim, counted in the result; negative counts from its end"},
};
constexpr std::array split{
    AttrSpec{"axis", AttrKind::i64, false, "0", "the dim split; negative counts from the end"},
    AttrSpec{"parts", AttrKind::i64, false, "0", "how many equal parts; 0 where sizes are given"},
    AttrSpec{"sizes", AttrKind::dims, false, "[]", "the extent of each part; [] where parts is given"},
};
constexpr std::array roll{
    AttrSpec{"shifts", AttrKind::dims, true, "", "how far along each of axes; negative goes down"},
    AttrSpec{"axes", AttrKind::i64s, true, "", "the dims rolled; negative counts from the end"},
};
constexpr std::array tile{
    AttrSpec{"repeats", AttrKind::dims, true, "", "how many times along each dim"},
};
constexpr std::array repeat{
    AttrSpec{"repeats", AttrKind::dim, true, "", "how many times each index"},
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim repeated; negative counts from the end"},
};
constexpr std::array diagonal{
    AttrSpec{"offset", AttrKind::i64, false, "0", "which diagonal; positive lies above the main one"},
    AttrSpec{"axis1", AttrKind::i64, false, "0", "the dim of rows; negative counts from the end"},
    AttrSpec{"axis2", AttrKind::i64, false, "1", "the dim of columns; negative counts from the end"},
};
constexpr std::array tri{
    AttrSpec{"diagonal", AttrKind::i64, false, "0", "which diagonal; positive lies above the main one"},
};
constexpr std::array eye{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape, of rank 2 or more"},
    AttrSpec{"diagonal", AttrKind::i64, false, "0", "which diagonal; positive lies above the main one"},
    AttrSpec{"dtype", AttrKind::dtype, false, "\"f32\"", "the result's dtype"},
};
constexpr std::array variance{
    AttrSpec{"axes", AttrKind::i64s, false, "all", "the dims reduced; negative counts from the end"},
    AttrSpec{"keepdims", AttrKind::boolean, false, "false", "whether a reduced dim stays as an extent of 1"},
    AttrSpec{"ddof", AttrKind::i64, false, "0", "taken off the number of elements divided by; 0 or more"},
};
constexpr std::array argument{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim searched; negative counts from the end"},
    AttrSpec{"keepdims", AttrKind::boolean, false, "false", "whether that dim stays as an extent of 1"},
};
constexpr std::array epsilon{
    AttrSpec{"epsilon", AttrKind::f64, false, "1e-05", "added to the variance"},
};
constexpr std::array group_norm{
    AttrSpec{"groups", AttrKind::i64, true, "", "how many runs of channels, each as long"},
    AttrSpec{"epsilon", AttrKind::f64, false, "1e-05", "added to the variance"},
};
constexpr std::array batch_norm{
    AttrSpec{"axis", AttrKind::i64, false, "1", "the dim of channels; negative counts from the end"},
    AttrSpec{"epsilon", AttrKind::f64, false, "1e-05", "added to the variance"},
};
constexpr std::array quantize{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim of a scale or zero point of rank 1"},
    AttrSpec{"dtype", AttrKind::dtype, false, "\"i8\"", "the result's dtype, \"i8\" or \"u8\", and that of zero_point"},
};
constexpr std::array quantum{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim of a scale or zero point of rank 1"},
};
constexpr std::array rope{
    AttrSpec{"interleaved", AttrKind::boolean, false, "false", "pairs lie side by side, not half the dim apart"},
};
constexpr std::array scan{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim worked along; negative counts from the end"},
    AttrSpec{"exclusive", AttrKind::boolean, false, "false",
             "whether an element's own value is left out, the first result being that of nothing"},
    AttrSpec{"reverse", AttrKind::boolean, false, "false", "whether it begins at the end of the axis"},
};
constexpr AttrSpec random_stream{"stream", AttrKind::i64, false, "0",
                                 "which of the 2^64 sequences of the seed; negative ones count modulo 2^64"};
constexpr std::array random_bits{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape"},
    random_stream,
    AttrSpec{"dtype", AttrKind::dtype, false, "\"u32\"", "the result's dtype: an unsigned integer"},
};
constexpr std::array random{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape"},
    random_stream,
    AttrSpec{"dtype", AttrKind::dtype, false, "\"f32\"", "the result's dtype: f16, bf16, f32 or f64"},
};
constexpr std::array bernoulli{
    AttrSpec{"shape", AttrKind::dims, true, "", "the result's shape"},
    random_stream,
};
constexpr std::array dropout{
    AttrSpec{"p", AttrKind::f64, false, "0.5", "the share that is dropped, 0 to 1"},
    random_stream,
};
constexpr std::array unpack_bits{
    AttrSpec{"count", AttrKind::dim, false, "-1", "how many bits of each row; -1 for all, 8 an item"},
    AttrSpec{"bitorder", AttrKind::string, false, "\"little\"", "\"little\": the lowest bit is the first; or \"big\""},
};
constexpr std::array cross_entropy{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim of classes; negative counts from the end"},
    AttrSpec{"ignore_index", AttrKind::i64, false, "-100", "labels of this value count for nothing"},
    AttrSpec{"reduction", AttrKind::string, false, "\"mean\"", "\"none\", \"mean\" or \"sum\""},
};
constexpr std::array gather{
    AttrSpec{"axis", AttrKind::i64, false, "0", "the dim indexed; negative counts from the end"},
};
constexpr std::array along{
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the dim indexed; negative counts from the end"},
};
constexpr std::array gather_nd{
    AttrSpec{"batch_dims", AttrKind::i64, false, "0", "leading dims that data and indices have in common"},
};
constexpr std::array one_hot{
    AttrSpec{"depth", AttrKind::dim, true, "", "the extent of the new dim"},
    AttrSpec{"axis", AttrKind::i64, false, "-1", "the new dim, counted in the result; negative counts from its end"},
    AttrSpec{"dtype", AttrKind::dtype, false, "\"f32\"", "the result's dtype"},
};
constexpr std::array searchsorted{
    AttrSpec{"side", AttrKind::string, false, "\"left\"", "\"left\": before equal elements; \"right\": behind them"},
};
}  // namespace attrs

constexpr OpInfo rows[] = {
#define OP(name, number, cls, lo, hi, types, rule, attributes, doc, example) \
  {#name, OpCode::op_##name, OpClass::cls, lo, hi, TypeSet::types, Rule::rule, attrs::attributes, doc},
#include "ir/ops.def"
#undef OP
};

constexpr bool ascending() {
  for (size_t i = 1; i < std::size(rows); ++i)
    if (rows[i - 1].code >= rows[i].code) return false;
  return true;
}
static_assert(ascending(), "op_info() searches by number, and numbers are unique");

// Rows by name, made at compile time: find_op() serves the parser for every op of a text.
constexpr auto by_name = [] {
  std::array<uint16_t, std::size(rows)> order{};
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint16_t>(i);
  std::sort(order.begin(), order.end(), [](uint16_t a, uint16_t b) { return rows[a].name < rows[b].name; });
  return order;
}();

}  // namespace

const OpInfo* op_info(OpCode code) noexcept {
  const auto at = std::lower_bound(std::begin(rows), std::end(rows), code,
                                   [](const OpInfo& row, OpCode c) { return row.code < c; });
  return at != std::end(rows) && at->code == code ? at : nullptr;
}

const OpInfo* find_op(std::string_view name) noexcept {
  const auto at = std::lower_bound(by_name.begin(), by_name.end(), name,
                                   [](uint16_t row, std::string_view n) { return rows[row].name < n; });
  return at != by_name.end() && rows[*at].name == name ? &rows[*at] : nullptr;
}

std::span<const OpInfo> op_table() noexcept { return rows; }

std::string_view name(OpClass cls) noexcept {
  switch (cls) {
    case OpClass::elementwise: return "elementwise";
    case OpClass::function: return "function";
    case OpClass::reduce: return "reduce";
    case OpClass::scan: return "scan";
    case OpClass::movement: return "movement";
    case OpClass::gather: return "gather";
    case OpClass::contraction: return "contraction";
    case OpClass::composite: return "composite";
  }
  return "invalid";
}

bool in_set(TypeSet set, DType type) noexcept {
  const bool real = type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
  switch (set) {
    case TypeSet::num: return real || is_integer(type);
    case TypeSet::flt: return real;
    case TypeSet::any: return real || is_integer(type) || is_float(type) || type == DType::boolean;
    case TypeSet::boo: return type == DType::boolean;
    case TypeSet::bit: return type == DType::boolean || is_integer(type);
    case TypeSet::itg: return is_integer(type);
    case TypeSet::sgn: return real || is_signed(type);
    case TypeSet::qnt: return type == DType::i8 || type == DType::u8;
    case TypeSet::key: return type == DType::i64 || type == DType::u64;
    case TypeSet::byt: return type == DType::u8;
  }
  return false;
}

std::string_view name(AttrKind kind) noexcept {
  switch (kind) {
    case AttrKind::i64: return "i64";
    case AttrKind::f64: return "f64";
    case AttrKind::string: return "string";
    case AttrKind::boolean: return "bool";
    case AttrKind::dtype: return "dtype";
    case AttrKind::dim: return "dim";
    case AttrKind::i64s: return "list of i64";
    case AttrKind::f64s: return "list of f64";
    case AttrKind::strings: return "list of string";
    case AttrKind::booleans: return "list of bool";
    case AttrKind::dtypes: return "list of dtype";
    case AttrKind::dims: return "list of dim";
  }
  return "invalid";
}

size_t attr_index(const OpInfo& info, std::string_view name) {
  for (size_t i = 0; i < info.attrs.size(); ++i)
    if (info.attrs[i].name == name) return i;
  bug("op ", info.name, " has no attribute ", name);
}

}  // namespace ingot::ir
