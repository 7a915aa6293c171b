// What random graphs are made of: symbols with a size in each assignment, values whose shapes are known in all of them,
// and ops that are kept only where every assignment allows them.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "evaluate.h"
#include "random_graph.h"
#include "random_value.h"

namespace ingot::oracle {

using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

class RandomNet {
 protected:
  static constexpr int64_t most_elements = 6000;

  explicit RandomNet(uint64_t seed) : r_(seed), seed_(seed), graph_(std::make_shared<ir::Graph>("random")) {}

  // --- sizes

  struct Symbol {
    DimId id;
    int64_t size[assignments];
  };

  DimId symbol(int64_t most) {
    if (!symbols_.empty() && r_.chance(55)) {
      const Symbol& s = symbols_[static_cast<size_t>(r_.below(static_cast<int64_t>(symbols_.size())))];
      if (*std::max_element(s.size, s.size + assignments) <= most) return s.id;
    }
    Symbol s{graph_->dims().symbol(cat("S", symbols_.size())), {}};
    // Some symbols are in each assignment the size of an earlier one, or 1: they broadcast against it.
    const bool twin = !symbols_.empty() && r_.chance(35);
    const Symbol* other =
        twin ? &symbols_[static_cast<size_t>(r_.below(static_cast<int64_t>(symbols_.size())))] : nullptr;
    const int64_t unit = r_.chance(40) ? 4 : 1;
    for (int64_t& n : s.size) {
      const size_t a = static_cast<size_t>(&n - s.size);
      n = other ? (r_.chance(50) ? other->size[a] : 1) : random_size(r_, most);
      if (!other && n * unit <= most) n *= unit;
    }
    if (*std::max_element(s.size, s.size + assignments) > most) std::fill(s.size, s.size + assignments, 1);
    symbols_.push_back(s);
    return s.id;
  }

  std::vector<int64_t> dim_values(size_t assignment) {
    const ir::DimTable& t = graph_->dims();
    std::vector<int64_t> values(t.size(), INT64_MIN);
    for (const Symbol& s : symbols_) values[s.id] = s.size[assignment];
    t.evaluate(values);
    t.check(values);
    return values;
  }

  std::vector<Shape> shapes_of(const std::vector<DimId>& dims) {
    std::vector<Shape> out(assignments);
    for (size_t a = 0; a < assignments; ++a) {
      const auto values = dim_values(a);
      for (const DimId d : dims) out[a].push_back(values[d]);
    }
    return out;
  }

  bool small(const std::vector<Shape>& shapes) {
    return std::all_of(shapes.begin(), shapes.end(), [](const Shape& s) {
      return std::all_of(s.begin(), s.end(), [](int64_t e) { return e >= 0; }) &&
             element_count(s) <= static_cast<size_t>(most_elements);
    });
  }

  // --- values

  Known& add(ValueId id) {
    const ir::Value& v = graph_->value(id);
    pool_.push_back({id, v.dtype, v.shape, shapes_of(v.shape)});
    return pool_.back();
  }

  DType random_type() {
    static constexpr DType types[] = {DType::f32, DType::f32, DType::f32,     DType::f32, DType::f64, DType::i32,
                                      DType::i64, DType::u8,  DType::boolean, DType::i8,  DType::u32};
    static constexpr DType narrow[] = {DType::f16, DType::f16, DType::bf16, DType::bf16, DType::f8e4m3, DType::f8e5m2};
    return r_.chance(18) ? r_.pick(narrow) : r_.pick(types);
  }

  const Known& input() {
    std::vector<DimId> dims;
    int64_t left = 3000;
    for (int64_t rank = r_.chance(70) ? r_.between(1, 3) : r_.between(0, 4); rank > 0; --rank) {
      static constexpr int64_t extents[] = {1, 1, 2, 3, 4, 8, 16};
      const DimId d = r_.chance(75) ? symbol(left) : graph_->dims().constant(std::min(r_.pick(extents), left));
      dims.push_back(d);
      int64_t most = 1;
      for (const Shape& s : shapes_of({d})) most = std::max(most, s[0]);
      left = std::max<int64_t>(1, left / most);
    }
    return make_input(random_type(), dims);
  }

