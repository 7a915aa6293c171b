// Every op of the table over every dtype it takes, in every layout, at sizes around the strips and tails of the
// kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "check.h"
#include "evaluate.h"
#include "narrow.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpClass;
using ir::OpCode;
using ir::ValueId;

namespace {

constexpr DType all_types[] = {DType::boolean, DType::i8,     DType::i16,    DType::i32, DType::i64,
                               DType::u8,      DType::u16,    DType::u32,    DType::u64, DType::f16,
                               DType::bf16,    DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};

// Half of the elements are the values at which kernels go wrong; the step makes operands meet in all pairs.
Array edge_array(uint64_t seed, DType type, std::vector<int64_t> shape) {
  Array out = random_array(seed, type, std::move(shape));
  std::vector<uint64_t> edges;
  if (type == DType::f32) {
    edges = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
             0x7f800001, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x3effffff, 0x3f000000,
             0x40200000, 0x4b000001, 0xcf000000, 0x4f800000, 0x42b17218, 0xc2cff1b5};
  } else if (type == DType::f64) {
    for (const double v :
         {0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1e308, 5e-324, -5e-324, 2.2250738585072014e-308, 4503599627370497.0,
          -9223372036854775808.0, 18446744073709551616.0, 4294967296.0, 709.78, -745.2})
      edges.push_back(to_bits(v));
    for (const uint64_t b :
         {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u, 0xfff8000000000001u, 0x7ff0000000000001u})
      edges.push_back(b);
  } else if (ir::is_float(type)) {
    // Zeros, ones, infinities, NaNs quiet and signalling, the ends of the subnormal and normal numbers.
    const uint64_t sign = uint64_t{1} << (8 * ir::item_size(type) - 1), nan = narrow_nan(type);
    const uint64_t most = narrow_bits(type, std::numeric_limits<double>::infinity()), one = narrow_bits(type, 1);
    const uint64_t least = narrow_bits(type, type == DType::bf16 ? 0x1p-126 : type == DType::f8e4m3 ? 0x1p-6 : 0x1p-14);
    for (const uint64_t v : {uint64_t{0}, uint64_t{1}, one, one + 1, least, least - 1, most - 1, most, most + 1,
                             nan - 1, nan, nan + 1, sign - 1, narrow_bits(type, 2.5), narrow_bits(type, 0.5)})
      for (const uint64_t s : {uint64_t{0}, sign}) edges.push_back(v % sign | s);
  } else if (type != DType::boolean) {
    const uint64_t all = ~uint64_t{0} >> (64 - 8 * ir::item_size(type));
    for (const uint64_t v :
         {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{7}, all, all - 1, all / 2, all / 2 + 1, all / 2 + 2})
      edges.push_back(v & all);
  }
  if (edges.empty()) return out;
  size_t at = seed * 7;
  for (size_t i = 0; i < out.bits.size(); ++i)
    if (out.bits.size() < 8 || (i * 0x9e3779b97f4a7c15u >> 40) % 2 == 0)
      out.bits[i] = edges[(at += 1 + seed % 5 + i / edges.size()) % edges.size()];
  return out;
}

NamedAttr ints(const char* name, std::vector<int64_t> v) { return {name, Attr::of_ints(std::move(v))}; }

// A graph over x, y, z: T[M, N], c: bool[M, N], row: T[N], column: T[M, 1] and one: T[]. Every op's result is an
// output.
class Battery {
 public:
  explicit Battery(DType type) : type_(type) {
    m_ = net_.sym("M");
    n_ = net_.sym("N");
    x_ = net_.in("x", type, {m_, n_});
    y_ = net_.in("y", type, {m_, n_});
    z_ = net_.in("z", type, {m_, n_});
    c_ = net_.in("c", DType::boolean, {m_, n_});
    row_ = net_.in("row", type, {n_});
    column_ = net_.in("column", type, {m_, net_.num(1)});
    one_ = net_.in("one", type, {});
  }

  std::vector<Array> inputs(uint64_t seed, int64_t m, int64_t n) const {
    return {edge_array(seed, type_, {m, n}),     edge_array(seed + 1, type_, {m, n}),
            edge_array(seed + 2, type_, {m, n}), random_array(seed + 3, DType::boolean, {m, n}),
            edge_array(seed + 4, type_, {n}),    edge_array(seed + 5, type_, {m, 1}),
            edge_array(seed + 6, type_, {})};
  }

