// The text form: one line per load, fold, shared or long value; other operands nest in the line that uses them. %n is
// node n, vn view n, sn size slot n, @n tensor n.
#include <bit>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "loop/rules.h"

namespace ingot::loop {

namespace {

// Nested operands end here and get a line of their own; also what keeps the text of a deep kernel linear in its size.
constexpr size_t longest_operand = 72;

template <class T>
std::string shortest(T v) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

std::string hex(uint64_t bits, size_t bytes) {
  std::string out = "0x";
  for (size_t digit = 2 * bytes; digit-- > 0;) out += "0123456789abcdef"[bits >> (4 * digit) & 15];
  return out;
}

// A value by its bits, so that it reads back to the same ones: NaN and the storage-only floats as hex.
std::string number(DType t, uint64_t bits) {
  switch (t) {
    case DType::boolean: return bits ? "true" : "false";
    case DType::f32: {
      const float v = std::bit_cast<float>(static_cast<uint32_t>(bits));
      return std::isnan(v) ? hex(bits, 4) : shortest(v);
    }
    case DType::f64: {
      const double v = std::bit_cast<double>(bits);
      return std::isnan(v) ? hex(bits, 8) : shortest(v);
    }
    default:
      if (ir::is_unsigned(t)) return cat(bits);
      if (ir::is_signed(t)) {
        const size_t unused = 64 - 8 * ir::item_size(t);
        return cat(static_cast<int64_t>(bits << unused) >> unused);
      }
      return hex(bits, ir::item_size(t));
  }
}

class Printer {
 public:
  explicit Printer(const Kernel& k) : k_(k), uses_(k.nodes.size(), 0), text_(k.nodes.size()) {}

  std::string run() {
    for (const Node& n : k_.nodes)
      for (const NodeId a : n.arg)
        if (a != no_node) ++uses_[a];
    for (const Store& s : k_.stores) ++uses_[s.value];
    const std::vector<uint8_t> level = levels(k_);

    out_ = cat("kernel ", unsigned{kernel_format}, "\n");
    extents("rows", 0, k_.rows);
    extents("cols", k_.rows, k_.axis_count());
    if (k_.row_lanes) append(out_, "row lanes\n");
    for (NodeId i = 0; i < k_.nodes.size(); ++i) {
      text_[i] = expression(i);
      const Prim op = k_.nodes[i].op;
      if (op == Prim::literal || op == Prim::size) continue;
      if (op != Prim::load && !ends_sweep(op) && uses_[i] == 1 && text_[i].size() <= longest_operand) continue;
      out_ += cat("%", i, " = ", text_[i]);
      if (ends_sweep(op)) out_ += cat("  // level ", unsigned{level[i]});
      out_ += '\n';
      text_[i] = cat("%", i);
    }
    for (const Store& s : k_.stores) out_ += cat("store ", view(s.view), " ", text_[s.value], "\n");
    return std::move(out_);
  }

 private:
  std::string axis(size_t a) const { return a < k_.rows ? cat("r", a) : cat("c", a - k_.rows); }

  std::string axes(AxisSet set) const {
    std::string out = "(";
    for (size_t a = 0; a < k_.axis_count(); ++a)
      if (set >> a & 1) out += cat(out.size() > 1 ? "," : "", axis(a));
    return out + ")";
  }

  void extents(const char* what, size_t from, size_t to) {
    if (from == to) return;
    out_ += what;
    for (size_t a = from; a < to; ++a) out_ += cat(a > from ? ", " : " ", axis(a), ":s", a);
    out_ += '\n';
  }

  std::string view(size_t i) const {
    const View& v = k_.views[i];
    std::string out = cat("v", i);
    if (v.kind == ViewKind::load || v.kind == ViewKind::store) out += cat(" @", unsigned{v.tensor});
    out += cat(" ", ir::name(v.storage), axes(v.axes));
    const char* before = " in ";
    for (const Box& b : v.boxes) {
      out += cat(before, axis(b.axis), " s", unsigned{b.lo}, ":s", unsigned{b.hi});
      before = ", ";
    }
    if (v.kind == ViewKind::load && !v.boxes.empty()) out += cat(" else ", number(v.storage, v.fill));
    return out;
  }

  std::string expression(NodeId i) const {
    const Node& n = k_.nodes[i];
    const char* name = prim_info(n.op)->name;
    switch (n.op) {
      case Prim::literal:
        return n.type == DType::boolean ? number(n.type, n.imm) : cat(number(n.type, n.imm), ":", ir::name(n.type));
      case Prim::size: return cat("s", n.imm);
      case Prim::load: {
        const ViewKind kind = k_.views[n.imm].kind;
        return cat(kind == ViewKind::iota ? "iota" : kind == ViewKind::inside ? "inside" : "load", " ", view(n.imm));
      }
      default: break;
    }
    std::string out = name;
    if (n.op == Prim::check || n.op == Prim::fetch) {
      out += n.op == Prim::check ? cat("(#", n.imm) : cat("(", view(n.imm));
      for (size_t a = 0; a < prim_info(n.op)->arity; ++a) out += cat(", ", text_[n.arg[a]]);
      return out + ")";
    }
    if (n.op == Prim::convert || n.op == Prim::bitcast || n.op == Prim::number_bits) out += cat(".", ir::name(n.type));
    out += '(';
    for (size_t a = 0; a < 3; ++a)
      if (n.arg[a] != no_node) out += cat(a ? ", " : "", text_[n.arg[a]]);
    out += ')';
    if (is_scan(n.op) && (n.imm & scan_exclusive)) out += " exclusive";
    if (is_scan(n.op) && (n.imm & scan_reverse)) out += " reverse";
    if (ends_sweep(n.op)) out += cat(" over ", axes(k_.col_set()));
    return out;
  }

  const Kernel& k_;
  std::vector<uint32_t> uses_;
  std::vector<std::string> text_;  // per node: what an operand that names it reads
  std::string out_;
};

}  // namespace

std::string to_text(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace ingot::loop
