// The two ends of the sizes that the op matrix runs: scalars, and tensors of many strips and chunks.
#include <doctest/doctest.h>

#include "check.h"
#include "evaluate.h"
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

NamedAttr ints(const char* name, std::vector<int64_t> v) { return {name, Attr::of_ints(std::move(v))}; }
NamedAttr axis(int64_t a) { return {"axis", Attr::of_int(a)}; }

// Elementwise ops, folds over nothing and moves that add dims or have none to turn, all of scalars.
std::shared_ptr<const ir::Graph> of_scalars(DType type) {
  Net net;
  const ValueId x = net.in("x", type, {}), y = net.in("y", type, {}), z = net.in("z", type, {}),
                c = net.in("c", DType::boolean, {});
  const auto add = [&](OpCode code, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    net.out(net.op(code, std::move(operands), std::move(attrs)));
  };
  for (const ir::OpInfo& info : ir::op_table()) {
    if (!ir::in_set(info.types, type)) continue;
    const bool pointwise = info.cls == OpClass::elementwise || info.cls == OpClass::function;
    std::vector<ValueId> operands = {x, y, z};
    operands.resize(info.min_operands);
    if (pointwise && (info.rule == ir::Rule::unary || info.rule == ir::Rule::test || info.rule == ir::Rule::nary))
      add(info.code, operands);
    else if (info.cls == OpClass::reduce && info.rule == ir::Rule::reduce) add(info.code, {x});
  }
  add(OpCode::op_select, {c, x, y});
  for (const DType to : {DType::i16, DType::f16, DType::f64, DType::boolean})
    add(OpCode::op_cast, {x}, {{"to", Attr::of_dtype(to)}});
  add(OpCode::op_broadcast, {x}, {ints("shape", {2, 3})});
  add(OpCode::op_reshape, {x}, {ints("shape", {1, 1})});
  add(OpCode::op_transpose, {x}, {ints("perm", {})});
  add(OpCode::op_stack, {x, y}, {axis(0)});
  add(OpCode::op_tile, {x}, {ints("repeats", {})});
  return net.done();
}

// Of each way in which a kernel walks its elements one op.
std::shared_ptr<const ir::Graph> of_everything(DType type) {
  Net net;
  const DimId m = net.sym("M"), n = net.sym("N");
  const ValueId x = net.in("x", type, {m, n}), row = net.in("row", type, {n});
  const auto add = [&](OpCode code, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    net.out(net.op(code, std::move(operands), std::move(attrs)));
  };
  const bool real = ir::is_float(type);
  add(OpCode::op_add, {net.op(OpCode::op_mul, {x, row}), x});
  add(OpCode::op_cast, {x}, {{"to", Attr::of_dtype(DType::i16)}});
  add(OpCode::op_select, {net.op(OpCode::op_lt, {x, row}), row, x});
  add(OpCode::op_transpose, {x}, {ints("perm", {1, 0})});
  const ValueId back = net.op(OpCode::op_reverse, {x}, {ints("axes", {1})});
  add(OpCode::op_concat, {x, back}, {axis(1)});
  add(OpCode::op_roll, {x}, {ints("shifts", {5, -7}), ints("axes", {0, 1})});
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {0, 1}}) {
    add(OpCode::op_reduce_sum, {net.op(OpCode::op_sub, {x, row})}, {ints("axes", axes)});
    add(OpCode::op_reduce_max, {x}, {ints("axes", axes)});
  }
  for (const int64_t along : {0, 1}) {
    add(OpCode::op_argmin, {x}, {axis(along)});
    add(OpCode::op_cumsum, {x}, {axis(along), {"reverse", Attr::of_bool(along == 0)}});
    add(OpCode::op_cummax, {x}, {axis(along)});
  }
  // Every 7th column, and every row backwards.
  const auto whole = [&](double v) { return net.g->scalar(DType::i64, v); };
  const ValueId count = net.op(OpCode::op_iota, {}, {{"shape", Attr::of_dims({n})}});
  const ValueId extent = net.op(OpCode::op_dim, {}, {{"size", {.kind = ir::AttrKind::dim, .i = n}}});
  const ValueId places = net.op(OpCode::op_mod, {net.op(OpCode::op_mul, {count, whole(7)}), extent});
  add(OpCode::op_gather, {x, places}, {axis(1)});
  const ValueId rows = net.op(OpCode::op_iota, {}, {{"shape", Attr::of_dims({m})}});
  add(OpCode::op_gather, {x, net.op(OpCode::op_sub, {whole(-1), rows})}, {axis(0)});
  add(OpCode::op_scatter_add, {row, places, row});
  if (real) {
    add(OpCode::op_exp, {x});
    add(OpCode::op_softmax, {x});
    add(OpCode::op_layer_norm, {x, row});
    add(OpCode::op_reduce_mean, {x}, {ints("axes", {0})});
    add(OpCode::op_random_normal, {extent}, {{"shape", Attr::of_dims({m, n})}, {"dtype", Attr::of_dtype(type)}});
  }
  return net.done();
}

