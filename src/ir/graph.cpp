#include "ir/graph.h"

#include <algorithm>
#include <cstring>

#include "ir/counted.h"
#include "ir/op_rules.h"
#include "ir/scalar.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

void check_dtype(DType dtype, std::string_view what) {
  if (item_size(dtype) == 0) fail(Code::invalid_argument, what, ": unknown dtype ", static_cast<int>(dtype));
  if (dtype == DType::c64 || dtype == DType::c128) {
    fail(Code::unimplemented, what, ": dtype ", name(dtype), " is known, but complex arithmetic is not implemented");
  }
}

void check_dims(const DimTable& dims, std::span<const DimId> shape, std::string_view what) {
  for (const DimId d : shape)
    if (!dims.valid(d)) fail(Code::invalid_argument, what, ": no dim has the id ", d);
}

}  // namespace

void Graph::check_open() const {
  if (sealed_) fail(Code::failed_precondition, "the graph ", quoted(name_), " is finished");
}

void Graph::check_name(std::string_view name) const {
  if (find_bad_utf8(name) != std::string_view::npos) fail(Code::invalid_argument, "a name is not UTF-8");
  if (!name.empty() && find_value(name) != no_value) {
    fail(Code::invalid_argument, "the name %", name_or_quoted(shortened(name)), " is taken by another value");
  }
}

void Graph::check_value(ValueId v) const {
  if (v >= values_.size()) fail(Code::invalid_argument, "no value has the id ", v);
}

void Graph::add_name(ValueId v, std::string_view name) {
  const auto at = names_.emplace(v, name).first;
  try {
    by_name_.emplace(name, v);
  } catch (...) {
    names_.erase(at);
    throw;
  }
}

ValueId Graph::add_value(Value value, std::string_view name) {
  if (values_.size() >= no_value) fail(Code::invalid_argument, "too many values");
  const auto v = static_cast<ValueId>(values_.size());
  values_.push_back(std::move(value));
  try {
    if (!name.empty()) add_name(v, name);
  } catch (...) {
    values_.pop_back();
    throw;
  }
  return v;
}

ValueId Graph::input(std::string_view name, DType dtype, std::vector<DimId> shape) {
  check_open();
  check_name(name);
  const std::string what = cat("input ", name_or_quoted(shortened(name)));
  check_dtype(dtype, what);
  check_dims(dims_, shape, what);
  check_shape(dims_, dtype, shape, what);
  const auto index = static_cast<uint32_t>(inputs_.size());
  reserve_more(inputs_, 1);
  inputs_.push_back(add_value({ValueKind::input, dtype, std::move(shape), index}, name));
  return inputs_.back();
}

ValueId Graph::dim_input(std::string_view name, DimId symbol) {
  check_open();
  check_name(name);
  if (!dims_.valid(symbol) || dims_.kind(symbol) != DimKind::symbol) {
    fail(Code::invalid_argument, "dim input ", name_or_quoted(shortened(name)), " binds ", dims_.to_string(symbol),
         ", expected a symbol");
  }
  const auto index = static_cast<uint32_t>(inputs_.size());
  reserve_more(inputs_, 1);
  inputs_.push_back(add_value({ValueKind::dim_input, DType::i64, {}, index, 0, symbol}, name));
  return inputs_.back();
}

ValueId Graph::constant(DType dtype, std::vector<DimId> shape, Constant data) {
  check_open();
  check_dtype(dtype, "constant");
  check_dims(dims_, shape, "constant");
  check_shape(dims_, dtype, shape, "constant");
  size_t size = item_size(dtype);
  for (const DimId d : shape) {
    const auto extent = dims_.as_constant(d);
    if (!extent) fail(Code::invalid_argument, "constant: extent ", dims_.to_string(d), " is not a constant");
    size *= static_cast<size_t>(*extent);  // check_shape() has seen that this cannot overflow
  }
  if (data.size != size) {
    fail(Code::invalid_argument, "constant: ", type_text(dims_, dtype, shape), " takes ", size, " bytes, not ",
         data.size);
  }
  if (size != 0 && !data.data) fail(Code::invalid_argument, "constant: ", size, " bytes of data are missing");
  reserve_more(constants_, 1);
  const auto index = static_cast<uint32_t>(constants_.size());
  const ValueId v = add_value({ValueKind::constant, dtype, std::move(shape), index}, {});
  constants_.push_back(std::move(data));
  return v;
}

