#include <cstring>
#include <optional>

#include "ir/scalar.h"
#include "pass/passes.h"
#include "pass/rebuild.h"

namespace ingot::pass {

namespace {

using ir::Attr;
using ir::DType;

class Simplifier {
 public:
  explicit Simplifier(const ir::Graph& graph) : r_(graph) {}

  ir::Graph run() {
    const ir::Graph& from = r_.from();
    for (uint32_t i = 0; i < from.op_count(); ++i) {
      const ir::Op& op = from.op(i);
      if (const std::optional<ValueId> v = rewrite(op)) r_.set(op.results[0], *v);
      else r_.copy(op);
    }
    return r_.finish();
  }

 private:
  // Reading the new graph, where operands are already simplified.
  const ir::Graph& to() { return r_.to(); }
  const std::vector<ir::DimId>& shape(ValueId v) { return to().value(v).shape; }
  const ir::Op* maker(ValueId v, OpCode code) {
    const ir::Value& value = to().value(v);
    if (value.kind != ir::ValueKind::result || to().op(value.source).code != code) return nullptr;
    return &to().op(value.source);
  }

  bool same_shape(ValueId a, std::span<const ir::DimId> b) {
    if (shape(a).size() != b.size()) return false;
    for (size_t d = 0; d < b.size(); ++d)
      if (!to().dims().known_equal(shape(a)[d], b[d])) return false;
    return true;
  }

  // The bits of a constant of one element, whatever its rank.
  std::optional<uint64_t> element(ValueId v) {
    const ir::Value& value = to().value(v);
    if (value.kind != ir::ValueKind::constant) return std::nullopt;
    const ir::Constant& c = to().constant_data(v);
    if (c.size != ir::item_size(value.dtype) || c.size > 8) return std::nullopt;
    uint64_t bits = 0;
    std::memcpy(&bits, c.data, c.size);
    return bits;
  }

  // Whether v is a constant of one element with exactly this value, the sign of zero included.
  bool is_number(ValueId v, double number) {
    const auto bits = element(v);
    if (!bits) return false;
    const DType t = to().value(v).dtype;
    if (ir::is_float(t)) return *bits == ir::float_bits(t, number);
    return ir::is_integer(t) && *bits == static_cast<uint64_t>(number);
  }

  // Results of arithmetic hold no NaN payload of the host's, so a neutral op on them changes no bit. On a moved value
  // it would make a NaN canonical and has to stay.
  bool arithmetic(ValueId v) {
    const ir::Value& value = to().value(v);
    if (!ir::is_float(value.dtype)) return true;
    if (value.kind != ir::ValueKind::result) return false;
    const ir::Op& op = to().op(value.source);
    switch (op.code) {
      case OpCode::op_neg:
      case OpCode::op_abs:
      case OpCode::op_copysign:
      case OpCode::op_bitcast:
      case OpCode::op_select: return false;
      default: break;
    }
    const ir::OpClass cls = ir::op_info(op.code)->cls;
    return cls == ir::OpClass::elementwise || cls == ir::OpClass::function || cls == ir::OpClass::reduce ||
           cls == ir::OpClass::scan || cls == ir::OpClass::contraction;
  }

  // `x op c` is x: for c neutral and x arithmetic, with a shape that the other operand does not widen.
  std::optional<ValueId> neutral(const ir::Op& op, ValueId x, ValueId c, double number) {
    if (!is_number(c, number) || !arithmetic(x) || !same_shape(x, r_.from().value(op.results[0]).shape))
      return std::nullopt;
    return x;
  }

  std::optional<ValueId> rewrite(const ir::Op& op) {
    if (op.code == OpCode::op_dim) {
      const auto extent = r_.from().dims().as_constant(static_cast<ir::DimId>(attr(op, "size").i));
      return extent ? std::optional(r_.to().scalar(DType::i64, static_cast<uint64_t>(*extent))) : std::nullopt;
    }
    if (op.operands.empty()) return std::nullopt;
    const ValueId a = r_(op.operands[0]);
    const ValueId b = op.operands.size() > 1 ? r_(op.operands[1]) : ir::no_value;
    const bool real = ir::is_float(to().value(a).dtype);
    switch (op.code) {
      case OpCode::op_add:
        // Only -0 is neutral for floats: -0 + +0 is +0.
        if (const auto v = neutral(op, a, b, real ? -0.0 : 0)) return v;
        return neutral(op, b, a, real ? -0.0 : 0);
      case OpCode::op_sub: return neutral(op, a, b, 0);
      case OpCode::op_mul:
        if (const auto v = neutral(op, a, b, 1)) return v;
        return neutral(op, b, a, 1);
      case OpCode::op_div: return neutral(op, a, b, 1);
      case OpCode::op_neg:
      case OpCode::op_not:
        if (const ir::Op* inner = maker(a, op.code)) return inner->operands[0];
        return std::nullopt;
      case OpCode::op_abs:
        if (maker(a, OpCode::op_abs)) return a;
        if (real)
          if (const ir::Op* inner = maker(a, OpCode::op_neg)) return r_.op(OpCode::op_abs, {inner->operands[0]});
        return std::nullopt;
      case OpCode::op_cast:
        if (to().value(a).dtype == static_cast<DType>(attr(op, "to").i) && arithmetic(a)) return a;
        return std::nullopt;
      case OpCode::op_select: return select(op, a, b, r_(op.operands[2]));
      case OpCode::op_transpose: return transpose(op, a);
      case OpCode::op_reverse:
        if (attr(op, "axes").ints.empty()) return a;
        if (const ir::Op* inner = maker(a, OpCode::op_reverse); inner && inner->attrs == op.attrs)
          return inner->operands[0];
        return std::nullopt;
      case OpCode::op_broadcast:
      case OpCode::op_reshape:
        if (same_shape(a, r_.from().value(op.results[0]).shape)) return a;
        if (op.code == OpCode::op_reshape)
          if (const ir::Op* inner = maker(a, OpCode::op_reshape)) {
            const ValueId first = inner->operands[0];
            if (same_shape(first, r_.from().value(op.results[0]).shape)) return first;
            return r_.op(OpCode::op_reshape, {first}, {{"shape", op.attrs[0]}});
          }
        return std::nullopt;
      case OpCode::op_concat: return op.operands.size() == 1 ? std::optional(a) : std::nullopt;
      default: return std::nullopt;
    }
  }

  std::optional<ValueId> select(const ir::Op& op, ValueId condition, ValueId a, ValueId b) {
    const auto bits = element(condition);
    if (!bits) return std::nullopt;
    const ValueId taken = *bits ? a : b;
    if (!same_shape(taken, r_.from().value(op.results[0]).shape)) return std::nullopt;
    return taken;
  }

  std::optional<ValueId> transpose(const ir::Op& op, ValueId a) {
    std::vector<int64_t> perm = attr(op, "perm").ints;
    const ir::Op* inner = maker(a, OpCode::op_transpose);
    if (inner)
      for (int64_t& p : perm) p = attr(*inner, "perm").ints[static_cast<size_t>(p)];
    bool identity = true;
    for (size_t d = 0; d < perm.size(); ++d) identity = identity && perm[d] == static_cast<int64_t>(d);
    if (identity) return inner ? inner->operands[0] : a;
    if (!inner) return std::nullopt;
    return r_.op(OpCode::op_transpose, {inner->operands[0]}, {{"perm", Attr::of_ints(std::move(perm))}});
  }

  Rebuild r_;
};

}  // namespace

ir::Graph simplify(const ir::Graph& graph) { return Simplifier(graph).run(); }

}  // namespace ingot::pass
