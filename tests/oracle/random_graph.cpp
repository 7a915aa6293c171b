#include "random_graph.h"

#include <algorithm>
#include <optional>

#include "random_net.h"

namespace ingot::oracle {

namespace {

class Generator : RandomNet {
 public:
  explicit Generator(uint64_t seed) : RandomNet(seed) {}

  RandomGraph run() {
    const int64_t inputs = r_.between(1, 4);
    for (int64_t i = 0; i < inputs; ++i) input();
    if (r_.chance(15)) dim_input();
    const int64_t ops = r_.between(1, 14);
    for (int64_t made = 0, tries = 0; made < ops && tries < 200; ++tries) made += step();
    outputs();
    graph_->seal();
    RandomGraph out{graph_, {}};
    for (size_t a = 0; a < assignments; ++a) {
      out.inputs.emplace_back();
      for (size_t i = 0; i < graph_->inputs().size(); ++i) out.inputs[a].push_back(input_array(i, a));
    }
    return out;
  }

 private:
  bool step() {
    const Known x = any();
    const int64_t kind = r_.below(103);
    if (kind >= 100) return random(x);
    if (kind < 22) return binary(x);
    if (kind < 34) return unary(x);
    if (kind < 40) return compare_or_select(x);
    if (kind < 46) return cast(x);
    if (kind < 60) return reduction(x);
    if (kind < 82) return movement(x);
    if (kind < 88) return indexed(x);
    if (kind < 93) return matmul(x);
    return composite(x);
  }

  bool binary(const Known& x) {
    const Known y = partner(x);
    std::vector<ValueId> operands = {x.id, y.id};
    if (r_.chance(50)) std::swap(operands[0], operands[1]);
    if (x.type == DType::boolean || (ir::is_integer(x.type) && r_.chance(30))) {
      static constexpr OpCode codes[] = {OpCode::op_and, OpCode::op_or, OpCode::op_xor};
      return emit(r_.pick(codes), operands);
    }
    if (r_.chance(10)) {
      const Known z = partner(x);
      if (!broadcasts(y, z)) return false;
      operands.push_back(z.id);
      return emit(ir::is_float(x.type) && r_.chance(50) ? OpCode::op_fma : OpCode::op_clamp, operands);
    }
    if (r_.chance(12)) {
      return emit(ir::is_float(x.type) ? r_.pick(float_pairs) : r_.pick(int_pairs), operands);
    }
    static constexpr OpCode codes[] = {OpCode::op_add, OpCode::op_add, OpCode::op_sub, OpCode::op_mul,
                                       OpCode::op_div, OpCode::op_min, OpCode::op_max, OpCode::op_pow};
    const OpCode code = r_.pick(codes);
    return emit(code == OpCode::op_pow && (!ir::is_float(x.type) || r_.chance(60)) ? OpCode::op_mul : code, operands);
  }

  bool unary(const Known& x) {
    if (x.type == DType::boolean) return emit(OpCode::op_not, {x.id});
    if (!ir::is_float(x.type)) {
      static constexpr OpCode codes[] = {OpCode::op_neg,      OpCode::op_abs,    OpCode::op_relu, OpCode::op_not,
                                         OpCode::op_popcount, OpCode::op_square, OpCode::op_sign};
      return emit(r_.pick(codes), {x.id});
    }
    const OpCode code = r_.pick(float_ops);
    if (code == OpCode::op_elu && r_.chance(50)) return emit(code, {x.id}, {{"alpha", Attr::of_float(0.3)}});
    if (code == OpCode::op_gelu && r_.chance(50)) return emit(code, {x.id}, {{"approximate", Attr::of_string("tanh")}});
    return emit(code, {x.id});
  }

  bool compare_or_select(const Known& x) {
    const Known y = partner(x);
    if (r_.chance(50)) {
      for (const Known& c : pool_)
        if (c.type == DType::boolean && broadcasts(c, x) && broadcasts(c, y) && r_.chance(60))
          return emit(OpCode::op_select, {c.id, x.id, y.id});
    }
    return emit(r_.pick(comparisons), {x.id, y.id});
  }

  bool cast(const Known& x) { return emit(OpCode::op_cast, {x.id}, {{"to", Attr::of_dtype(random_type())}}); }