ValueId Graph::scalar(DType dtype, uint64_t bits) {
  // Little-endian: the low bytes of the word are the element (base/bytes.h asserts the host's order).
  const auto word = std::make_shared<uint64_t>(bits);
  const auto* data = reinterpret_cast<const uint8_t*>(word.get());
  return constant(dtype, {}, {word, data, item_size(dtype)});
}

ValueId Graph::scalar(DType dtype, double v) {
  check_dtype(dtype, "constant");
  if (is_float(dtype)) return scalar(dtype, float_bits(dtype, v));
  const double magnitude = v < 0 ? -v : v;
  std::optional<uint64_t> bits;
  if (magnitude < 0x1p64 && static_cast<double>(static_cast<uint64_t>(magnitude)) == magnitude)
    bits = integer_bits(dtype, v < 0, static_cast<uint64_t>(magnitude));
  if (!bits) fail(Code::invalid_argument, "constant: ", v, " is not a value of ", ir::name(dtype));
  return scalar(dtype, *bits);
}

ValueId Graph::op(OpCode code, std::span<const ValueId> operands, std::span<const NamedAttr> attrs, size_t n_results) {
  return add_op(code, operands, attrs, n_results, true);
}

ValueId Graph::op_again(OpCode code, std::span<const ValueId> operands, std::span<const NamedAttr> attrs) {
  return add_op(code, operands, attrs, any_count, false);
}

ValueId Graph::add_op(OpCode code, std::span<const ValueId> operands, std::span<const NamedAttr> attrs,
                      size_t n_results, bool assume_facts) {
  check_open();
  const OpInfo* info = op_info(code);
  if (!info) fail(Code::invalid_argument, "unknown op ", static_cast<uint32_t>(code));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] >= values_.size()) {
      fail(Code::invalid_argument, info->name, ": operand ", i, ": no value has the id ", operands[i]);
    }
  }
  const OpCode origin = origin_.value_or(code);
  const std::string_view asked_by = op_info(origin)->name;
  const DimTable::Mark before = dims_.mark();
  const size_t values_before = values_.size();
  dims_.set_used();
  try {
    Inference inference{*this, dims_, *info, asked_by, operands, fill_attrs(dims_, *info, attrs), {}, {}};
    infer(inference);
    // What is equal first: an extent that is learnt to be 7 is refused as one that 2 has to divide, the other way round
    // it would be taken.
    std::ranges::stable_partition(inference.facts,
                                  [](const Inference::Fact& f) { return f.need == Inference::Need::equal; });
    if (n_results != any_count && n_results != inference.results.size())
      inference.reject("has ", counted(inference.results.size(), "result"), ", n_results is ", n_results);
    for (const Inference::Fact& fact : inference.facts) {
      if (!assume_facts) break;
      const DimId both[] = {fact.a, fact.b};
      try {
        const FactCause by{asked_by, fact.why};
        switch (fact.need) {
          case Inference::Need::equal: dims_.assume(DimFact::equal, both, by); break;
          case Inference::Need::divisible: dims_.assume(DimFact::divisible, both, by); break;
          case Inference::Need::nonnegative: dims_.assume_nonnegative(fact.a, by); break;
        }
      } catch (const Error& e) {
        throw Error(e.code(), cat(info->name, ": ", e.message()));
      }
    }
    const auto index = static_cast<uint32_t>(ops_.size());
    Op op{code, {operands.begin(), operands.end()}, std::move(inference.attrs), {}, origin};
    for (ResultType& r : inference.results) {
      const auto which = static_cast<uint32_t>(op.results.size());
      op.results.push_back(add_value({ValueKind::result, r.dtype, std::move(r.shape), index, which}, {}));
    }
    ops_.push_back(std::move(op));
  } catch (...) {
    while (values_.size() > values_before) values_.pop_back();
    dims_.rollback(before);
    throw;
  }
  return ops_.back().results[0];
}

void Graph::output(std::string_view name, ValueId value) {
  check_open();
  check_value(value);
  if (find_bad_utf8(name) != std::string_view::npos) fail(Code::invalid_argument, "a name is not UTF-8");
  Output output{std::string(name), value};
  reserve_more(outputs_, 1);
  if (!name.empty() && !output_names_.emplace(name).second) {
    fail(Code::invalid_argument, "the output name ", name_or_quoted(shortened(name)), " is taken");
  }
  outputs_.push_back(std::move(output));
}

