#include "ir/subset.h"

#include <algorithm>
#include <unordered_map>

#include "ir/text.h"

namespace ingot::ir {

namespace {

class Subset {
 public:
  Subset(const Graph& from, std::span<const ValueId> feeds, std::span<const ValueId> fetches)
      : from_(from), dims_(from.dims()), feeds_(feeds), fetches_(fetches) {}

  Graph run() {
    check_ids();
    reach();
    bind_symbols();
    need_dims();
    check_feeds();
    // Facts that ops of the whole graph brought in are theirs. Where an op cannot be added without them they hold here,
    // too.
    try {
      return build(false);
    } catch (const Error& e) {
      if (e.code() != Code::invalid_argument) throw;
    }
    return build(true);
  }

 private:
  template <class... T>
  [[noreturn]] void refuse(const T&... why) const {
    fail(Code::invalid_argument, why...);
  }

  void check_ids() {
    const size_t n = from_.value_count();
    fed_.assign(n, false);
    for (const ValueId v : feeds_) {
      if (v >= n) refuse("no value of the graph has the id ", v);
      if (fed_[v]) refuse("feed ", from_.describe(v), " is given twice");
      fed_[v] = true;
    }
    if (fetches_.empty()) refuse("no value is fetched");
    for (const ValueId v : fetches_)
      if (v >= n) refuse("no value of the graph has the id ", v);
  }

  // Values and ops that lead to the fetches, walked backwards up to the feeds.
  void reach() {
    live_.assign(from_.value_count(), false);
    op_live_.assign(from_.op_count(), false);
    for (const ValueId v : fetches_) live_[v] = true;
    for (size_t i = from_.op_count(); i-- > 0;) {
      const Op& op = from_.op(static_cast<uint32_t>(i));
      const bool needed = std::ranges::any_of(op.results, [&](ValueId v) { return live_[v] && !fed_[v]; });
      if (!needed) continue;
      op_live_[i] = true;
      for (const ValueId v : op.operands) live_[v] = true;
    }
    for (const ValueId v : from_.inputs())
      if (live_[v] && !fed_[v]) refuse("the fetches need the input ", from_.describe(v), ", which is not fed");
  }

  void bind_symbols() {
    bound_.assign(dims_.size(), false);
    for (const ValueId v : feeds_) {
      const Value& value = from_.value(v);
      if (value.kind == ValueKind::dim_input) bound_[value.dim] = true;
      for (const DimId d : value.shape)
        if (dims_.kind(d) == DimKind::symbol) bound_[d] = true;
    }
    // Whether all symbols of a dim are bound; operands have lower ids.
    known_.assign(dims_.size(), false);
    for (DimId d = 0; d < dims_.size(); ++d) {
      known_[d] = dims_.kind(d) == DimKind::symbol
                      ? bound_[d]
                      : std::ranges::all_of(dims_.operands(d), [&](DimId o) { return known_[o]; });
      if (dims_.kind(d) == DimKind::constant) known_[d] = true;
    }
    // Extents of feeds that nothing else determines stand for themselves.
    opaque_.assign(dims_.size(), false);
    for (const ValueId v : feeds_)
      for (const DimId d : from_.value(v).shape)
        if (!known_[d]) opaque_[d] = true;
    for (DimId d = 0; d < dims_.size(); ++d)
      if (opaque_[d] ||
          (!dims_.operands(d).empty() && std::ranges::all_of(dims_.operands(d), [&](DimId o) { return known_[o]; })))
        known_[d] = true;
  }

  void need_dim(DimId d, ValueId of) {
    if (!known_[d]) refuse("the extent ", dims_.to_string(d), " of ", from_.describe(of), " is determined by no feed");
    needed_[d] = true;
  }

  void need_dims() {
    needed_.assign(dims_.size(), false);
    for (const ValueId v : fetches_)
      for (const DimId d : from_.value(v).shape) need_dim(d, v);
    for (uint32_t i = 0; i < from_.op_count(); ++i) {
      if (!op_live_[i]) continue;
      const Op& op = from_.op(i);
      for (const Attr& a : op.attrs) {
        if (a.kind == AttrKind::dims)
          for (const int64_t d : a.ints) need_dim(static_cast<DimId>(d), op.results[0]);
        if (a.kind == AttrKind::dim) need_dim(static_cast<DimId>(a.i), op.results[0]);
      }
    }
    for (const ValueId v : feeds_)
      for (const DimId d : from_.value(v).shape) needed_[d] = true;
    for (DimId d = static_cast<DimId>(dims_.size()); d-- > 0;)
      if (needed_[d] && !opaque_[d])
        for (const DimId o : dims_.operands(d)) needed_[o] = true;
  }

  void check_feeds() const {
    for (const ValueId v : feeds_) {
      const Value& value = from_.value(v);
      const bool binds = value.kind == ValueKind::dim_input && needed_[value.dim];
      if (!live_[v] && !binds) refuse("feed ", from_.describe(v), " leads to none of the fetches");
    }
  }

  DimId translated(DimId d) const { return dim_at_[d]; }

