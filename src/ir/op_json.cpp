#include "ir/op_json.h"

#include <array>

#include "ir/op_rules.h"

namespace ingot::ir {

namespace {

constexpr std::array dtypes{DType::boolean, DType::i8,  DType::i16, DType::i32,    DType::i64,
                            DType::u8,      DType::u16, DType::u32, DType::u64,    DType::f16,
                            DType::bf16,    DType::f32, DType::f64, DType::f8e4m3, DType::f8e5m2};

// The table's texts are plain ASCII, so quotes and backslashes are all there is to escape.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

// In the order of op_table().
constexpr std::string_view examples[] = {
#define OP(name, number, cls, lo, hi, types, rule, attrs, doc, example) example,
#include "ir/ops.def"
#undef OP
};

std::string_view example_of(const OpInfo& op) { return examples[&op - op_table().data()]; }

// Dtypes that are only stored and moved are no operands of a computation.
bool computes(const OpInfo& op) {
  return op.rule == Rule::compare || op.rule == Rule::iota || op.rule == Rule::eye || op.rule == Rule::count ||
         op.rule == Rule::argument;
}
bool takes(const OpInfo& op, DType t) {
  if (op.rule == Rule::bitcast && t == DType::boolean) return false;
  return in_set(op.types, t) && !(computes(op) && is_storage_only(t));
}

// How many results; null where the attributes tell.
std::string_view results_of(const OpInfo& op) {
  if (op.rule == Rule::split) return "null";
  if (op.code == OpCode::op_frexp) return "2";
  return op.code == OpCode::op_batch_norm_training ? "3" : "1";
}

std::string op_json(const OpInfo& op) {
  std::string out = cat("{\"name\": ", json_string(op.name), ", \"number\": ", static_cast<uint32_t>(op.code),
                        ", \"class\": ", json_string(name(op.cls)), ", \"operands\": [", op.min_operands, ", ",
                        op.max_operands, "], \"dtypes\": [");
  bool first = true;
  for (const DType t : dtypes) {
    if (!takes(op, t)) continue;
    out += cat(first ? "" : ", ", json_string(name(t)));
    first = false;
  }
  out += "], \"attributes\": [";
  for (const AttrSpec& a : op.attrs) {
    out +=
        cat(&a == op.attrs.data() ? "" : ", ", "{\"name\": ", json_string(a.name),
            ", \"kind\": ", json_string(name(a.kind)), ", \"required\": ", a.required,
            ", \"default\": ", a.required ? "null" : json_string(a.fallback), ", \"doc\": ", json_string(a.doc), "}");
  }
  return out + cat("], \"results\": ", results_of(op), ", \"doc\": ", json_string(op.doc),
                   ", \"example\": ", json_string(example_of(op)), "}");
}

std::string_view dtypes_text(const OpInfo& op) {
  switch (op.types) {
    case TypeSet::num: return "integers, floats";
    case TypeSet::flt: return "floats";
    case TypeSet::any:
      if (op.rule == Rule::bitcast) return "integers, floats, fp8";
      return computes(op) ? "bool, integers, floats" : "bool, integers, floats, fp8";
    case TypeSet::boo: return "bool";
    case TypeSet::bit: return "bool, integers";
    case TypeSet::itg: return "integers";
    case TypeSet::sgn: return "signed integers, floats";
    case TypeSet::qnt: return "i8, u8";
    case TypeSet::key: return "i64, u64";
    case TypeSet::byt: return "u8";
  }
  return "";
}

}  // namespace

std::string op_table_json() {
  std::string out = "{\"schema\": 1, \"ops\": [\n";
  for (const OpInfo& op : op_table()) {
    out += op_json(op);
    out += &op == &op_table().back() ? "\n" : ",\n";
  }
  return out + "]}\n";
}

std::string_view example_inputs() {
  return "%x: f32[B, N], %y: f32[B, N], %s: f32[N], %m: f32[N, M], %i: i32[B, N], %j: i32[B, N], %b: bool[B, N], "
         "%c: bool[B, N], %q: i8[B, N], %z: i8[], %t: f32[], %h: f32[N/2], %p: u8[N], %k: i64[B, 2], "
         "%l: i64[B]";
}

std::string op_table_markdown() {
  std::string out = cat(
      R"(# Ops

Made from the op table (`src/ir/ops.def`) by `make_ops_page`; a test holds the two together. `ingot ops --json` prints
the same as data.

- **Operands.** All have one dtype unless the op's row says otherwise, and nothing promotes by itself; `select` takes a
  bool condition first. Elementwise ops broadcast as NumPy does. In the text form a number may stand for an operand where
  another one tells its dtype; elsewhere it is a constant of its own, `%zero = constant 0.0 : f32[]`.
- **Indices** have any integer dtype, whatever that of the data. Negative ones count from the end; one out of range fails
  the run with OUT_OF_RANGE and a message that names op, operand and index ([numerics.md](numerics.md)).
- **Dtypes.** Integers: `i8 i16 i32 i64 u8 u16 u32 u64`, the signed ones `i8 i16 i32 i64`. Floats: `f16 bf16 f32 f64`.
  fp8: `f8e4m3 f8e5m2`, which are stored, moved and cast, not computed with.
- **Attributes** stand in braces. A dtype is written in quotes (`to = "f32"`). A list of dims takes numbers and dim
  expressions (`shape = [2, N/2]`); through the C interface a list of i64 will do where all are numbers. Where an
  attribute names a dim, a negative number counts from the end.
- **`slice`.** Negative constants in `starts` and `limits` count from the end, then both are cut to the operand, so that
  a slice out of range is shorter or empty and never an error. A symbolic index (`N - 5`) is only cut, never counted
  from the end. With a negative step the walk is downwards and `limits` is exclusive below: since -1 is the
  last index, a limit that includes index 0 is `-(extent + 1)` or less.
- **Reductions of nothing** (an extent of 0) give the value that changes no other: sum 0, product 1, max `-inf` and min
  `inf` (of integers the lowest and the highest of the dtype), any false, all true; the mean is NaN.
- **Empty tensors** are legal. But as in NumPy an extent of 0 counts as 1 where sizes are checked, since the strides of the
  other dims have to fit 63 bits wherever it stands: `f32[1099511627776, 1099511627776, 0]` is refused.
- **Results.** One, but for `split` (one a part), `frexp` (mantissa, exponent) and `batch_norm_training` (three). They are
  all named: `%m, %e = frexp %x`.
- Rounding, NaN and the order of sums: [numerics.md](numerics.md).

Each example is the right side of `%r = ...` in a graph with the inputs
`)",
      example_inputs(), "`.\n");
  for (const OpClass cls : {OpClass::elementwise, OpClass::function, OpClass::reduce, OpClass::scan, OpClass::movement,
                            OpClass::gather, OpClass::contraction, OpClass::composite}) {
    std::string rows;
    for (const OpInfo& op : op_table()) {
      if (op.cls != cls) continue;
      const std::string operands =
          op.min_operands == op.max_operands ? cat(op.min_operands) : cat(op.min_operands, " to ", op.max_operands);
      std::string attrs;
      for (const AttrSpec& a : op.attrs) {
        attrs += cat(attrs.empty() ? "" : "<br>", "`", a.name, "` ", name(a.kind),
                     a.required ? ", required" : cat(" = `", a.fallback, "`"), ": ", markdown_cell(a.doc));
      }
      rows += cat("| `", op.name, "` | ", static_cast<uint32_t>(op.code), " | ", operands, " | ", dtypes_text(op),
                  " | ", markdown_cell(op.doc), " | `", example_of(op), "` | ", attrs, " |\n");
    }
    if (rows.empty()) continue;
    out +=
        cat("\n## ", name(cls),
            "\n\n| op | number | operands | dtypes | meaning | example | attributes |\n|---|---|---|---|---|---|---|\n",
            rows);
  }
  return out;
}

}  // namespace ingot::ir
