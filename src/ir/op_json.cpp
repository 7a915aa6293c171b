#include "ir/op_json.h"

#include <array>

#include "ir/op.h"

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

std::string op_json(const OpInfo& op) {
  std::string out = cat("{\"name\": ", json_string(op.name), ", \"number\": ", static_cast<uint32_t>(op.code),
                        ", \"class\": ", json_string(name(op.cls)), ", \"operands\": [", op.min_operands, ", ",
                        op.max_operands, "], \"dtypes\": [");
  bool first = true;
  for (const DType t : dtypes) {
    const bool computes = op.rule == Rule::compare || op.rule == Rule::iota;  // fp8 is only stored and moved
    if (!in_set(op.types, t) || (computes && (t == DType::f8e4m3 || t == DType::f8e5m2))) continue;
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
  return out + cat("], \"doc\": ", json_string(op.doc), "}");
}

std::string_view set_text(TypeSet set) {
  switch (set) {
    case TypeSet::num: return "integers, floats";
    case TypeSet::flt: return "f16 bf16 f32 f64";
    case TypeSet::any: return "any";
    case TypeSet::boo: return "bool";
    case TypeSet::bit: return "bool, integers";
    case TypeSet::sgn: return "signed integers, floats";
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

std::string op_table_markdown() {
  std::string out =
      "# Ops\n\n"
      "Made from the op table (`src/ir/ops.def`) by `make_ops_page`; a test holds the two together. Elementwise ops "
      "broadcast\n"
      "as NumPy does, all operands have one dtype, and nothing promotes by itself. Rounding, NaN and the order of "
      "sums:\n"
      "[numerics.md](numerics.md). Wherever an attribute names a dim, a negative number counts from the end.\n";
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
      rows += cat("| `", op.name, "` | ", static_cast<uint32_t>(op.code), " | ", operands, " | ", set_text(op.types),
                  " | ", markdown_cell(op.doc), " | ", attrs, " |\n");
    }
    if (rows.empty()) continue;
    out += cat("\n## ", name(cls),
               "\n\n| op | number | operands | dtypes | meaning | attributes |\n|---|---|---|---|---|---|\n", rows);
  }
  return out;
}

}  // namespace ingot::ir
