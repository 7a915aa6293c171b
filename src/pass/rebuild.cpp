#include "pass/rebuild.h"

namespace ingot::pass {

Rebuild::Rebuild(const ir::Graph& from) : from_(from), to_(from.skeleton()), now_(from.value_count(), ir::no_value) {
  for (size_t i = 0; i < from.inputs().size(); ++i) now_[from.inputs()[i]] = to_.inputs()[i];
}

ValueId Rebuild::operator()(ValueId old) {
  if (now_[old] == ir::no_value) {
    const ir::Value& v = from_.value(old);
    if (v.kind != ir::ValueKind::constant) bug("a pass uses a value before it is made");
    now_[old] = to_.constant(v.dtype, v.shape, from_.constant_data(old));
  }
  return now_[old];
}

ValueId Rebuild::op(OpCode code, std::initializer_list<ValueId> operands, std::initializer_list<NamedAttr> attrs) {
  return to_.op(code, {operands.begin(), operands.size()}, {attrs.begin(), attrs.size()});
}

void Rebuild::copy(const ir::Op& op) {
  std::vector<ValueId> operands;
  operands.reserve(op.operands.size());
  for (const ValueId v : op.operands) operands.push_back((*this)(v));
  begin_origin(op);
  const ValueId first = to_.op_again(op.code, operands, named_attrs(op));
  end_origin();
  for (size_t i = 0; i < op.results.size(); ++i) now_[op.results[i]] = first + static_cast<ValueId>(i);
}

ir::Graph Rebuild::finish() {
  for (const ir::Output& o : from_.outputs()) to_.output(o.name, (*this)(o.value));
  to_.seal();
  return std::move(to_);
}

std::vector<NamedAttr> named_attrs(const ir::Op& op) {
  const auto specs = ir::op_info(op.code)->attrs;
  std::vector<NamedAttr> out;
  for (size_t i = 0; i < op.attrs.size(); ++i) out.push_back({std::string(specs[i].name), op.attrs[i]});
  return out;
}

}  // namespace ingot::pass