void Graph::set_name(ValueId value, std::string_view name) {
  check_open();
  check_value(value);
  if (value_name(value) == name) return;
  check_name(name);
  std::string text(name);
  if (!name.empty()) by_name_.emplace(name, value);
  const auto old = names_.find(value);
  if (old != names_.end()) {
    by_name_.erase(old->second);
    if (name.empty()) names_.erase(old);
    else old->second = std::move(text);
  } else if (!name.empty()) {
    try {
      names_.emplace(value, std::move(text));
    } catch (...) {
      by_name_.erase(by_name_.find(name));
      throw;
    }
  }
}

void Graph::seal() {
  check_open();
  if (outputs_.empty()) fail(Code::invalid_argument, "the graph ", quoted(name_), " has no output");
  if (find_bad_utf8(name_) != std::string_view::npos) fail(Code::invalid_argument, "the graph's name is not UTF-8");
  dims_.settle();
  std::vector<bool> bound(dims_.size(), false);
  for (const ValueId v : inputs_) {
    if (values_[v].dim != no_dim) bound[values_[v].dim] = true;
    for (const DimId d : values_[v].shape) bound[d] = true;
  }
  for (const DimId d : dims_.symbols()) {
    if (bound[d]) continue;
    fail(Code::invalid_argument, "symbol ", name_or_quoted(dims_.symbol_name(d)),
         " is bound by no input: expected an input with it as an extent of its own, or a dim input");
  }
  sealed_ = true;
}

Graph Graph::skeleton() const {
  Graph out(name_);
  out.flags_ = flags_;
  out.dims_ = dims_;
  out.dims_.adopt_facts();
  for (const ValueId v : inputs_) {
    while (out.values_.size() < v) out.scalar(DType::boolean, uint64_t{0});
    out.inputs_.push_back(out.add_value(values_[v], value_name(v)));
  }
  return out;
}

Graph Graph::restated() const {
  Graph out = skeleton();
  out.dims_ = dims_;
  out.dims_.restate();
  std::vector<ValueId> now(values_.size(), no_value);
  for (const ValueId v : inputs_) now[v] = v;
  for (ValueId v = 0; v < values_.size(); ++v) {
    const Value& value = values_[v];
    if (value.kind == ValueKind::constant) {
      now[v] = out.constant(value.dtype, value.shape, constants_[value.source]);
    } else if (value.kind == ValueKind::result && value.result == 0) {
      const Op& op = ops_[value.source];
      std::vector<ValueId> operands;
      for (const ValueId operand : op.operands) operands.push_back(now[operand]);
      std::vector<NamedAttr> attrs;
      for (size_t i = 0; i < op.attrs.size(); ++i) {
        attrs.push_back({std::string(op_info(op.code)->attrs[i].name), op.attrs[i]});
        Attr& attr = attrs.back().value;
        if (attr.kind == AttrKind::dim) attr.i = out.dims_.canonical(static_cast<DimId>(attr.i));
        if (attr.kind == AttrKind::dims)
          for (int64_t& d : attr.ints) d = out.dims_.canonical(static_cast<DimId>(d));
      }
      out.op(op.code, operands, attrs);
      for (size_t r = 0; r < op.results.size(); ++r) now[op.results[r]] = out.ops_.back().results[r];
    }
    if (now[v] != no_value && value.kind != ValueKind::input && value.kind != ValueKind::dim_input)
      out.set_name(now[v], value_name(v));
  }
  for (const Output& o : outputs_) out.output(o.name, now[o.value]);
  return out;
}

std::string_view Graph::value_name(ValueId v) const {
  const auto at = names_.find(v);
  return at == names_.end() ? std::string_view() : std::string_view(at->second);
}

ValueId Graph::find_value(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? no_value : at->second;
}

std::string Graph::describe(ValueId v) const {
  const std::string_view known = value_name(v);
  // Cut, since messages repeat it; digits stand bare as the text form's labels do.
  const bool digits = !known.empty() && std::ranges::all_of(known, [](char c) { return c >= '0' && c <= '9'; });
  std::string out = "%";
  if (known.empty()) append(out, v);
  else if (digits && known.size() < 20) out += known;
  else out += name_or_quoted(shortened(known));
  out += ": ";
  std::string type = type_text(dims_, values_[v].dtype, values_[v].shape);
  if (type.size() > 256) type = cat(shortened(type, 253), "...");
  return out + type;
}

const Attr& attr(const Op& op, std::string_view name) { return op.attrs[attr_index(*op_info(op.code), name)]; }

}  // namespace ingot::ir
