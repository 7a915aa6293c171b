#include "loop/rules.h"

namespace ingot::loop {

namespace {
bool is_fp(DType t) { return t == DType::f32 || t == DType::f64; }

// The kinds of type that an arith or fold primitive takes, as a set.
enum : unsigned { ints = 1, floats = 2, booleans = 4, narrows = 8 };

unsigned kinds(Prim op) {
  switch (op) {
    case Prim::add:
    case Prim::sub:
    case Prim::mul:
    case Prim::div:
    case Prim::min:
    case Prim::max:
    case Prim::fold_sum:
    case Prim::fold_prod:
    case Prim::fold_dot:
    case Prim::scan_sum:
    case Prim::scan_prod:
    case Prim::scan_min:
    case Prim::scan_max: return ints | floats;
    case Prim::neg:
    case Prim::abs: return ints | floats | narrows;
    case Prim::copysign: return floats | narrows;
    case Prim::bitcast: return ints | floats | narrows;
    case Prim::rem:
    case Prim::shl:
    case Prim::shr:
    case Prim::popcount:
    case Prim::clz:
    case Prim::ctz: return ints;
    case Prim::fma:
    case Prim::sqrt:
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::round:
    case Prim::scale2:
    case Prim::number:
    case Prim::number_bits:
    case Prim::canon: return floats;
    case Prim::and_:
    case Prim::or_:
    case Prim::xor_:
    case Prim::not_: return ints | booleans;
    default: return ints | floats | booleans;
  }
}

bool in(unsigned set, DType t) {
  if (t == DType::boolean) return set & booleans;
  if (is_narrow(t)) return set & narrows;
  return is_fp(t) ? set & floats : ir::is_integer(t) && (set & ints);
}
}  // namespace

bool is_value_type(DType t) noexcept { return t == DType::boolean || ir::is_integer(t) || ir::is_float(t); }

bool is_narrow(DType t) noexcept { return ir::is_float(t) && !is_fp(t); }

uint64_t bits_mask(DType t) noexcept {
  const size_t width = 8 * ir::item_size(t);
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

bool fits(DType t, uint64_t bits) noexcept { return t == DType::boolean ? bits <= 1 : (bits & ~bits_mask(t)) == 0; }

const char* type_fault(Prim op, DType type, DType a, DType b, DType c) noexcept {
  const PrimInfo* info = prim_info(op);
  if (!info) return "no such primitive";
  if (!is_value_type(type)) return "its type is not one of values";
  if (info->cls == PrimClass::leaf) return nullptr;
  switch (op) {
    case Prim::select:
    case Prim::rare:
      if (a != DType::boolean) return "the condition is not boolean";
      return b == type && c == type ? nullptr : "both choices must have the node's type";
    case Prim::convert:
      if (a == type) return "it converts a type to itself";
      if (is_narrow(a) ? type != DType::f32 : is_narrow(type) && a != DType::f32)
        return "f16, bf16 and fp8 convert from and to f32 only";
      return nullptr;
    case Prim::number_bits:
      return (a == DType::f32 && type == DType::i32) || (a == DType::f64 && type == DType::i64)
                 ? nullptr
                 : "it takes f32 to i32 or f64 to i64";
    case Prim::bitcast:
      if (a == DType::boolean || type == DType::boolean) return "a boolean has no bits to cast";
      if (a == type) return "it casts a type to itself";
      return ir::item_size(a) == ir::item_size(type) ? nullptr : "the types differ in size";
    case Prim::check:
      if (a != DType::boolean) return "the condition is not boolean";
      if (b != DType::i64 || c != DType::i64) return "index and extent are not i64";
      return type == DType::boolean ? nullptr : "a check is boolean";
    case Prim::fetch:
      if (a != DType::boolean) return "the condition is not boolean";
      return b == DType::i64 ? nullptr : "the offset is not i64";
    case Prim::scale2:
      if (b != DType::i32) return "the exponent is not i32";
      b = type;
      break;
    default: break;
  }
  if (!in(kinds(op), a)) return "the primitive does not exist for the type of its arguments";
  if (info->arity > 1 && b != a) return "the arguments differ in type";
  if (info->arity > 2 && c != a) return "the arguments differ in type";
  if (info->cls == PrimClass::compare) return type == DType::boolean ? nullptr : "a comparison is boolean";
  return type == a ? nullptr : "its type is not that of its arguments";
}

bool makes_nan(const Kernel& kernel, const Node& node) noexcept {
  if (!is_fp(node.type)) return false;
  switch (node.op) {
    case Prim::literal:
    case Prim::load:
    case Prim::fetch:
    case Prim::bitcast:
    case Prim::canon:
    case Prim::number:
    // These only move bits.
    case Prim::select:
    case Prim::rare:
    case Prim::neg:
    case Prim::abs:
    case Prim::copysign: return false;
    case Prim::convert: return ir::is_float(kernel.nodes[node.arg[0]].type);
    default: return true;
  }
}

Prim join_of(Prim fold, DType type) noexcept {
  const bool boolean = type == DType::boolean;
  switch (fold) {
    case Prim::fold_prod: return Prim::mul;
    case Prim::fold_min: return boolean ? Prim::and_ : Prim::min;
    case Prim::fold_max: return boolean ? Prim::or_ : Prim::max;
    default: return Prim::add;
  }
}

bool may_stand_still(const Kernel& kernel, const View& view) noexcept {
  return kernel.cols == 0 && kernel.rows > 1 && view.kind == ViewKind::load && view.boxes.empty() && view.axes != 0 &&
         (view.axes >> (kernel.rows - 1) & 1) == 0;
}

bool may_have_row_lanes(const Kernel& kernel) noexcept {
  if (kernel.rows == 0 || kernel.cols == 0) return false;
  for (const Node& n : kernel.nodes)
    if (is_scan(n.op) || n.op == Prim::fold_dot || (is_fold(n.op) && n.type == DType::boolean)) return false;
  for (const Store& s : kernel.stores)
    if (kernel.views[s.view].axes & kernel.col_set()) return false;
  return true;
}

std::vector<bool> nan_bits_seen(const Kernel& kernel, const std::vector<bool>& live) {
  std::vector<bool> seen(kernel.nodes.size(), false);
  for (const Store& s : kernel.stores) seen[s.value] = true;
  for (size_t i = kernel.nodes.size(); i-- > 0;) {
    const Node& n = kernel.nodes[i];
    if (!live[i]) continue;
    if (n.op == Prim::bitcast) seen[n.arg[0]] = true;
    if (n.op == Prim::copysign) seen[n.arg[1]] = true;
    if (!seen[i]) continue;
    if (n.op == Prim::select || n.op == Prim::rare) seen[n.arg[1]] = seen[n.arg[2]] = true;
    if (n.op == Prim::neg || n.op == Prim::abs || n.op == Prim::copysign) seen[n.arg[0]] = true;
  }
  return seen;
}

std::vector<bool> live_nodes(const Kernel& kernel) {
  std::vector<bool> live(kernel.nodes.size(), false);
  for (const Store& s : kernel.stores) live[s.value] = true;
  for (size_t i = kernel.nodes.size(); i-- > 0;)
    if (live[i])
      for (const NodeId a : kernel.nodes[i].arg)
        if (a != no_node) live[a] = true;
  return live;
}

}  // namespace ingot::loop