  void elementwise() {
    for (const ir::OpInfo& info : ir::op_table()) {
      const bool pointwise = info.cls == OpClass::elementwise || info.cls == OpClass::function;
      if (!pointwise && info.code != OpCode::op_nextafter && info.code != OpCode::op_frexp) continue;
      if (!ir::in_set(info.types, type_) || (stored() && info.rule == ir::Rule::compare)) continue;
      switch (info.rule) {
        case ir::Rule::unary:
          add(info.code, {x_});
          if (info.code == OpCode::op_gelu) add(info.code, {x_}, {{"approximate", Attr::of_string("tanh")}});
          if (info.code == OpCode::op_elu) add(info.code, {x_}, {{"alpha", Attr::of_float(0.3)}});
          break;
        case ir::Rule::select:
          add(info.code, {c_, x_, y_});
          add(info.code, {c_, row_, one_});
          break;
        case ir::Rule::test: add(info.code, {x_}); break;
        case ir::Rule::random: break;  // in random()
        case ir::Rule::ldexp: {
          const ValueId power = net_.op(OpCode::op_cast, {y_}, {{"to", Attr::of_dtype(DType::i32)}});
          add(info.code, {x_, power});
          add(info.code, {row_, power});
          break;
        }
        case ir::Rule::bitcast:
          for (const DType to : all_types)
            if (type_ != DType::boolean && to != DType::boolean && ir::item_size(to) == ir::item_size(type_))
              add(info.code, {x_}, {{"to", Attr::of_dtype(to)}});
          break;
        case ir::Rule::frexp:
          for (const ValueId v : {x_, row_, column_, one_}) {
            const ValueId mantissa = net_.op(info.code, {v});
            net_.out(mantissa);
            net_.out(mantissa + 1);
          }
          break;
        case ir::Rule::cast:
          for (const DType to : all_types) add(info.code, {x_}, {{"to", Attr::of_dtype(to)}});
          break;
        default: {
          std::vector<ValueId> operands = {x_, y_, z_};
          operands.resize(info.min_operands);
          add(info.code, operands);
          operands[1] = row_;
          add(info.code, operands);
          operands[0] = one_;
          add(info.code, operands);
          operands[1] = column_;
          add(info.code, operands);
        }
      }
    }
  }

