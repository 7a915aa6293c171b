#include <algorithm>

#include "ir/literal.h"
#include "ir/op_rules.h"
#include "ir/text.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

constexpr size_t listed_elements = 32;  // a larger constant is written as hex bytes
constexpr size_t bytes_per_line = 48;

class Printer {
 public:
  explicit Printer(const Graph& g) : g_(g), dims_(g.dims()), labels_(g.value_count()), uses_(g.value_count(), 0) {}

  std::string run() {
    find_literals();
    number_values();
    out_ = "ingot 1.0\ngraph @" + name_or_quoted(g_.name()) + '(';
    list(g_.inputs(), [&](ValueId v) { input(v); });
    out_ += ") -> (";
    list(g_.outputs(), [&](const Output& output) {
      if (!output.name.empty()) out_ += name_or_quoted(output.name) + ": ";
      out_ += type(output.value);
    });
    out_ += ')';
    facts();
    flags();
    out_ += " {\n";
    for (ValueId v = 0; v < g_.value_count(); ++v) {
      const Value& value = g_.value(v);
      if (value.kind == ValueKind::constant && !inlined_[v]) constant(v);
      if (value.kind == ValueKind::result && value.result == 0) op(g_.op(value.source));
    }
    out_ += "  return ";
    list(g_.outputs(), [&](const Output& output) { out_ += label(output.value); });
    out_ += "\n}\n";
    return std::move(out_);
  }

  std::vector<std::string> names() {
    find_literals();
    number_values();
    std::vector<std::string> out(g_.value_count());
    for (ValueId v = 0; v < g_.value_count(); ++v) out[v] = label(v);
    return out;
  }

