// Graphs that reach the limits of one kernel: views, stores, levels of folds, boxes, axes. All of them have to compile
// and give the right bits.
#include <doctest/doctest.h>

#include "check.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::OpCode;
using ir::ValueId;

namespace {

void right(Net& net, const std::vector<Array>& inputs) {
  const auto g = net.done();
  const std::string text = check(g, inputs, main_ways());
  INFO(text);
  CHECK(text.empty());
}

Array random(std::vector<int64_t> shape, uint64_t seed = 5) { return random_array(seed, DType::f32, std::move(shape)); }

}  // namespace

TEST_CASE("100 tensors and 100 scalars in one expression") {
  for (const bool scalars : {false, true}) {
    Net n;
    const DimId d = n.sym("N");
    std::vector<Array> inputs = {random({7})};
    ValueId sum = n.in("", DType::f32, {d});
    for (uint64_t i = 0; i < 100; ++i) {
      sum = n.op(OpCode::op_add, {sum, n.in("", DType::f32, scalars ? std::vector<DimId>{} : std::vector{d})});
      inputs.push_back(random(scalars ? std::vector<int64_t>{} : std::vector<int64_t>{7}, i));
    }
    n.out(sum);
    right(n, inputs);
  }
}

TEST_CASE("every value of a long chain is an output") {
  Net n;
  ValueId y = n.in("", DType::f32, {n.sym("N")});
  for (int i = 0; i < 150; ++i) {
    y = n.op(OpCode::op_add, {y, n.g->scalar(DType::f32, i + 0.5)});
    n.out(y);
  }
  right(n, {random({5})});
}

TEST_CASE("one value is 100 outputs; so is an input, and a reshaped value") {
  for (const int kind : {0, 1, 2, 3}) {
    Net n;
    const DimId d = n.sym("N");
    const ValueId x = n.in("", DType::f32, {d, n.num(2)});
    ValueId y = x;
    if (kind == 1) y = n.op(OpCode::op_exp, {x});
    if (kind == 2) y = n.op(OpCode::op_reshape, {n.op(OpCode::op_exp, {x})}, {{"shape", Attr::of_dims({n.num(2), d})}});
    if (kind == 3) y = n.op(OpCode::op_reduce_sum, {x});
    for (int i = 0; i < 100; ++i) n.out(y);
    n.out(n.op(OpCode::op_neg, {y}));
    right(n, {random({5, 2})});
  }
}

TEST_CASE("wide concats, and sums of concats and pads") {
  for (const int pieces : {16, 17, 300}) {
    Net n;
    const DimId d = n.sym("N");
    std::vector<ValueId> values;
    std::vector<Array> inputs;
    for (int i = 0; i < pieces; ++i) {
      values.push_back(n.in("", DType::f32, {d, n.num(1 + i % 3)}));
      inputs.push_back(random({3, 1 + i % 3}, static_cast<uint64_t>(i)));
    }
    n.out(n.op(OpCode::op_concat, values, {{"axis", Attr::of_int(1)}}));
    right(n, inputs);
  }
  Net n;
  std::vector<Array> inputs;
  ValueId sum = ir::no_value;
  for (uint64_t i = 0; i < 40; ++i) {
    const ValueId x = n.in("", DType::f32, {n.num(4)});
    inputs.push_back(random({4}, i));
    const ValueId padded = n.op(
        OpCode::op_pad, {x, n.g->scalar(DType::f32, 1.0)},
        {{"low", Attr::of_ints({static_cast<int64_t>(i)})}, {"high", Attr::of_ints({40 - static_cast<int64_t>(i)})}});
    sum = sum == ir::no_value ? padded : n.op(OpCode::op_add, {sum, padded});
  }
  n.out(sum);
  right(n, inputs);
}