  void movement() {
    const auto cut = [&](std::vector<int64_t> starts, std::vector<int64_t> limits, std::vector<int64_t> steps) {
      add(OpCode::op_slice, {x_},
          {ints("starts", std::move(starts)), ints("limits", std::move(limits)), ints("steps", std::move(steps))});
    };
    cut({0, 1}, {2, 1000}, {1, 1});
    cut({1, 0}, {3, 1000}, {2, 3});
    cut({-1, -2}, {-1000, -1000}, {-1, -3});
    cut({5, 900}, {0, 1}, {-2, -1});
    cut({-2, -5}, {1000, -1}, {1, 2});
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {0, 1}})
      add(OpCode::op_reverse, {x_}, {ints("axes", axes)});
    add(OpCode::op_transpose, {x_}, {ints("perm", {1, 0})});
    add(OpCode::op_broadcast, {x_}, {{"shape", Attr::of_dims({net_.num(2), m_, n_})}});
    add(OpCode::op_broadcast, {column_}, {{"shape", Attr::of_dims({m_, n_})}});
    add(OpCode::op_pad, {x_, one_}, {ints("low", {1, 2}), ints("high", {0, 3})});
    add(OpCode::op_pad, {row_, one_}, {ints("low", {-1}), ints("high", {2})});
    add(OpCode::op_pad, {row_, one_}, {ints("low", {3}), ints("high", {-2})});
    add(OpCode::op_concat, {x_, y_, x_}, {{"axis", Attr::of_int(0)}});
    add(OpCode::op_concat, {x_, column_, y_}, {{"axis", Attr::of_int(1)}});
    add(OpCode::op_reshape, {x_}, {ints("shape", {-1})});
    add(OpCode::op_reshape, {x_}, {{"shape", Attr::of_dims({net_.num(1), n_, m_})}});
    arranged();
    const auto dim = [](ir::DimId d) { return ir::NamedAttr{"size", {.kind = ir::AttrKind::dim, .i = d}}; };
    const ValueId rows = net_.op(OpCode::op_dim, {}, {dim(m_)});
    net_.out(rows);
    net_.out(net_.op(OpCode::op_add, {rows, net_.op(OpCode::op_dim, {}, {dim(net_.g->dims().sub(n_, m_))})}));
    add(OpCode::op_pad, {x_, net_.op(OpCode::op_cast, {rows}, {{"to", Attr::of_dtype(type_)}})},
        {ints("low", {1, 0}), ints("high", {0, 1})});
    for (const int64_t axis : {0, 1}) {
      if (stored()) break;
      add(OpCode::op_iota, {},
          {{"shape", Attr::of_dims({m_, n_})}, {"axis", Attr::of_int(axis)}, {"dtype", Attr::of_dtype(type_)}});
    }
  }

  // Movement that decomposes. Counts that a small size does not allow are taken from where they fit.
  void arranged() {
    add(OpCode::op_squeeze, {column_}, {ints("axes", {1})});
    add(OpCode::op_expand_dims, {x_}, {ints("axes", {0, -1})});
    add(OpCode::op_expand_dims, {one_}, {ints("axes", {0})});
    for (const int64_t axis : {0, 1, 2}) add(OpCode::op_stack, {x_, y_, z_}, {{"axis", Attr::of_int(axis)}});
    const ValueId doubled = net_.op(OpCode::op_concat, {x_, y_}, {{"axis", Attr::of_int(1)}});
    const ValueId longer = net_.op(OpCode::op_concat, {x_, y_}, {{"axis", Attr::of_int(0)}});
    parts(doubled, 2, {{"axis", Attr::of_int(1)}, {"parts", Attr::of_int(2)}});
    parts(longer, 3, {{"axis", Attr::of_int(0)}, {"sizes", Attr::of_dims({m_, net_.num(0), m_})}});
    for (const std::vector<int64_t>& shifts : {std::vector<int64_t>{1, 0}, {-2, 5}, {1000001, -3}})
      add(OpCode::op_roll, {x_}, {ints("shifts", shifts), ints("axes", {1, 0})});
    add(OpCode::op_roll, {x_}, {{"shifts", Attr::of_dims({m_})}, ints("axes", {-1})});
    add(OpCode::op_tile, {row_}, {ints("repeats", {3})});
    add(OpCode::op_tile, {column_}, {{"repeats", Attr::of_dims({net_.num(2), n_})}});
    add(OpCode::op_tile, {row_}, {ints("repeats", {0})});
    add(OpCode::op_repeat, {x_}, {{"repeats", Attr::of_int(2)}, {"axis", Attr::of_int(0)}});
    add(OpCode::op_repeat, {column_}, {{"repeats", {.kind = ir::AttrKind::dim, .i = n_}}, {"axis", Attr::of_int(0)}});
    add(OpCode::op_repeat, {row_}, {{"repeats", Attr::of_int(3)}});
    for (const int64_t offset : {0, 1, -1, 5, -2}) add(OpCode::op_diagonal, {x_}, {{"offset", Attr::of_int(offset)}});
    add(OpCode::op_diagonal, {x_}, {{"axis1", Attr::of_int(1)}, {"axis2", Attr::of_int(0)}});
    const ValueId cube = net_.op(OpCode::op_stack, {x_, y_}, {{"axis", Attr::of_int(1)}});
    add(OpCode::op_diagonal, {cube}, {{"axis1", Attr::of_int(-1)}, {"axis2", Attr::of_int(0)}});
    add(OpCode::op_diagonal, {cube}, {{"offset", Attr::of_int(1)}});
    for (const int64_t diagonal : {0, 1, -2}) {
      add(OpCode::op_tril, {x_}, {{"diagonal", Attr::of_int(diagonal)}});
      add(OpCode::op_triu, {cube}, {{"diagonal", Attr::of_int(diagonal)}});
      if (!stored())
        add(OpCode::op_eye, {},
            {{"shape", Attr::of_dims({m_, n_})},
             {"diagonal", Attr::of_int(diagonal)},
             {"dtype", Attr::of_dtype(type_)}});
    }
    if (!stored())
      add(OpCode::op_eye, {}, {{"shape", Attr::of_dims({net_.num(2), m_, n_})}, {"dtype", Attr::of_dtype(type_)}});
    const auto edges = [&](ValueId v, std::vector<int64_t> low, std::vector<int64_t> high, const char* mode) {
      add(OpCode::op_pad, {v},
          {ints("low", std::move(low)), ints("high", std::move(high)), {"mode", Attr::of_string(mode)}});
    };
    // Four rows and columns more than there are, so that counts up to 4 fit whatever the size.
    const ValueId fits = net_.op(OpCode::op_pad, {x_, one_}, {ints("low", {4, 0}), ints("high", {0, 4})});
    edges(fits, {1, 2}, {3, 0}, "edge");
    edges(fits, {3, 0}, {2, 1}, "reflect");
    edges(fits, {4, 1}, {0, 3}, "wrap");
    // As many as there are.
    add(OpCode::op_pad, {x_},
        {{"low", Attr::of_dims({m_, n_})}, ints("high", {0, 0}), {"mode", Attr::of_string("wrap")}});
    add(OpCode::op_pad, {fits},
        {{"low", Attr::of_dims({m_, net_.num(0)})}, ints("high", {0, 3}), {"mode", Attr::of_string("reflect")}});
    add(OpCode::op_pad, {fits},
        {{"low", Attr::of_dims({m_, net_.num(5)})}, ints("high", {0, 3}), {"mode", Attr::of_string("edge")}});
  }

  // All parts of a split, each an output.
  void parts(ValueId v, size_t count, std::vector<NamedAttr> attrs) {
    const ValueId first = net_.op(OpCode::op_split, {v}, std::move(attrs));
    for (size_t i = 0; i < count; ++i) net_.out(first + static_cast<ValueId>(i));
  }

  void reductions() {
    for (const ir::OpInfo& info : ir::op_table()) {
      if (info.cls != OpClass::reduce || !ir::in_set(info.types, type_)) continue;
      if (info.rule == ir::Rule::argument) {
        // Padded, so that there is something along each axis.
        const ValueId some = net_.op(OpCode::op_pad, {x_, one_}, {ints("low", {0, 1}), ints("high", {1, 0})});
        for (const int64_t axis : {0, 1})
          add(info.code, {some}, {{"axis", Attr::of_int(axis)}, {"keepdims", Attr::of_bool(axis == 0)}});
        continue;
      }
      for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {0, 1}, {}})
        for (const bool keep : {false, true})
          add(info.code, {x_}, {ints("axes", axes), {"keepdims", Attr::of_bool(keep)}});
      add(info.code, {one_});
    }
    for (const ir::OpInfo& info : ir::op_table()) {
      if (info.cls != OpClass::scan || !ir::in_set(info.types, type_)) continue;
      for (const int64_t axis : {0, 1})
        for (const bool exclusive : {false, true})
          for (const bool reverse : {false, true})
            add(info.code, {x_},
                {{"axis", Attr::of_int(axis)},
                 {"exclusive", Attr::of_bool(exclusive)},
                 {"reverse", Attr::of_bool(reverse)}});
    }
    random();
    for (const OpCode code : {OpCode::op_reduce_var, OpCode::op_reduce_std})
      if (ir::is_float(type_)) add(code, {x_}, {ints("axes", {1}), {"ddof", Attr::of_int(2)}});
    if (type_ == DType::i8 || type_ == DType::u8)
      for (const DType real : {DType::f32, DType::f64}) {
        const NamedAttr to{"to", Attr::of_dtype(real)};
        const ValueId scale = net_.op(OpCode::op_cast, {row_}, {to});
        add(OpCode::op_dequantize, {x_, scale, row_});
        add(OpCode::op_dequantize, {x_, net_.op(OpCode::op_cast, {one_}, {to}), one_});
        const ValueId value = net_.op(OpCode::op_cast, {y_}, {to});
        add(OpCode::op_quantize, {value, scale, one_}, {{"dtype", Attr::of_dtype(type_)}});
      }
    if (type_ == DType::boolean || stored()) return;
    const ValueId t = net_.op(OpCode::op_transpose, {y_}, {ints("perm", {1, 0})});
    add(OpCode::op_matmul, {x_, t});
    const ValueId narrow = net_.op(OpCode::op_slice, {x_}, {ints("starts", {0, 0}), ints("limits", {1000000, 5})});
    add(OpCode::op_matmul, {t, narrow});
    add(OpCode::op_matmul, {x_, row_});
    add(OpCode::op_matmul, {row_, t});
    add(OpCode::op_matmul, {row_, row_});
    const auto dot = [&](ValueId a, ValueId b, std::vector<int64_t> lb, std::vector<int64_t> rb,
                         std::vector<int64_t> lk, std::vector<int64_t> rk) {
      add(OpCode::op_dot_general, {a, b},
          {ints("lhs_batch", std::move(lb)), ints("rhs_batch", std::move(rb)), ints("lhs_contract", std::move(lk)),
           ints("rhs_contract", std::move(rk))});
    };
    dot(x_, y_, {}, {}, {1, 0}, {1, 0});  // the order of k is that of the dims, not of the list
    dot(x_, t, {}, {}, {0, 1}, {1, 0});
    dot(x_, t, {1}, {0}, {0}, {1});
    dot(x_, narrow, {0}, {0}, {}, {});
    dot(narrow, row_, {}, {}, {}, {});
    const ValueId pile = net_.op(OpCode::op_stack, {narrow, narrow, narrow}, {{"axis", Attr::of_int(1)}});
    dot(pile, pile, {1}, {1}, {2}, {2});
    dot(pile, narrow, {0}, {0}, {-1}, {-1});
    if (!ir::is_float(type_)) return;
    add(OpCode::op_attention, {x_, y_, z_});
    const ValueId heads = net_.op(OpCode::op_transpose, {pile}, {ints("perm", {1, 0, 2})});
    add(OpCode::op_attention, {narrow, narrow, heads}, {{"causal", Attr::of_bool(true)}});
    add(OpCode::op_attention, {heads, narrow, narrow, column_});
    // A mask with the leading dims that only v has.
    const ValueId each = net_.op(OpCode::op_stack, {column_, column_, column_});
    add(OpCode::op_attention, {narrow, narrow, heads, each});
    add(OpCode::op_attention, {narrow, narrow, heads, net_.op(OpCode::op_gt, {each, one_})},
        {{"causal", Attr::of_bool(true)}});
    const ValueId seen = net_.op(OpCode::op_gt, {column_, one_});
    add(OpCode::op_attention, {narrow, narrow, narrow, seen}, {{"scale", Attr::of_float(-0.75)}});
    for (const int64_t axis : {0, 1}) {
      const ValueId along = axis == 1 ? row_ : net_.op(OpCode::op_reduce_max, {x_}, {ints("axes", {1})});
      const ValueId first = net_.op(OpCode::op_batch_norm_training, {x_, along, along}, {{"axis", Attr::of_int(axis)}});
      for (ValueId i = 0; i < 3; ++i) net_.out(first + i);
    }
    for (const int64_t axis : {0, 1}) add(OpCode::op_softmax, {x_}, {{"axis", Attr::of_int(axis)}});
    add(OpCode::op_layer_norm, {x_, row_, row_}, {{"axis", Attr::of_int(-1)}});
    add(OpCode::op_layer_norm, {x_, y_}, {{"axis", Attr::of_int(0)}, {"epsilon", Attr::of_float(0.25)}});
    add(OpCode::op_rms_norm, {x_, row_});
    for (const int64_t axis : {0, 1}) add(OpCode::op_log_softmax, {x_}, {{"axis", Attr::of_int(axis)}});
    const ValueId cube = net_.op(OpCode::op_stack, {x_, y_, z_, x_}, {{"axis", Attr::of_int(1)}});
    const ValueId four = net_.op(OpCode::op_broadcast, {one_}, {ints("shape", {4})});
    add(OpCode::op_group_norm, {cube, four, four}, {{"groups", Attr::of_int(2)}});
    add(OpCode::op_group_norm, {x_, row_}, {{"groups", Attr::of_int(1)}, {"epsilon", Attr::of_float(0.5)}});
    add(OpCode::op_instance_norm, {cube, four});
    add(OpCode::op_instance_norm, {cube});
    add(OpCode::op_batch_norm, {x_, row_, row_, row_, row_});
    add(OpCode::op_batch_norm, {cube, four, four, four, four}, {{"axis", Attr::of_int(-2)}});
    for (const DType to : {DType::i8, DType::u8}) {
      const auto whole = [&](ValueId v) { return net_.op(OpCode::op_cast, {v}, {{"to", Attr::of_dtype(to)}}); };
      add(OpCode::op_quantize, {x_, one_, whole(one_)}, {{"dtype", Attr::of_dtype(to)}});
      add(OpCode::op_quantize, {x_, row_, whole(row_)}, {{"dtype", Attr::of_dtype(to)}});
    }
    // Twice as long as the tables.
    const ValueId pairs = net_.op(OpCode::op_concat, {x_, y_}, {{"axis", Attr::of_int(1)}});
    for (const bool side : {false, true}) {
      const NamedAttr interleaved{"interleaved", Attr::of_bool(side)};
      add(OpCode::op_rope, {pairs, row_, z_}, {interleaved});
      add(OpCode::op_rope, {net_.op(OpCode::op_stack, {pairs, pairs}), x_, row_}, {interleaved});
    }
  }

  // What random words are made into, and bits taken apart.
  void random() {
    const NamedAttr shape{"shape", Attr::of_dims({m_, n_})}, dtype{"dtype", Attr::of_dtype(type_)};
    if (type_ == DType::i64 || type_ == DType::u64) {
      add(OpCode::op_random_bits, {one_}, {shape});
      const ValueId p = net_.op(OpCode::op_cast, {row_}, {{"to", Attr::of_dtype(DType::f32)}});
      add(OpCode::op_random_bernoulli, {one_, p}, {shape, {"stream", Attr::of_int(2)}});
    }
    const ValueId seed = net_.op(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = n_}}});
    if (ir::is_unsigned(type_)) add(OpCode::op_random_bits, {seed}, {shape, dtype});
    if (type_ == DType::u8)
      for (const char* order : {"little", "big"})
        add(OpCode::op_unpack_bits, {x_}, {{"bitorder", Attr::of_string(order)}});
    if (!ir::is_float(type_)) return;
    add(OpCode::op_random_uniform, {seed}, {shape, dtype});
    add(OpCode::op_random_normal, {seed}, {shape, dtype, {"stream", Attr::of_int(-1)}});
    add(OpCode::op_dropout, {x_, seed}, {{"p", Attr::of_float(0.3)}});
  }

  // Indices are valid whatever the size, half of them negative, and come in an order of their own.
  void indexed() {
    const ValueId rows = index_along({m_, n_}, m_), columns = index_along({m_, n_}, n_), line = index_along({n_}, n_);
    const auto axis = [](int64_t a) { return NamedAttr{"axis", Attr::of_int(a)}; };
    add(OpCode::op_gather, {x_, index_along({m_}, m_)}, {axis(0)});
    add(OpCode::op_gather, {x_, line}, {axis(-1)});
    add(OpCode::op_gather, {row_, columns}, {axis(0)});
    add(OpCode::op_gather, {column_, rows}, {axis(0)});
    add(OpCode::op_take_along_axis, {x_, rows}, {axis(0)});
    add(OpCode::op_take_along_axis, {x_, columns}, {axis(1)});
    add(OpCode::op_take_along_axis, {x_, index_along({net_.num(1), n_}, n_)}, {axis(1)});
    add(OpCode::op_take_along_axis, {column_, rows}, {axis(0)});
    const ValueId pairs = net_.op(OpCode::op_stack, {index_along({n_}, m_), line}, {axis(1)});
    add(OpCode::op_gather_nd, {x_, pairs});
    add(OpCode::op_gather_nd, {x_, net_.op(OpCode::op_expand_dims, {rows}, {ints("axes", {2})})});
    add(OpCode::op_gather_nd, {x_, net_.op(OpCode::op_expand_dims, {columns}, {ints("axes", {2})})},
        {{"batch_dims", Attr::of_int(1)}});
    // What is computed is stored first; a pad asks for nothing outside of the result.
    const ValueId turned =
        net_.op(OpCode::op_transpose, {net_.op(OpCode::op_select, {c_, x_, y_})}, {ints("perm", {1, 0})});
    const ValueId taken = net_.op(OpCode::op_gather, {turned, index_along({m_}, m_)}, {axis(1)});
    add(OpCode::op_pad, {taken, one_}, {ints("low", {1, 2}), ints("high", {2, 0})});
    add(OpCode::op_concat, {taken, turned}, {axis(0)});
    add(OpCode::op_gather,
        {net_.op(OpCode::op_reshape, {x_}, {ints("shape", {-1})}), index_along({n_, m_}, net_.g->dims().mul(m_, n_))});
    add(OpCode::op_select, {c_, net_.op(OpCode::op_take_along_axis, {y_, rows}, {axis(0)}), x_});
    add(OpCode::op_scatter, {x_, rows, y_}, {axis(0)});
    add(OpCode::op_scatter, {x_, columns, y_}, {axis(1)});
    add(OpCode::op_scatter, {row_, line, row_});
    const ValueId placed = net_.op(OpCode::op_scatter, {turned, index_along({n_, m_}, n_), turned}, {axis(0)});
    add(OpCode::op_concat, {placed, taken}, {axis(0)});
    add(OpCode::op_gather, {placed, line}, {axis(0)});
    if (type_ == DType::i32 || type_ == DType::i64 || type_ == DType::u8 || type_ == DType::u64) {
      for (const int64_t a : {0, 1, 2})
        add(OpCode::op_one_hot, {x_},
            {{"depth", Attr::of_int(a + 2)}, axis(a), {"dtype", Attr::of_dtype(DType::bf16)}});
      add(OpCode::op_one_hot, {row_},
          {{"depth", {.kind = ir::AttrKind::dim, .i = m_}}, {"dtype", Attr::of_dtype(type_)}});
    }
    if (stored() || type_ == DType::boolean) return;
    add(OpCode::op_scatter_add, {x_, rows, y_}, {axis(0)});
    add(OpCode::op_scatter_add, {x_, columns, z_}, {axis(1)});
    searches();
    if (ir::is_float(type_)) losses();
  }

  void searches() {
    const auto whole = [&](int64_t v) { return net_.g->scalar(DType::i64, static_cast<uint64_t>(v)); };
    const ValueId count = net_.op(OpCode::op_iota, {}, {{"shape", Attr::of_dims({n_})}});
    const ValueId steps = net_.op(OpCode::op_min, {net_.op(OpCode::op_floor_div, {count, whole(3)}), whole(100)});
    ValueId sorted = net_.op(OpCode::op_cast, {steps}, {{"to", Attr::of_dtype(type_)}});
    if (ir::is_float(type_)) {
      const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
      const auto one = [&](double v) {
        return net_.op(OpCode::op_broadcast, {net_.g->scalar(type_, v)}, {ints("shape", {1})});
      };
      sorted = net_.op(OpCode::op_concat, {one(-inf), sorted, one(inf), one(nan)}, {{"axis", Attr::of_int(0)}});
    }
    for (const char* side : {"left", "right"}) {
      const NamedAttr at{"side", Attr::of_string(side)};
      add(OpCode::op_searchsorted, {sorted, x_}, {at});
      add(OpCode::op_searchsorted, {sorted, one_}, {at});
      const ValueId rows =
          net_.op(OpCode::op_broadcast, {sorted}, {{"shape", Attr::of_dims({m_, net_.g->value(sorted).shape[0]})}});
      add(OpCode::op_searchsorted, {rows, y_}, {at});
    }
  }

  void losses() {
    // Padded, so that there are classes.
    const ValueId rows = net_.op(OpCode::op_pad, {x_, one_}, {ints("low", {0, 1}), ints("high", {0, 0})});
    const ValueId columns = net_.op(OpCode::op_transpose, {rows}, {ints("perm", {1, 0})});
    const DimId classes = net_.g->dims().add(n_, net_.num(1));
    const ValueId labels =
        net_.op(OpCode::op_mod, {index_along({m_}, classes),
                                 net_.op(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = classes}}})});
    const ValueId first = net_.g->scalar(DType::i64, uint64_t{0});
    const ValueId count = net_.op(OpCode::op_iota, {}, {{"shape", Attr::of_dims({m_})}});
    const ValueId some =
        net_.op(OpCode::op_eq, {net_.op(OpCode::op_mod, {count, net_.g->scalar(DType::i64, 3.0)}), first});
    const ValueId ignoring =
        net_.op(OpCode::op_select, {some, net_.g->scalar(DType::i64, static_cast<uint64_t>(-100)), labels});
    for (const char* reduction : {"none", "mean", "sum"}) {
      const NamedAttr how{"reduction", Attr::of_string(reduction)};
      add(OpCode::op_cross_entropy, {rows, ignoring}, {how});
      add(OpCode::op_cross_entropy, {columns, labels},
          {how, {"axis", Attr::of_int(0)}, {"ignore_index", Attr::of_int(0)}});
    }
  }

  std::shared_ptr<const ir::Graph> done() { return net_.done(); }

 private:
  void add(OpCode code, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    net_.out(net_.op(code, std::move(operands), std::move(attrs)));
  }

  // Indices of a shape that lie in [-extent, extent): multiples of 7 along the last dim and of 5 along the first.
  ValueId index_along(const std::vector<DimId>& shape, DimId extent) {
    const auto whole = [&](int64_t v) { return net_.g->scalar(DType::i64, static_cast<uint64_t>(v)); };
    const auto count = [&](int64_t axis) {
      return net_.op(OpCode::op_iota, {}, {{"shape", Attr::of_dims(shape)}, {"axis", Attr::of_int(axis)}});
    };
    const ValueId mixed = net_.op(OpCode::op_add, {net_.op(OpCode::op_mul, {count(-1), whole(7)}),
                                                   net_.op(OpCode::op_mul, {count(0), whole(5)})});
    const ValueId size = net_.op(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = extent}}});
    const ValueId both = net_.op(OpCode::op_mod, {mixed, net_.op(OpCode::op_add, {size, size})});
    return net_.op(OpCode::op_sub, {both, size});
  }

  // fp8 is stored, moved and cast, and nothing else.
  bool stored() const { return type_ == DType::f8e4m3 || type_ == DType::f8e5m2; }

  DType type_;
  Net net_;
  DimId m_, n_;
  ValueId x_, y_, z_, c_, row_, column_, one_;
};

