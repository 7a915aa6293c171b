// Short hands for building graphs and for what an Error says.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "ir/graph.h"
#include "ir/text.h"

namespace ingot::ir {

// The message of the invalid_argument that `run` throws; "" if it throws nothing.
inline std::string fault(const std::function<void()>& run, Code code = Code::invalid_argument) {
  try {
    run();
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.message();
  }
  return "";
}

inline NamedAttr ints(const char* name, std::vector<int64_t> v) { return {name, Attr::of_ints(std::move(v))}; }
inline NamedAttr integer(const char* name, int64_t v) { return {name, Attr::of_int(v)}; }
inline NamedAttr dims(const char* name, std::vector<DimId> v) { return {name, Attr::of_dims(v)}; }

inline ValueId apply(Graph& g, std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
  return g.op(find_op(op)->code, operands, attrs);
}

// The dim's value where the symbols have these values, given in order of first use; checks bounds and facts.
inline int64_t value_of(const DimTable& t, DimId d, const std::vector<int64_t>& symbols) {
  std::vector<int64_t> values(t.size(), INT64_MIN);
  for (size_t i = 0; i < symbols.size(); ++i) values[t.symbols()[i]] = symbols[i];
  t.evaluate(values);
  t.check(values);
  return values[d];
}

// "f32[B, 4]" of a value.
inline std::string type_of(const Graph& g, ValueId v) {
  const std::string text = g.describe(v);
  return text.substr(text.find(": ") + 2);
}

}  // namespace ingot::ir