  void add_dims(Graph& to, bool all_facts) {
    DimTable& out = to.dims();
    dim_at_.assign(dims_.size(), no_dim);
    // Facts over dims that are there anyway, or can be had from bound symbols.
    std::vector<bool> wanted = needed_;
    std::vector<const DimTable::Fact*> facts;
    for (const DimTable::Fact& f : dims_.facts()) {
      if (f.derived && !all_facts) continue;
      if (!std::ranges::all_of(f.dims, [&](DimId d) { return known_[d]; })) continue;
      facts.push_back(&f);
      for (const DimId d : f.dims) wanted[d] = true;
    }
    for (DimId d = static_cast<DimId>(dims_.size()); d-- > 0;)
      if (wanted[d] && !opaque_[d])
        for (const DimId o : dims_.operands(d)) wanted[o] = true;
    uint32_t fresh = 0;
    for (DimId d = 0; d < dims_.size(); ++d) {
      if (!wanted[d]) continue;
      if (dims_.kind(d) == DimKind::constant) {
        dim_at_[d] = out.constant(*dims_.as_constant(d));
      } else if (dims_.kind(d) == DimKind::symbol) {
        const Bounds b = dims_.declared_bounds(d);
        dim_at_[d] = out.symbol(dims_.symbol_name(d), b.lo, b.hi);
      } else if (opaque_[d]) {
        const Bounds b = dims_.bounds(d);
        dim_at_[d] = out.symbol(fresh_name(fresh), std::max<int64_t>(b.lo, 0), std::max<int64_t>(b.hi, 0));
      } else {
        std::vector<DimId> operands;
        for (const DimId o : dims_.operands(d)) operands.push_back(translated(o));
        dim_at_[d] = out.expr(dims_.kind(d), operands);
      }
    }
    for (const DimTable::Fact* f : facts) {
      std::vector<DimId> over;
      for (const DimId d : f->dims) over.push_back(translated(d));
      out.assume(f->fact, over);
    }
  }

  std::string fresh_name(uint32_t& next) const {
    for (;;) {
      std::string name = cat("extent", next++);
      const bool taken = std::ranges::any_of(dims_.symbols(), [&](DimId s) { return dims_.symbol_name(s) == name; });
      if (!taken) return name;
    }
  }

  std::vector<DimId> shape_of(ValueId v) const {
    std::vector<DimId> shape;
    for (const DimId d : from_.value(v).shape) shape.push_back(translated(d));
    return shape;
  }

  Graph build(bool all_facts) {
    Graph to(from_.name());
    to.set_flags(from_.flags());
    add_dims(to, all_facts);
    std::vector<ValueId> now(from_.value_count(), no_value);
    for (const ValueId v : feeds_) {
      const Value& value = from_.value(v);
      now[v] = value.kind == ValueKind::dim_input ? to.dim_input(from_.value_name(v), symbol_of(to, value.dim))
                                                  : to.input(from_.value_name(v), value.dtype, shape_of(v));
    }
    const auto get = [&](ValueId v) {
      if (now[v] == no_value) {  // constants come on first need
        const Value& value = from_.value(v);
        std::vector<DimId> shape;
        for (const DimId d : value.shape) shape.push_back(to.dims().constant(*dims_.as_constant(d)));
        now[v] = to.constant(value.dtype, std::move(shape), from_.constant_data(v));
        to.set_name(now[v], from_.value_name(v));
      }
      return now[v];
    };
    for (uint32_t i = 0; i < from_.op_count(); ++i) {
      if (!op_live_[i]) continue;
      const Op& op = from_.op(i);
      std::vector<ValueId> operands;
      for (const ValueId v : op.operands) operands.push_back(get(v));
      std::vector<NamedAttr> attrs;
      for (size_t a = 0; a < op.attrs.size(); ++a) {
        attrs.push_back({std::string(op_info(op.code)->attrs[a].name), op.attrs[a]});
        Attr& attr = attrs.back().value;
        if (attr.kind == AttrKind::dims)
          for (int64_t& d : attr.ints) d = translated(static_cast<DimId>(d));
        if (attr.kind == AttrKind::dim) attr.i = translated(static_cast<DimId>(attr.i));
      }
      const ValueId first = to.op(op.code, operands, attrs);
      for (size_t r = 0; r < op.results.size(); ++r) {
        const ValueId old = op.results[r];
        if (now[old] != no_value) continue;  // fed: its other results alone are taken from here
        now[old] = first + static_cast<ValueId>(r);
        to.set_name(now[old], from_.value_name(old));
      }
    }
    // A fetch that is an output of the graph has its name; one that is fetched again has none.
    std::unordered_map<ValueId, std::vector<std::string_view>> names;  // the last one first
    for (size_t i = from_.outputs().size(); i-- > 0;)
      names[from_.outputs()[i].value].push_back(from_.outputs()[i].name);
    for (const ValueId v : fetches_) {
      std::vector<std::string_view>& left = names[v];
      to.output(left.empty() ? std::string_view() : left.back(), get(v));
      if (!left.empty()) left.pop_back();
    }
    to.seal();
    return to;
  }

  DimId symbol_of(Graph& to, DimId symbol) const {
    if (translated(symbol) != no_dim) return translated(symbol);
    const Bounds b = dims_.declared_bounds(symbol);
    return to.dims().symbol(dims_.symbol_name(symbol), b.lo, b.hi);
  }

  const Graph& from_;
  const DimTable& dims_;
  const std::span<const ValueId> feeds_, fetches_;
  std::vector<bool> fed_, live_;              // per value
  std::vector<bool> op_live_;                 // per op
  std::vector<bool> bound_, known_, opaque_;  // per dim: a symbol some feed binds; determined by feeds; see subset()
  std::vector<bool> needed_;                  // per dim
  std::vector<DimId> dim_at_;                 // per dim: its id in the new graph
};

}  // namespace

Graph subset(const Graph& graph, std::span<const ValueId> feeds, std::span<const ValueId> fetches) {
  return Subset(graph, feeds, fetches).run();
}

}  // namespace ingot::ir