  const Known& make_input(DType type, const std::vector<DimId>& dims) {
    const ValueId id = graph_->input(r_.chance(50) ? cat("in", graph_->inputs().size()) : std::string(), type, dims);
    return add(id);
  }

  void dim_input() {
    if (symbols_.empty()) return;
    add(graph_->dim_input("extent", symbols_[static_cast<size_t>(r_.below(static_cast<int64_t>(symbols_.size())))].id));
  }

  Array input_array(size_t i, size_t assignment) {
    const ir::Value& v = graph_->value(graph_->inputs()[i]);
    Shape shape;
    const auto values = dim_values(assignment);
    for (const DimId d : v.shape) shape.push_back(values[d]);
    if (v.dim != ir::no_dim) return {DType::i64, {}, {static_cast<uint64_t>(values[v.dim])}};
    return random_array(seed_ * 1000 + assignment * 100 + i, v.dtype, shape);
  }

  const Known& any() {
    // Recent values are likelier, so that chains form.
    const auto n = static_cast<int64_t>(pool_.size());
    return pool_[static_cast<size_t>(r_.chance(60) ? n - 1 - r_.below(std::min<int64_t>(n, 3)) : r_.below(n))];
  }

  std::optional<Known> any_of(DType type) {
    for (int i = 0; i < 8; ++i)
      if (const Known& k = any(); k.type == type) return k;
    return std::nullopt;
  }

  Known scalar(DType type) {
    static constexpr double values[] = {0, 1, 2, 3, 0.5, -1, -0.0, 100};
    double v = r_.pick(values);
    if (!ir::is_float(type)) v = static_cast<double>(r_.between(0, type == DType::boolean ? 1 : 5));
    if (!r_.chance(25)) return add(graph_->scalar(type, v));
    // A small constant tensor.
    const Shape shape = {r_.between(1, 2), r_.between(1, 4)};
    const Array a = random_array(r_.next(), type, shape);
    auto bytes = std::make_shared<std::vector<uint8_t>>();
    for (const uint64_t b : a.bits)
      for (size_t i = 0; i < ir::item_size(type); ++i) bytes->push_back(static_cast<uint8_t>(b >> 8 * i));
    std::vector<DimId> dims;
    for (const int64_t e : shape) dims.push_back(graph_->dims().constant(e));
    return add(graph_->constant(type, dims, {bytes, bytes->data(), bytes->size()}));
  }

  // A partner that broadcasts with x.
  Known partner(const Known& x) {
    for (int i = 0; i < 6; ++i)
      if (const auto y = any_of(x.type); y && broadcasts(x, *y)) return *y;
    if (r_.chance(40)) {
      // An input of x's trailing dims, some of them 1.
      std::vector<DimId> dims(x.dims.begin() + r_.below(static_cast<int64_t>(x.dims.size()) + 1), x.dims.end());
      for (DimId& d : dims)
        if (r_.chance(25)) d = graph_->dims().constant(1);
      return make_input(x.type, dims);
    }
    Known s = scalar(x.type);
    return broadcasts(x, s) ? s : add(graph_->scalar(x.type, 1.0));
  }

  // --- ops

  bool emit(OpCode code, const std::vector<ValueId>& operands, const std::vector<NamedAttr>& attrs = {}) {
    try {
      // An op whose result would be too large, or whose facts fail in some assignment, is tried on a copy first.
      ir::Graph trial = *graph_;
      const ValueId v = trial.op(code, operands, attrs);
      std::swap(*graph_, trial);
      std::vector<Shape> shapes;
      try {
        shapes = shapes_of(graph_->value(v).shape);
      } catch (const Error&) {
      }
      if (shapes.empty() || !small(shapes)) {
        std::swap(*graph_, trial);
        return false;
      }
      for (const ValueId result : graph_->op(graph_->value(v).source).results) {
        add(result);
        made_.push_back(result);
      }
      return true;
    } catch (const Error& e) {
      if (e.code() != Code::invalid_argument) throw;
      return false;
    }
  }

  Random r_;
  uint64_t seed_;
  std::shared_ptr<ir::Graph> graph_;
  std::vector<Symbol> symbols_;
  std::deque<Known> pool_;
  std::vector<ValueId> made_;
};

}  // namespace ingot::oracle