  bool reduction(const Known& x) {
    std::vector<int64_t> axes;
    for (size_t d = 0; d < x.dims.size(); ++d)
      if (r_.chance(55)) axes.push_back(static_cast<int64_t>(d));
    if (axes.empty() && !x.dims.empty() && !r_.chance(5)) axes.push_back(static_cast<int64_t>(x.dims.size()) - 1);
    if (r_.chance(12) && !x.dims.empty())
      return emit(r_.chance(50) ? OpCode::op_argmax : OpCode::op_argmin, {x.id},
                  {{"axis", Attr::of_int(r_.below(static_cast<int64_t>(x.dims.size())))},
                   {"keepdims", Attr::of_bool(r_.chance(50))}});
    if (r_.chance(15)) return derived_reduction(x, axes);
    if (r_.chance(25) && !x.dims.empty()) return scan(x);
    static constexpr OpCode floats[] = {OpCode::op_reduce_sum, OpCode::op_reduce_sum, OpCode::op_reduce_mean,
                                        OpCode::op_reduce_max, OpCode::op_reduce_min, OpCode::op_reduce_prod};
    OpCode code = r_.pick(floats);
    if (x.type == DType::boolean) code = r_.chance(50) ? OpCode::op_reduce_any : OpCode::op_reduce_all;
    else if (!ir::is_float(x.type) && code == OpCode::op_reduce_mean) code = OpCode::op_reduce_sum;
    return emit(code, {x.id}, {{"axes", Attr::of_ints(axes)}, {"keepdims", Attr::of_bool(r_.chance(50))}});
  }

  bool derived_reduction(const Known& x, const std::vector<int64_t>& axes) {
    static constexpr OpCode floats[] = {OpCode::op_reduce_var, OpCode::op_reduce_std, OpCode::op_reduce_logsumexp,
                                        OpCode::op_reduce_l2};
    OpCode code = r_.chance(50) || x.type == DType::boolean ? OpCode::op_count_nonzero : OpCode::op_reduce_l1;
    if (ir::is_float(x.type) && r_.chance(70)) code = r_.pick(floats);
    std::vector<NamedAttr> attrs = {{"axes", Attr::of_ints(axes)}, {"keepdims", Attr::of_bool(r_.chance(50))}};
    if (code == OpCode::op_reduce_var) attrs.push_back({"ddof", Attr::of_int(r_.below(3))});
    return emit(code, {x.id}, attrs);
  }

  bool scan(const Known& x) {
    return emit(r_.pick(scan_ops), {x.id},
                {{"axis", Attr::of_int(r_.below(static_cast<int64_t>(x.dims.size())))},
                 {"exclusive", Attr::of_bool(r_.chance(30))},
                 {"reverse", Attr::of_bool(r_.chance(40))}});
  }

  bool random(const Known& x) {
    const ValueId seed = graph_->scalar(DType::u64, r_.next());
    const NamedAttr stream{"stream", Attr::of_int(r_.below(3))}, shape{"shape", Attr::of_dims(x.dims)};
    if (ir::is_float(x.type) && r_.chance(50))
      return emit(OpCode::op_dropout, {x.id, seed},
                  {stream, {"p", Attr::of_float(0.25 * static_cast<double>(r_.below(5)))}});
    return emit(r_.chance(50) ? OpCode::op_random_uniform : OpCode::op_random_normal, {seed},
                {shape, stream, {"dtype", Attr::of_dtype(r_.chance(50) ? DType::f32 : DType::bf16)}});
  }

