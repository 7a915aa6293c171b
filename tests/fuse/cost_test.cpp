// What is stored once and what is computed again. The numbers of operations and bytes are those of
// docs/architecture.md, "Stored or computed again".
#include <doctest/doctest.h>

#include "check.h"
#include "ir/text.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

struct Plans : Net {
  DimId n = sym("N");
  DimId b() { return sym("B"); }
  ValueId one(OpCode code, ValueId v) { return op(code, {v}); }
  ValueId add(ValueId x, ValueId y) { return op(OpCode::op_add, {x, y}); }
  // `count` additions to v, none of which is another's.
  ValueId adds(ValueId v, int count) {
    for (int i = 0; i < count; ++i) v = add(v, g->scalar(DType::f32, i + 0.5));
    return v;
  }
  ValueId turned(ValueId v) { return op(OpCode::op_transpose, {v}, {{"perm", Attr::of_ints({1, 0})}}); }
  ValueId sum(ValueId v, int64_t axis) { return op(OpCode::op_reduce_sum, {v}, {{"axes", Attr::of_ints({axis})}}); }
  ValueId row() { return in("v", DType::f32, {n}); }
  ValueId matrix() { return in("x", DType::f32, {b(), n}); }
  ValueId square() { return in("s", DType::f32, {n, n}); }
};

struct Planned {
  size_t kernels;
  uint64_t operations = 0, bytes = 0;
  size_t buffers = 0;
};

// Plans the graph, and runs it for the given sizes.
Planned planned(Plans& n, int64_t rows, int64_t cols) {
  const auto e = compile(n.done(), {"", engine::Backend::interpreter, true, ""});
  Planned out{e->plan().steps.size()};
  for (const fuse::Edge& edge : e->plan().edges)
    if (edge.reason.operations) out = {out.kernels, edge.reason.operations, edge.reason.bytes};
  out.buffers = e->plan().buffers.size();
  std::vector<Array> inputs;
  for (const ValueId v : n.g->inputs()) {
    std::vector<int64_t> shape;
    for (const DimId d : n.g->value(v).shape) {
      const auto known = n.g->dims().as_constant(d);
      shape.push_back(known ? *known : n.g->dims().to_string(d) == "B" ? rows : cols);
    }
    inputs.push_back(random_array(v, n.g->value(v).dtype, shape));
  }
  const std::string text = check(n.g, inputs, main_ways());
  INFO(text);
  CHECK(text.empty());
  return out;
}

}  // namespace

TEST_CASE("what is broadcast is stored if it takes more than 6 operations, else computed where it is needed") {
  const auto chain = [](int count) {
    Plans p;
    const ValueId v = p.adds(p.row(), count);
    p.out(p.add(p.matrix(), v));
    return planned(p, 3, 70);
  };
  CHECK(chain(6).kernels == 1);
  const Planned seven = chain(7);
  CHECK(seven.kernels == 2);
  CHECK(seven.operations == 7);
  CHECK(seven.bytes == 4);
}

TEST_CASE("what is broadcast to few is computed again, be the number known or bounded") {
  const auto repeated = [](DimId (*extent)(Plans&)) {
    Plans p;
    const DimId rows = extent(p);
    p.out(p.add(p.one(OpCode::op_exp, p.row()), p.in("y", DType::f32, {rows, p.n})));
    return compile(p.done(), {"", engine::Backend::interpreter, true, ""})->plan().steps.size();
  };
  CHECK(repeated([](Plans& p) { return p.num(1); }) == 1);
  CHECK(repeated([](Plans& p) { return p.num(2); }) == 1);
  CHECK(repeated([](Plans& p) { return p.num(5); }) == 2);
  CHECK(repeated([](Plans& p) { return p.g->dims().symbol("K", 1, 2); }) == 1);
  CHECK(repeated([](Plans& p) { return p.g->dims().symbol("K"); }) == 2);
}

TEST_CASE("what belongs to a row of a kernel with folds is computed once a row, and stays") {
  Plans p;
  const ValueId v = p.in("t", DType::f32, {p.b(), p.num(1)});
  const ValueId x = p.op(OpCode::op_mul, {p.matrix(), p.one(OpCode::op_exp, v)});
  p.out(p.op(OpCode::op_softmax, {x}));
  const Planned row = planned(p, 5, 70);
  CHECK(row.kernels == 1);
  CHECK(row.buffers == 0);
  Plans cols;  // the same along the cols is computed for each row
  const ValueId y = cols.op(OpCode::op_mul, {cols.matrix(), cols.one(OpCode::op_exp, cols.row())});
  cols.out(cols.op(OpCode::op_softmax, {y}));
  CHECK(planned(cols, 5, 70).kernels == 2);
}

TEST_CASE("under two maps of a kernel: 12 operations are computed again, 13 stored") {
  const auto across = [](int count) {
    Plans p;
    const ValueId v = p.adds(p.square(), count);
    p.out(p.add(v, p.turned(v)));
    return planned(p, 0, 37);
  };
  CHECK(across(12).kernels == 1);
  const Planned more = across(13);
  CHECK(more.kernels == 2);
  CHECK(more.operations == 13);
  CHECK(more.bytes == 8);
}

TEST_CASE("by two kernels: 6 operations on one tensor are computed again, 7 or two tensors stored") {
  const auto twice = [](int count, bool two) {
    Plans p;
    ValueId v = p.matrix();
    if (two) v = p.add(v, p.in("y", DType::f32, {p.b(), p.n}));
    v = p.adds(v, count);
    p.out(p.sum(v, 0));
    p.out(p.sum(v, 1));
    return planned(p, 20, 70);
  };
  CHECK(twice(6, false).operations == 0);
  CHECK(twice(7, false).operations == 7);
  CHECK(twice(7, false).bytes == 4);
  CHECK(twice(1, true).operations == 2);
  CHECK(twice(1, true).bytes == 0);
}

TEST_CASE("divisions and roots weigh four additions, movement nothing") {
  const auto chain = [](OpCode code, int count) {
    Plans p;
    ValueId v = p.row();
    for (int i = 0; i < count; ++i)
      v = code == OpCode::op_div ? p.op(code, {v, p.g->scalar(DType::f32, 3.7)}) : p.one(code, v);
    v = p.op(OpCode::op_reverse, {v}, {{"axes", Attr::of_ints({0})}});
    p.out(p.add(p.matrix(), v));
    return planned(p, 3, 70).kernels;
  };
  CHECK(chain(OpCode::op_div, 1) == 1);
  CHECK(chain(OpCode::op_div, 2) == 2);
  CHECK(chain(OpCode::op_sqrt, 1) == 1);
  CHECK(chain(OpCode::op_sqrt, 2) == 2);
}
