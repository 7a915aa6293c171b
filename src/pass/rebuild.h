// Walks a graph in order and writes a new one: what every pass is built on.
#pragma once

#include <initializer_list>
#include <vector>

#include "ir/graph.h"

namespace ingot::pass {

using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

class Rebuild {
 public:
  explicit Rebuild(const ir::Graph& from);

  const ir::Graph& from() const { return from_; }
  ir::Graph& to() { return to_; }

  // The new value of an old one. Inputs exist from the start, constants are copied on first need, results once set.
  ValueId operator()(ValueId old);
  void set(ValueId old, ValueId now) { now_[old] = now; }

  // What is appended until end_origin() is part of what `op` decomposes into, for messages.
  void begin_origin(const ir::Op& op) { to_.set_origin(op.origin); }
  void end_origin() { to_.set_origin({}); }
  // Appends an op to the new graph.
  ValueId op(OpCode code, std::initializer_list<ValueId> operands, std::initializer_list<NamedAttr> attrs = {});
  // Appends the same op over the new operands and sets its results.
  void copy(const ir::Op& op);

  // Adds the outputs and seals. Values that nothing reaches stay where they are: dead code is a pass of its own.
  ir::Graph finish();

 private:
  const ir::Graph& from_;
  ir::Graph to_;
  std::vector<ValueId> now_;
};

// The attributes of an op that exists, by name.
std::vector<NamedAttr> named_attrs(const ir::Op& op);

}  // namespace ingot::pass