 private:
  template <class Range, class F>
  void list(const Range& items, F print_one) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ", ";
      first = false;
      print_one(item);
    }
  }

  // Unnamed values are numbered in the order of the text; a number that is some value's name is left out.
  void number_values() {
    uint64_t next = 0;
    const auto number = [&](ValueId v) {
      if (!g_.value_name(v).empty()) return;
      while (g_.find_value(std::to_string(next)) != no_value) ++next;
      labels_[v] = next++;
    };
    for (const ValueId v : g_.inputs()) number(v);
    for (ValueId v = 0; v < g_.value_count(); ++v)
      if (g_.value(v).kind >= ValueKind::constant && !inlined_[v]) number(v);
  }

  // A scalar is written in the place of its only use if reading it back makes it there again: right before its op, in
  // operand order, of the dtype that a literal there has.
  void find_literals() {
    inlined_.assign(g_.value_count(), false);
    for (uint32_t i = 0; i < g_.op_count(); ++i)
      for (const ValueId v : g_.op(i).operands) ++uses_[v];
    for (const Output& output : g_.outputs()) ++uses_[output.value];
    std::vector<size_t> order(g_.value_count());  // in the text, where all inputs come first
    size_t next = 0;
    for (ValueId v = 0; v < g_.value_count(); ++v)
      if (g_.value(v).kind >= ValueKind::constant) order[v] = next++;
    for (uint32_t i = 0; i < g_.op_count(); ++i) {
      const Op& op = g_.op(i);
      std::vector<bool> literal(op.operands.size());
      size_t count = 0;
      for (size_t k = 0; k < op.operands.size(); ++k) {
        const ValueId v = op.operands[k];
        const Value& value = g_.value(v);
        literal[k] =
            value.kind == ValueKind::constant && value.shape.empty() && uses_[v] == 1 && g_.value_name(v).empty();
        count += literal[k];
      }
      if (count == 0 || order[op.results[0]] < count) continue;
      size_t expected = order[op.results[0]] - count;
      bool right = true;
      const OpInfo& info = *op_info(op.code);
      const DType result = info.rule == Rule::quantize ? g_.value(op.results[0]).dtype : DType::invalid;
      for (size_t k = 0; k < op.operands.size() && right; ++k) {
        if (!literal[k]) continue;
        right = order[op.operands[k]] == expected++ &&
                literal_dtype(g_, info, op.operands, literal, k, result) == g_.value(op.operands[k]).dtype;
      }
      for (size_t k = 0; k < op.operands.size() && right; ++k)
        if (literal[k]) inlined_[op.operands[k]] = true;
    }
  }

  std::string label(ValueId v) const {
    const std::string_view name = g_.value_name(v);
    return '%' + (name.empty() ? std::to_string(labels_[v]) : name_or_quoted(name));
  }

  // Dims as they are, not in the form that later ops' facts give them: reading finds those facts at the same places.
  std::string dim(DimId d) const { return dims_.to_string(d); }
  std::string type(ValueId v) const { return type_text(dims_, g_.value(v).dtype, g_.value(v).shape); }

  void input(ValueId v) {
    out_ += label(v) + ": ";
    out_ += g_.value(v).kind == ValueKind::dim_input ? "dim " + dims_.to_string(g_.value(v).dim) : type(v);
  }

  std::string divided(DimId d) const {
    const bool bare = dims_.kind(d) == DimKind::symbol || dims_.kind(d) == DimKind::constant;
    return bare ? dims_.to_string(d) : '(' + dims_.to_string(d) + ')';
  }

  void facts() {
    std::vector<std::string> clauses;
    for (const DimId d : dims_.symbols()) {
      const auto [lo, hi] = dims_.declared_bounds(d);
      if (lo > 0) clauses.push_back(dims_.to_string(d) + " >= " + std::to_string(lo));
      if (hi < max_extent) clauses.push_back(dims_.to_string(d) + " <= " + std::to_string(hi));
    }
    std::ranges::sort(clauses);  // the order of symbols is that of first use, which a text need not keep
    for (const DimTable::Fact& fact : dims_.facts()) {
      if (fact.derived) continue;
      clauses.push_back(fact.fact == DimFact::equal
                            ? dims_.to_string(fact.dims[0]) + " == " + dims_.to_string(fact.dims[1])
                            : divided(fact.dims[0]) + " % " + divided(fact.dims[1]) + " == 0");
    }
    if (!clauses.empty()) out_ += " where ";
    list(clauses, [&](const std::string& clause) { out_ += clause; });
  }

  void flags() {
    std::vector<std::string_view> names;
    if (g_.flags() & relaxed_precision) names.emplace_back("relaxed_precision");
    if (g_.flags() & relaxed_contractions) names.emplace_back("relaxed_contractions");
    if (names.empty()) return;
    out_ += " flags(";
    list(names, [&](std::string_view name) { out_ += name; });
    out_ += ')';
  }

  static uint64_t element(const uint8_t* data, size_t size) {
    uint64_t bits = 0;
    for (size_t i = size; i-- > 0;) bits = bits << 8 | data[i];
    return bits;
  }

  void constant(ValueId v) {
    const Value& value = g_.value(v);
    const Constant& data = g_.constant_data(v);
    const size_t size = item_size(value.dtype), count = data.size / size;
    out_ += "  " + label(v) + " = constant ";
    if (value.shape.empty()) {
      out_ += element_text(value.dtype, element(data.data, size)) + " : ";
      out_ += name(value.dtype);
    } else {
      if (count == 0 || count > listed_elements) hex(data);
      else elements(value, data, 0, 0, count);
      out_ += " : " + type(v);
    }
    out_ += '\n';
  }

  // Nested lists; at most max_rank deep.
  void elements(const Value& value, const Constant& data, size_t level, size_t first, size_t count) {
    const size_t size = item_size(value.dtype);
    if (level == value.shape.size()) {
      out_ += element_text(value.dtype, element(data.data + first * size, size));
      return;
    }
    const auto extent = static_cast<size_t>(*dims_.as_constant(value.shape[level]));
    out_ += '[';
    for (size_t i = 0; i < extent; ++i) {
      if (i) out_ += ", ";
      elements(value, data, level + 1, first + i * (count / extent), count / extent);
    }
    out_ += ']';
  }

  void hex(const Constant& data) {
    static constexpr char digits[] = "0123456789abcdef";
    out_ += "hex(";
    for (size_t i = 0; i < data.size; ++i) {
      if (i % bytes_per_line == 0) out_ += i == 0 ? "\n    \"" : "\"\n    \"";
      out_ += digits[data.data[i] >> 4];
      out_ += digits[data.data[i] & 15];
    }
    out_ += data.size == 0 ? "\"\")" : "\")";
  }

  void op(const Op& op) {
    const OpInfo& info = *op_info(op.code);
    out_ += "  ";
    list(op.results, [&](ValueId v) { out_ += label(v); });
    out_ += " = ";
    out_ += info.name;
    if (!op.operands.empty()) out_ += ' ';
    list(op.operands, [&](ValueId v) {
      out_ += inlined_[v] ? element_text(g_.value(v).dtype, element(g_.constant_data(v).data, g_.constant_data(v).size))
                          : label(v);
    });
    std::vector<std::string> attrs;
    for (size_t i = 0; i < op.attrs.size(); ++i) {
      std::string text = attr(op.attrs[i]);
      const std::string_view fallback = info.attrs[i].fallback;
      const bool ones = fallback == "all 1" && std::ranges::all_of(op.attrs[i].ints, [](int64_t v) { return v == 1; });
      if (info.attrs[i].required || (text != fallback && !ones)) attrs.push_back(cat(info.attrs[i].name, " = ", text));
    }
    if (!attrs.empty()) {
      out_ += " {";
      list(attrs, [&](const std::string& text) { out_ += text; });
      out_ += '}';
    }
    out_ += '\n';
  }

  template <class Range, class F>
  static std::string bracketed(const Range& items, F print_one) {
    std::string out = "[";
    for (const auto& item : items) {
      if (out.size() > 1) out += ", ";
      out += print_one(item);
    }
    return out + ']';
  }

  std::string attr(const Attr& a) const {
    const auto truth = [](int64_t v) { return std::string(v ? "true" : "false"); };
    const auto dtype = [](int64_t v) { return quoted(name(static_cast<DType>(v))); };
    switch (a.kind) {
      case AttrKind::i64: return std::to_string(a.i);
      case AttrKind::f64: return float_text(a.f);
      case AttrKind::string: return quoted(a.s);
      case AttrKind::boolean: return truth(a.i);
      case AttrKind::dtype: return dtype(a.i);
      case AttrKind::dim: return dim(static_cast<DimId>(a.i));
      case AttrKind::i64s: return bracketed(a.ints, [](int64_t v) { return std::to_string(v); });
      case AttrKind::f64s: return bracketed(a.floats, [](double v) { return float_text(v); });
      case AttrKind::strings: return bracketed(a.strings, [](const std::string& v) { return quoted(v); });
      case AttrKind::booleans: return bracketed(a.ints, truth);
      case AttrKind::dtypes: return bracketed(a.ints, dtype);
      case AttrKind::dims: return bracketed(a.ints, [&](int64_t v) { return dim(static_cast<DimId>(v)); });
    }
    return {};
  }

  const Graph& g_;
  const DimTable& dims_;
  std::vector<uint64_t> labels_;
  std::vector<uint32_t> uses_;
  std::vector<bool> inlined_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph) {
  if (graph.dims().has_late_facts()) {
    try {
      return Printer(graph.restated()).run();
    } catch (const Error&) {
      // The facts refuse an op; the text shows it as it was added.
    }
  }
  return Printer(graph).run();
}

std::vector<std::string> printed_names(const Graph& graph) { return Printer(graph).names(); }

}  // namespace ingot::ir