// How the outputs of `way` in this layout differ from what is wanted.
std::string differs(engine::Executable& e, std::span<const Array> inputs, std::span<const Array> want, Layout layout,
                    bool threads) {
  const std::vector<Array> got = run(e, inputs, layout, layout, threads);
  for (size_t i = 0; i < got.size(); ++i)
    if (const std::string text = difference(want[i], got[i]); !text.empty())
      return cat(ir::op_info(e.graph().op(e.graph().value(e.graph().outputs()[i].value).source).code)->name, ": ",
                 text);
  return {};
}

}  // namespace

TEST_CASE("ops of scalars give the oracle's bits") {
  for (const DType type : {DType::boolean, DType::i8, DType::u64, DType::f16, DType::f32}) {
    const auto g = of_scalars(type);
    for (const Way& way : all_ways()) {
      const auto e = compile(g, way);
      for (uint64_t seed = 1; seed < 20; seed += 4) {
        const std::vector<Array> inputs = {random_array(seed, type, {}), random_array(seed + 1, type, {}),
                                           random_array(seed + 2, type, {}),
                                           random_array(seed + 3, DType::boolean, {})};
        const std::string text = differs(*e, inputs, evaluate(*g, inputs), Layout::unaligned, way.threads);
        INFO(ir::name(type), ", ", std::string(way.name), ": ", text);
        CHECK(text.empty());
      }
    }
  }
}

TEST_CASE("large tensors take several chunks on several threads and give the oracle's bits in every layout") {
  constexpr Layout layouts[] = {Layout::compact, Layout::negative, Layout::unaligned, Layout::transposed,
                                Layout::strided};
  for (const DType type : {DType::f32, DType::u8, DType::f16}) {
    const auto g = of_everything(type);
    size_t turn = 0;
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 70001}, {260, 513}, {70001, 2}}) {
      const std::vector<Array> inputs = {random_array(1, type, {m, n}), random_array(2, type, {n})};
      const std::vector<Array> want = evaluate(*g, inputs);
      for (const Way& way : all_ways()) {
        const Layout layout = layouts[turn++ % 5];
        const std::string text = differs(*compile(g, way), inputs, want, layout, way.threads);
        INFO(ir::name(type), " ", m, "x", n, ", ", std::string(way.name), ", ", std::string(name(layout)), ": ", text);
        CHECK(text.empty());
      }
      ++turn;
    }
  }
}

TEST_CASE("one value a row beside rows of any length gives the oracle's bits, its ends too") {
  for (const DType type : {DType::f32, DType::i8, DType::f64}) {
    Net net;
    const DimId m = net.sym("M"), n = net.sym("N");
    const ValueId x = net.in("x", type, {m, n}), scale = net.in("s", type, {m});
    const ValueId each = net.op(OpCode::op_expand_dims, {scale}, {ints("axes", {1})});
    net.out(net.op(OpCode::op_add, {net.op(OpCode::op_mul, {x, each}), each}));
    net.out(net.op(OpCode::op_cast, {net.op(OpCode::op_max, {x, each})}, {{"to", Attr::of_dtype(DType::i16)}}));
    const auto g = net.done();
    for (const auto& [rows, cols] :
         {std::pair<int64_t, int64_t>{3, 15}, {3, 1024}, {70, 1040}, {5, 3075}, {40, 1027}, {2, 70001}, {300, 129}}) {
      const std::vector<Array> inputs = {random_array(1, type, {rows, cols}), random_array(2, type, {rows})};
      const std::vector<Array> want = evaluate(*g, inputs);
      for (const Way& way : all_ways())
        for (const Layout layout : {Layout::compact, Layout::unaligned}) {
          const std::string text = differs(*compile(g, way), inputs, want, layout, way.threads);
          INFO(ir::name(type), " ", rows, "x", cols, ", ", std::string(way.name), ": ", text);
          CHECK(text.empty());
        }
    }
  }
}