struct Size {
  int64_t m, n;
};

// Compares all ways with the oracle. The machine's own ISA and the interpreter see every layout, the other ways one
// each.
void compare(DType type, const std::shared_ptr<const ir::Graph>& graph, const Battery& battery,
             std::span<const Size> sizes) {
  std::vector<std::shared_ptr<engine::Executable>> executables;
  for (const Way& way : all_ways()) executables.push_back(compile(graph, way));
  uint64_t seed = 100 * static_cast<uint64_t>(type);
  for (const Size size : sizes) {
    const std::vector<Array> plain = battery.inputs(++seed, size.m, size.n);
    const std::vector<Array> want = evaluate(*graph, plain);
    std::vector<Array> repeated;
    for (const Array& a : plain) repeated.push_back(HostTensor(a, Layout::broadcast).read());
    const std::vector<Array> want_repeated = evaluate(*graph, repeated);
    for (size_t w = 0; w < executables.size(); ++w) {
      for (size_t l = 0; l < std::size(all_layouts); ++l) {
        if (w >= main_ways().size() && (l + w + seed) % std::size(all_layouts) != 0) continue;
        const Layout in = all_layouts[l], out = all_layouts[(l + seed) % 5];
        const bool same = in == Layout::broadcast;
        const std::vector<Array> got = run(*executables[w], same ? repeated : plain, in, out, all_ways()[w].threads);
        for (size_t i = 0; i < got.size(); ++i) {
          const std::string text = difference((same ? want_repeated : want)[i], got[i]);
          if (text.empty()) continue;
          const ir::Op& op = graph->op(graph->value(graph->outputs()[i].value).source);
          FAIL_CHECK(ir::name(type), " ", size.m, "x", size.n, ", ", all_ways()[w].name, ", in ", name(in), ", out ",
                     name(out), ": ", ir::op_info(op.code)->name, " (output ", i, "): ", text);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("elementwise and function ops of every dtype give the oracle's bits in every layout") {
  for (const DType type : all_types) {
    Battery b(type);
    b.elementwise();
    compare(type, b.done(), b, std::vector<Size>{{1, 1}, {3, 1}, {1, 17}, {17, 3}, {0, 3}, {1, 1027}});
  }
}

TEST_CASE("movement ops of every dtype give the oracle's bits in every layout") {
  for (const DType type : all_types) {
    Battery b(type);
    b.movement();
    compare(type, b.done(), b, std::vector<Size>{{1, 1}, {3, 1}, {1, 17}, {17, 3}, {3, 0}, {3, 1027}, {1027, 2}});
  }
}

TEST_CASE("reductions, products and composites of every dtype give the oracle's bits in every layout") {
  for (const DType type : all_types) {
    if (type == DType::f8e4m3 || type == DType::f8e5m2) continue;  // they are not computed with
    Battery b(type);
    b.reductions();
    std::vector<Size> sizes = {{1, 1}, {3, 1}, {1, 17}, {17, 3}, {3, 0}, {0, 3}, {3, 1027}, {300, 2}};
    if (type != DType::f32 && type != DType::f64) sizes.pop_back();
    compare(type, b.done(), b, sizes);
  }
}

TEST_CASE("indexed ops of every dtype give the oracle's bits in every layout") {
  for (const DType type : all_types) {
    Battery b(type);
    b.indexed();
    compare(type, b.done(), b, std::vector<Size>{{1, 1}, {3, 1}, {1, 17}, {17, 3}, {3, 0}, {2, 1027}, {130, 70}});
  }
}

TEST_CASE("every op of the table is in one of the tests here") {
  std::set<OpCode> seen;
  for (const DType type : {DType::boolean, DType::i8, DType::u8, DType::i32, DType::i64, DType::f32}) {
    Battery b(type);
    b.elementwise();
    b.movement();
    b.reductions();
    b.indexed();
    const auto g = b.done();
    for (uint32_t i = 0; i < g->op_count(); ++i) seen.insert(g->op(i).code);
  }
  for (const ir::OpInfo& info : ir::op_table()) {
    INFO(info.name);
    CHECK(seen.contains(info.code));
  }
}
