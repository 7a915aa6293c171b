// The graph: values (a dtype and a shape of dims each) and the ops that make them, in SSA form. Built by appending;
// every append checks its arguments and infers result types, so a graph is well formed at all times. seal() ends
// building; a sealed graph is immutable and free-threaded.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/name_hash.h"
#include "ir/op.h"

namespace ingot::ir {

using ValueId = uint32_t;
inline constexpr ValueId no_value = 0xffffffffu;
inline constexpr size_t max_rank = 16;
inline constexpr uint32_t no_op = 0xffffffffu;

enum class ValueKind : uint8_t { input, dim_input, constant, result };

struct Value {
  ValueKind kind;
  DType dtype;
  std::vector<DimId> shape;
  uint32_t source;      // result: index of its op; input: index among inputs; constant: index among constants
  uint32_t result = 0;  // which result of the op
  DimId dim = no_dim;   // dim_input: the symbol it binds (dtype i64, rank 0)
};

struct Op {
  OpCode code;
  std::vector<ValueId> operands;
  std::vector<Attr> attrs;  // one per AttrSpec of the row, in its order
  std::vector<ValueId> results;
  OpCode origin;  // the op that the host wrote: another one where this is part of its decomposition
};

// Compact row-major bytes of a constant. `owner` keeps borrowed memory alive (its deleter calls the host's destroy).
struct Constant {
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  size_t size = 0;
};

struct Output {
  std::string name;  // may be empty
  ValueId value;
};

// Per-graph numerics flags; part of the text and of every key.
enum GraphFlags : uint32_t { relaxed_precision = 1, relaxed_contractions = 2 };

class Graph {
 public:
  explicit Graph(std::string name = "main") : name_(std::move(name)) {}

  // --- building; each throws invalid_argument (or failed_precondition once sealed) and then changes nothing.
  // Names are UTF-8. Complex dtypes are known and refused with unimplemented.
  DimTable& dims() { return dims_; }
  // Names may be empty; a name that another value carries is refused. Extents may be any dims; a plain symbol is bound
  // by the input, an expression is checked against it.
  ValueId input(std::string_view name, DType dtype, std::vector<DimId> shape);
  // A host int64 scalar that binds a symbol.
  ValueId dim_input(std::string_view name, DimId symbol);
  ValueId constant(DType dtype, std::vector<DimId> shape, Constant data);
  // A 0-d constant from its bits, zero-extended.
  ValueId scalar(DType dtype, uint64_t bits);
  ValueId scalar(DType dtype, double v);  // rounded to the dtype once; integers need an exact v
  // Attributes by name, in any order; missing ones get the row's default. Returns the first result; others have the ids
  // after it. What must hold of symbols for the op to be right and does not follow from the facts becomes a fact,
  // checked on every run. An op with another number of results than n_results is refused.
  static constexpr size_t any_count = 0;  // of results
  ValueId op(OpCode code, std::span<const ValueId> operands, std::span<const NamedAttr> attrs = {},
             size_t n_results = any_count);
  // The same of an op that the graph copied from has, with that graph's facts (skeleton()): what must hold follows
  // there and is not asked again. Facts change how extents are written, and what is asked in the new terms may be more:
  // with B*C == C a reshape of [B, C] to [B*C] is one to [C], for which B == 1 would be asked, though C may be 0.
  ValueId op_again(OpCode code, std::span<const ValueId> operands, std::span<const NamedAttr> attrs);
  // What is appended from now on is part of what the host's op `origin` becomes, or is what the host wrote.
  void set_origin(std::optional<OpCode> origin) { origin_ = origin; }
  void output(std::string_view name, ValueId value);
  void set_name(ValueId value, std::string_view name);
  void set_flags(uint32_t flags) { flags_ = flags; }
  // Checks the whole: at least one output, every symbol bound by an input's own dim or a dim_input.
  void seal();
  // An unsealed graph with the same name, flags, dims and inputs (same value ids for the inputs), nothing else: where a
  // pass writes its result. Ids of other values that lie between inputs are taken by unused constants.
  Graph skeleton() const;
  // The same graph as a text of it reads: stated facts first, ops added under them. Value ids change. Throws where that
  // text would be refused.
  Graph restated() const;

  // --- reading
  bool sealed() const { return sealed_; }
  const std::string& name() const { return name_; }
  uint32_t flags() const { return flags_; }
  const DimTable& dims() const { return dims_; }
  size_t value_count() const { return values_.size(); }
  const Value& value(ValueId v) const { return values_[v]; }
  size_t op_count() const { return ops_.size(); }
  const Op& op(uint32_t index) const { return ops_[index]; }  // operands precede uses in index order
  std::span<const ValueId> inputs() const { return inputs_; }
  const Constant& constant_data(ValueId v) const { return constants_[values_[v].source]; }
  std::span<const Output> outputs() const { return outputs_; }
  std::string_view value_name(ValueId v) const;     // empty if it has none
  ValueId find_value(std::string_view name) const;  // no_value if there is none
  // "%name" or "%12: f32[B, 4]" for messages.
  std::string describe(ValueId v) const;

 private:
  void check_open() const;
  void check_name(std::string_view name) const;
  void check_value(ValueId v) const;
  void add_name(ValueId v, std::string_view name);
  ValueId add_op(OpCode code, std::span<const ValueId> operands, std::span<const NamedAttr> attrs, size_t n_results,
                 bool assume_facts);
  ValueId add_value(Value value, std::string_view name);

  std::string name_;
  uint32_t flags_ = 0;
  bool sealed_ = false;
  std::optional<OpCode> origin_;
  DimTable dims_;
  std::deque<Value> values_;
  std::deque<Op> ops_;
  std::vector<Constant> constants_;
  std::vector<ValueId> inputs_;
  std::vector<Output> outputs_;
  std::unordered_map<ValueId, std::string> names_;
  NameMap<ValueId> by_name_;
  NameSet output_names_;
};

// The attribute of an op by name (constant time for the few attributes of a row).
const Attr& attr(const Op& op, std::string_view name);

}  // namespace ingot::ir