TEST_CASE("a hundred pads of pads") {
  Net n;
  ValueId y = n.in("", DType::f32, {n.sym("N")});
  for (int i = 0; i < 100; ++i)
    y = n.op(OpCode::op_pad, {y, n.g->scalar(DType::f32, i * 1.0)},
             {{"low", Attr::of_ints({1})}, {"high", Attr::of_ints({i % 2})}});
  n.out(y);
  right(n, {random({6})});
}

TEST_CASE("a hundred levels of folds over the same rows") {
  Net n;
  ValueId y = n.in("", DType::f32, {n.sym("B"), n.sym("C")});
  for (int i = 0; i < 100; ++i) {
    const ValueId most =
        n.op(OpCode::op_reduce_max, {y}, {{"axes", Attr::of_ints({1})}, {"keepdims", Attr::of_bool(true)}});
    y = n.op(OpCode::op_sub, {y, n.op(OpCode::op_mul, {most, n.g->scalar(DType::f32, 0.5)})});
  }
  n.out(y);
  right(n, {random({4, 9})});
}

TEST_CASE("rank 16: elementwise, pads of every dim, reductions, products") {
  Net n;
  std::vector<DimId> dims;
  std::vector<int64_t> shape;
  for (int d = 0; d < 16; ++d) {
    dims.push_back(n.sym(cat("D", d)));
    shape.push_back(1 + (d % 5 == 0));
  }
  const ValueId x = n.in("", DType::f32, dims);
  n.out(n.op(OpCode::op_exp, {x}));
  const std::vector<int64_t> ones(16, 1), none(16, 0);
  n.out(n.op(OpCode::op_pad, {n.op(OpCode::op_neg, {x}), n.g->scalar(DType::f32, 2.0)},
             {{"low", Attr::of_ints(ones)}, {"high", Attr::of_ints(none)}}));
  n.out(n.op(OpCode::op_reduce_sum, {x}, {{"axes", Attr::of_ints({0, 3, 5, 15})}}));
  n.out(n.op(OpCode::op_softmax, {x}));
  right(n, {random(shape)});
}

TEST_CASE("rank 16 matrix products") {
  Net n;
  std::vector<DimId> dims(16, n.num(1));
  std::vector<int64_t> shape(16, 1);
  dims[0] = n.sym("B");
  dims[15] = dims[14] = n.sym("N");
  shape[0] = 3;
  shape[14] = shape[15] = 2;
  const ValueId x = n.in("", DType::f32, dims);
  n.out(n.op(OpCode::op_matmul, {x, x}));
  right(n, {random(shape)});
}

TEST_CASE("a product that is over more axes than a kernel has is refused by the name it was written with") {
  for (const OpCode code : {OpCode::op_matmul, OpCode::op_attention}) {
    Net n;
    const ValueId x = n.in("", DType::f32, std::vector<DimId>(16, n.num(2)));
    n.out(n.op(code, std::vector<ValueId>(code == OpCode::op_matmul ? 2 : 3, x)));
    const auto g = n.done();
    std::string message;
    try {
      compile(g, main_ways().front());
    } catch (const Error& e) {
      CHECK(e.code() == Code::unimplemented);
      message = e.message();
    }
    CHECK(message == cat(ir::op_info(code)->name,
                         ": the result's dims and those summed over are 17, without any known "
                         "to be 1, over the limit of 16"));
  }
}

TEST_CASE("extents as values: dim inputs reshaped, broadcast and as outputs") {
  Net n;
  const DimId d = n.sym("N");
  const ValueId x = n.in("", DType::i64, {d});
  const ValueId extent = n.g->dim_input("n", d);
  n.out(n.op(OpCode::op_add, {x, extent}));
  n.out(extent);
  n.out(n.op(OpCode::op_reshape, {extent}, {{"shape", Attr::of_ints({1, 1})}}));
  n.out(n.op(OpCode::op_broadcast, {extent}, {{"shape", Attr::of_dims({d, d})}}));
  right(n, {random_array(1, DType::i64, {3}), {DType::i64, {}, {3}}});
}