  // Indices along one axis of x that has something in every assignment: any value, brought into range, half of them
  // counted from the end.
  bool indexed(const Known& x) {
    if (x.dims.empty()) return false;
    const auto d = static_cast<size_t>(r_.below(static_cast<int64_t>(x.dims.size())));
    for (const Shape& s : x.shapes)
      if (s[d] == 0) return false;
    const NamedAttr axis{"axis", Attr::of_int(static_cast<int64_t>(d))};
    const bool whole = r_.chance(50);
    const Known y = whole ? any() : partner(x);
    if (y.type == DType::f8e4m3 || y.type == DType::f8e5m2) return false;
    if (!emit(OpCode::op_cast, {y.id}, {{"to", Attr::of_dtype(DType::i64)}})) return false;
    const ValueId number = made_.back();
    if (!emit(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = x.dims[d]}}})) return false;
    const ValueId extent = made_.back();
    if (!emit(OpCode::op_mod, {number, extent})) return false;
    if (r_.chance(50) && !emit(OpCode::op_sub, {made_.back(), extent})) return false;
    const ValueId index = made_.back();
    if (whole) return emit(OpCode::op_gather, {x.id, index}, {axis});
    const OpCode code =
        r_.chance(40) ? OpCode::op_take_along_axis
        : r_.chance(50) || x.type == DType::boolean || x.type == DType::f8e4m3 || x.type == DType::f8e5m2
            ? OpCode::op_scatter
            : OpCode::op_scatter_add;
    if (code == OpCode::op_take_along_axis) return emit(code, {x.id, index}, {axis});
    return emit(code, {x.id, index, x.id}, {axis});
  }

  bool movement(const Known& x) {
    const auto rank = static_cast<int64_t>(x.dims.size());
    ir::DimTable& t = graph_->dims();
    if (r_.chance(25)) return arranged(x);
    switch (r_.below(8)) {
      case 0: {
        std::vector<int64_t> perm;
        for (int64_t d = 0; d < rank; ++d) perm.push_back(d);
        for (int64_t d = rank - 1; d > 0; --d)
          std::swap(perm[static_cast<size_t>(d)], perm[static_cast<size_t>(r_.below(d + 1))]);
        return emit(OpCode::op_transpose, {x.id}, {{"perm", Attr::of_ints(perm)}});
      }
      case 1: {
        std::vector<int64_t> axes;
        for (int64_t d = 0; d < rank; ++d)
          if (r_.chance(50)) axes.push_back(d);
        return emit(OpCode::op_reverse, {x.id}, {{"axes", Attr::of_ints(axes)}});
      }
      case 2: return slice(x);
      case 3: return pad(x);
      case 4: return concat(x);
      case 5: return reshape(x);
      case 6: {
        // To the shape of another value that it broadcasts with, or with a new leading dim.
        const Known y = any();
        std::vector<DimId> shape = x.dims;
        if (r_.chance(60) && y.dims.size() >= x.dims.size() && broadcasts(x, y)) {
          shape = y.dims;
          const size_t skip = shape.size() - x.dims.size();
          for (size_t d = 0; d < x.dims.size(); ++d)
            for (size_t a = 0; a < assignments; ++a)
              if (x.shapes[a][d] != 1 && y.shapes[a][skip + d] == 1) shape[skip + d] = x.dims[d];
        } else {
          shape.insert(shape.begin(), t.constant(r_.between(1, 3)));
        }
        return emit(OpCode::op_broadcast, {x.id}, {{"shape", Attr::of_dims(shape)}});
      }
      default: {
        if (rank == 0) return false;
        const NamedAttr attrs[] = {{"shape", Attr::of_dims(x.dims)},
                                   {"axis", Attr::of_int(r_.below(rank))},
                                   {"dtype", Attr::of_dtype(random_type())}};
        return emit(OpCode::op_iota, {}, {attrs[0], attrs[1], attrs[2]});
      }
    }
  }

  // Movement that decomposes.
  bool arranged(const Known& x) {
    const auto rank = static_cast<int64_t>(x.dims.size());
    if (rank == 0) return emit(OpCode::op_expand_dims, {x.id}, {{"axes", Attr::of_ints({0})}});
    const int64_t axis = r_.below(rank);
    const auto d = static_cast<size_t>(axis);
    const NamedAttr at{"axis", Attr::of_int(axis)};
    std::vector<int64_t> counts, others;
    for (int64_t i = 0; i < rank; ++i)
      counts.push_back(r_.chance(50) ? 1 : r_.between(0, 3)), others.push_back(r_.below(3));
    switch (r_.below(9)) {
      case 0: {
        std::vector<int64_t> units;
        for (size_t i = 0; i < x.dims.size(); ++i)
          if (std::ranges::all_of(x.shapes, [&](const Shape& s) { return s[i] == 1; }))
            units.push_back(static_cast<int64_t>(i));
        if (units.empty()) return emit(OpCode::op_expand_dims, {x.id}, {{"axes", Attr::of_ints({axis, -1})}});
        return emit(OpCode::op_squeeze, {x.id}, {{"axes", Attr::of_ints(units)}});
      }
      case 1: {
        std::vector<ValueId> same = {x.id};
        for (const Known& k : pool_)
          if (k.type == x.type && k.shapes == x.shapes && r_.chance(60)) same.push_back(k.id);
        return emit(OpCode::op_stack, same, {{"axis", Attr::of_int(r_.below(rank + 1))}});
      }
      case 2: {
        if (r_.chance(50)) return emit(OpCode::op_split, {x.id}, {at, {"parts", Attr::of_int(r_.between(1, 4))}});
        const DimId some = graph_->dims().constant(r_.below(3));
        return emit(OpCode::op_split, {x.id},
                    {at, {"sizes", Attr::of_dims({some, graph_->dims().sub(x.dims[d], some)})}});
      }
      case 3: {
        const DimId shift = r_.chance(30) ? any_extent() : graph_->dims().constant(r_.between(-9, 9));
        return emit(OpCode::op_roll, {x.id}, {{"shifts", Attr::of_dims({shift})}, {"axes", Attr::of_ints({axis})}});
      }
      case 4: return emit(OpCode::op_tile, {x.id}, {{"repeats", Attr::of_ints(counts)}});
      case 5: return emit(OpCode::op_repeat, {x.id}, {{"repeats", Attr::of_int(r_.between(0, 3))}, at});
      case 6: {
        if (rank < 2) return false;
        const int64_t second = (axis + 1 + r_.below(rank - 1)) % rank;
        return emit(
            OpCode::op_diagonal, {x.id},
            {{"offset", Attr::of_int(r_.between(-3, 3))}, {"axis1", at.value}, {"axis2", Attr::of_int(second)}});
      }
      case 7:
        return emit(r_.chance(50) ? OpCode::op_tril : OpCode::op_triu, {x.id},
                    {{"diagonal", Attr::of_int(r_.between(-2, 2))}});
      default: {
        static constexpr const char* modes[] = {"edge", "reflect", "wrap"};
        return emit(OpCode::op_pad, {x.id},
                    {{"low", Attr::of_ints(counts)},
                     {"high", Attr::of_ints(others)},
                     {"mode", Attr::of_string(r_.pick(modes))}});
      }
    }
  }

  // The extent of some dim that is there.
  DimId any_extent() {
    const Known k = any();
    return k.dims.empty() ? graph_->dims().constant(2)
                          : k.dims[static_cast<size_t>(r_.below(static_cast<int64_t>(k.dims.size())))];
  }

  bool slice(const Known& x) {
    std::vector<DimId> starts, limits;
    std::vector<int64_t> steps;
    ir::DimTable& t = graph_->dims();
    for (size_t d = 0; d < x.dims.size(); ++d) {
      int64_t most = 0;
      for (const Shape& s : x.shapes) most = std::max(most, s[d]);
      static constexpr int64_t all[] = {1, 1, 1, 2, 3, -1, -2, -3};
      const int64_t step = r_.pick(all);
      steps.push_back(step);
      if (r_.chance(30)) {  // all of it
        starts.push_back(step > 0 ? t.constant(0) : t.sub(x.dims[d], t.constant(1)));
        limits.push_back(step > 0 ? x.dims[d] : t.constant(-1 - most - 5));
        continue;
      }
      int64_t a = r_.chance(70) ? r_.between(0, std::min<int64_t>(most, 4)) : r_.between(-most - 1, most + 1);
      int64_t b = r_.chance(70) ? r_.between(std::max<int64_t>(most - 4, 0), most) : r_.between(-most - 1, most + 1);
      if (step < 0) std::swap(a, b);
      starts.push_back(t.constant(a));
      limits.push_back(r_.chance(20) && step > 0 ? t.sub(x.dims[d], t.constant(1)) : t.constant(b));
    }
    return emit(
        OpCode::op_slice, {x.id},
        {{"starts", Attr::of_dims(starts)}, {"limits", Attr::of_dims(limits)}, {"steps", Attr::of_ints(steps)}});
  }

  bool pad(const Known& x) {
    const Known fill = r_.chance(70) ? add(graph_->scalar(x.type, r_.chance(50) ? 0.0 : 1.0)) : scalar_of(x.type);
    std::vector<int64_t> low, high;
    for (size_t d = 0; d < x.dims.size(); ++d) {
      low.push_back(r_.chance(40) ? 0 : r_.between(-2, 3));
      high.push_back(r_.chance(40) ? 0 : r_.between(-2, 3));
      for (const Shape& s : x.shapes)
        if (s[d] + low[d] + high[d] < 0) low[d] = high[d] = 0;
    }
    return emit(OpCode::op_pad, {x.id, fill.id}, {{"low", Attr::of_ints(low)}, {"high", Attr::of_ints(high)}});
  }

  // A 0-d value: a computed one if there is one.
  Known scalar_of(DType type) {
    for (const Known& k : pool_)
      if (k.type == type && k.dims.empty() && r_.chance(50)) return k;
    return add(graph_->scalar(type, 3.0 - 2 * (type == DType::boolean)));
  }

  bool concat(const Known& x) {
    if (x.dims.empty()) return false;
    const int64_t axis = r_.below(static_cast<int64_t>(x.dims.size()));
    std::vector<ValueId> pieces = {x.id};
    const int64_t most = r_.chance(8) ? 20 : r_.between(1, 4);
    for (int64_t tries = 0; tries < 3 * most && static_cast<int64_t>(pieces.size()) < most; ++tries) {
      const Known y = r_.chance(30) ? x : any();
      bool fits = y.type == x.type && y.dims.size() == x.dims.size();
      for (size_t a = 0; fits && a < assignments; ++a)
        for (size_t d = 0; d < x.dims.size(); ++d)
          fits = fits && (static_cast<int64_t>(d) == axis || x.shapes[a][d] == y.shapes[a][d]);
      if (fits) pieces.insert(r_.chance(50) ? pieces.begin() : pieces.end(), y.id);
    }
    return emit(OpCode::op_concat, pieces, {{"axis", Attr::of_int(axis)}});
  }

  bool reshape(const Known& x) {
    ir::DimTable& t = graph_->dims();
    std::vector<DimId> shape = x.dims;
    for (int64_t times = r_.between(1, 2); times > 0; --times) {
      const auto rank = static_cast<int64_t>(shape.size());
      const auto at = [&](int64_t n) { return shape.begin() + r_.below(n); };
      switch (r_.below(4)) {
        case 0:  // merge two neighbours
          if (rank > 1) {
            const auto d = at(rank - 1);
            *d = t.mul(d[0], d[1]);
            shape.erase(d + 1);
          }
          break;
        case 1:  // split one
          if (rank > 0) {
            const auto d = at(rank);
            const int64_t by = r_.chance(50) ? 2 : 4;
            bool fits = true;
            for (const Shape& s : shapes_of({*d})) fits = fits && s[0] % by == 0;
            if (!fits) break;
            const DimId outer = t.floor_div(*d, t.constant(by));
            if (r_.chance(50)) {
              *d = outer;
              shape.insert(d + 1, t.constant(by));
            } else {
              const auto i = d - shape.begin();
              *d = t.constant(by);
              shape.insert(shape.begin() + i + 1, outer);
            }
          }
          break;
        case 2: shape.insert(shape.begin() + r_.below(rank + 1), t.constant(1)); break;
        default:
          if (r_.chance(50)) {
            std::erase_if(shape, [&](DimId d) { return t.is_constant(d, 1); });
          } else if (rank > 1 && !t.is_constant(shape.back(), 0)) {
            bool some = true;  // -1 cannot be solved beside an extent of 0
            for (const Shape& s : shapes_of({shape.back()})) some = some && s[0] != 0;
            if (some) shape = {t.constant(-1), shape.back()};
          }
      }
    }
    return emit(OpCode::op_reshape, {x.id}, {{"shape", Attr::of_dims(shape)}});
  }

  bool matmul(const Known& x) {
    if (x.dims.empty() || x.type == DType::boolean) return false;
    for (int i = 0; i < 6; ++i) {
      const auto y = any_of(x.type);
      if (!y || y->dims.empty()) continue;
      bool fits = true;
      int64_t work = 1;
      for (size_t a = 0; a < assignments; ++a) {
        const Shape &p = x.shapes[a], &q = y->shapes[a];
        fits = fits && p.back() == q[q.size() == 1 ? 0 : q.size() - 2];
        work = std::max(work, static_cast<int64_t>(element_count(p)) * q.back());
      }
      if (fits && work < 200000) return emit(OpCode::op_matmul, {x.id, y->id});
    }
    if (x.dims.size() > 3) return false;
    if (r_.chance(30)) return dot_general(x);
    // A partner of its own: an input with x's last dim, and another.
    const Known other = any();
    const DimId n = other.dims.empty() ? graph_->dims().constant(3) : other.dims.back();
    for (size_t a = 0; a < assignments; ++a)
      if (static_cast<int64_t>(element_count(x.shapes[a])) * shapes_of({n})[a][0] > 200000) return false;
    const Known& y = make_input(x.type, {x.dims.back(), n});
    return emit(OpCode::op_matmul, {x.id, y.id});
  }

  // With an input whose dims are some of x's in another order, and one more: batch, summed over, or in x alone.
  bool dot_general(const Known& x) {
    std::vector<int64_t> order(x.dims.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
    for (size_t d = order.size(); d-- > 1;)
      std::swap(order[d], order[static_cast<size_t>(r_.below(static_cast<int64_t>(d) + 1))]);
    std::vector<int64_t> batch[2], summed[2];
    std::vector<DimId> dims;
    int64_t work = 9;
    for (size_t a = 0; a < assignments; ++a)
      work = std::max(work, static_cast<int64_t>(element_count(x.shapes[a])) * 9);
    if (work > 200000) return false;
    const int64_t extra = r_.below(static_cast<int64_t>(order.size()) + 1);
    for (const int64_t d : order) {
      if (static_cast<int64_t>(dims.size()) == extra) dims.push_back(graph_->dims().constant(3));
      const int64_t role = r_.below(3);
      if (role == 2) continue;
      (role == 0 ? batch : summed)[0].push_back(d);
      (role == 0 ? batch : summed)[1].push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(x.dims[static_cast<size_t>(d)]);
    }
    const Known& y = make_input(x.type, dims);
    const auto list = [](const char* name, const std::vector<int64_t>& v) { return NamedAttr{name, Attr::of_ints(v)}; };
    return emit(OpCode::op_dot_general, {x.id, y.id},
                {list("lhs_batch", batch[0]), list("rhs_batch", batch[1]), list("lhs_contract", summed[0]),
                 list("rhs_contract", summed[1])});
  }

  // Keys and values like x's rows, or x itself.
  bool attention(const Known& x) {
    if (x.dims.size() < 2 || x.dims.size() > 3) return false;
    for (size_t a = 0; a < assignments; ++a) {
      const Shape& s = x.shapes[a];
      if (static_cast<int64_t>(element_count(s)) * s[s.size() - 2] > 20000) return false;
    }
    const std::vector<DimId> tail(x.dims.end() - 2, x.dims.end());
    std::vector<ValueId> operands = {x.id, r_.chance(50) ? x.id : make_input(x.type, tail).id,
                                     make_input(x.type, tail).id};
    if (r_.chance(40)) operands.push_back(make_input(r_.chance(50) ? DType::boolean : x.type, {tail[0], tail[0]}).id);
    return emit(OpCode::op_attention, operands,
                {{"causal", Attr::of_bool(r_.chance(50))}, {"scale", Attr::of_float(r_.chance(70) ? 0 : 0.25)}});
  }

  bool composite(const Known& x) {
    if (!ir::is_float(x.type) || x.dims.empty()) return false;
    if (r_.chance(15)) return attention(x);
    const int64_t axis = r_.below(static_cast<int64_t>(x.dims.size()));
    if (r_.chance(45))
      return emit(r_.chance(60) ? OpCode::op_softmax : OpCode::op_log_softmax, {x.id}, {{"axis", Attr::of_int(axis)}});
    const std::vector<DimId> tail(x.dims.begin() + axis, x.dims.end());
    std::vector<ValueId> operands = {x.id, make_input(x.type, tail).id};
    const bool layer = r_.chance(60);
    if (layer && r_.chance(60)) operands.push_back(make_input(x.type, tail).id);
    return emit(layer ? OpCode::op_layer_norm : OpCode::op_rms_norm, operands,
                {{"axis", Attr::of_int(axis)}, {"epsilon", Attr::of_float(r_.chance(50) ? 1e-5 : 0.1)}});
  }

  void outputs() {
    std::vector<bool> used(graph_->value_count(), false);
    for (uint32_t i = 0; i < graph_->op_count(); ++i)
      for (const ValueId v : graph_->op(i).operands) used[v] = true;
    std::vector<ValueId> out;
    for (const ValueId v : made_)
      if (!used[v] ? r_.chance(85) : r_.chance(12)) out.push_back(v);
    if (r_.chance(8)) out.push_back(any().id);
    if (out.empty()) out.push_back(pool_.back().id);
    if (r_.chance(8)) out.push_back(out[0]);
    for (const ValueId v : out) graph_->output("", v);
  }
};

}  // namespace

RandomGraph random_graph(uint64_t seed) { return Generator(seed).run(); }

}  // namespace ingot::oracle
