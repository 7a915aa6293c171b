// What becomes one kernel, and what equal graphs share.
#include <doctest/doctest.h>

#include <algorithm>

#include "check.h"
#include "random_graph.h"

using namespace ingot;
using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

namespace {

NamedAttr axes(std::vector<int64_t> v) { return {"axes", Attr::of_ints(std::move(v))}; }
const NamedAttr keep{"keepdims", Attr::of_bool(true)};
NamedAttr perm(std::vector<int64_t> v) { return {"perm", Attr::of_ints(std::move(v))}; }

std::shared_ptr<engine::Executable> planned(Net& net) {
  return compile(net.done(), {"", engine::Backend::interpreter, true, ""});
}
size_t kernels(Net& net) { return planned(net)->plan().steps.size(); }

std::vector<uint8_t> bytes(const engine::Executable& e, size_t step = 0) {
  return {e.kernel_bytes(step).begin(), e.kernel_bytes(step).end()};
}

// x[B, C]
struct Rows : Net {
  DimId b = sym("B"), c = sym("C");
  ValueId x = in("x", DType::f32, {b, c});
  ValueId number(double v) { return g->scalar(DType::f32, v); }
  ValueId fold(OpCode code, ValueId v) { return op(code, {v}, {axes({1}), keep}); }
};

}  // namespace

TEST_CASE("softmax is one kernel, the same spelled out and as a composite") {
  Rows composite, spelled;
  composite.out(composite.op(OpCode::op_softmax, {composite.x}));
  const ValueId e = spelled.op(
      OpCode::op_exp, {spelled.op(OpCode::op_sub, {spelled.x, spelled.fold(OpCode::op_reduce_max, spelled.x)})});
  spelled.out(spelled.op(OpCode::op_div, {e, spelled.fold(OpCode::op_reduce_sum, e)}));
  const auto a = planned(composite), b = planned(spelled);
  CHECK(a->plan().steps.size() == 1);
  CHECK(b->plan().steps.size() == 1);
  CHECK(bytes(*a) == bytes(*b));
}

TEST_CASE("softmax of f16 is that of f32 between two casts, in one kernel") {
  Net composite, spelled;
  const auto input = [](Net& n) { return n.in("x", DType::f16, {n.sym("B"), n.sym("C")}); };
  const auto cast = [](Net& n, ValueId v, DType to) {
    return n.op(OpCode::op_cast, {v}, {{"to", Attr::of_dtype(to)}});
  };
  composite.out(composite.op(OpCode::op_softmax, {input(composite)}));
  const ValueId wide = cast(spelled, input(spelled), DType::f32);
  spelled.out(cast(spelled, spelled.op(OpCode::op_softmax, {wide}), DType::f16));
  const auto a = planned(composite), b = planned(spelled);
  CHECK(a->plan().steps.size() == 1);
  CHECK(bytes(*a) == bytes(*b));
}

TEST_CASE("layer_norm is one kernel, the same spelled out and as a composite") {
  Rows composite, spelled;
  const auto parameters = [](Rows& r) {
    return std::pair{r.in("scale", DType::f32, {r.c}), r.in("bias", DType::f32, {r.c})};
  };
  const auto [s1, b1] = parameters(composite);
  composite.out(composite.op(OpCode::op_layer_norm, {composite.x, s1, b1}, {{"epsilon", Attr::of_float(1e-5)}}));
  const auto [s2, b2] = parameters(spelled);
  const ValueId c = spelled.op(OpCode::op_sub, {spelled.x, spelled.fold(OpCode::op_reduce_mean, spelled.x)});
  const ValueId var = spelled.fold(OpCode::op_reduce_mean, spelled.op(OpCode::op_mul, {c, c}));
  const ValueId inverse = spelled.op(OpCode::op_rsqrt, {spelled.op(OpCode::op_add, {var, spelled.number(1e-5)})});
  const ValueId scaled = spelled.op(OpCode::op_mul, {spelled.op(OpCode::op_mul, {c, inverse}), s2});
  spelled.out(spelled.op(OpCode::op_add, {scaled, b2}));
  const auto a = planned(composite), b = planned(spelled);
  CHECK(a->plan().steps.size() == 1);
  CHECK(b->plan().steps.size() == 1);
  CHECK(bytes(*a) == bytes(*b));
}

TEST_CASE("rms_norm is one kernel, the same spelled out and as a composite") {
  Rows composite, spelled;
  composite.out(composite.op(OpCode::op_rms_norm, {composite.x, composite.in("scale", DType::f32, {composite.c})}));
  const ValueId scale = spelled.in("scale", DType::f32, {spelled.c});
  const ValueId square = spelled.fold(OpCode::op_reduce_mean, spelled.op(OpCode::op_mul, {spelled.x, spelled.x}));
  const ValueId inverse = spelled.op(OpCode::op_rsqrt, {spelled.op(OpCode::op_add, {square, spelled.number(1e-5)})});
  spelled.out(spelled.op(OpCode::op_mul, {spelled.op(OpCode::op_mul, {spelled.x, inverse}), scale}));
  const auto a = planned(composite), b = planned(spelled);
  CHECK(a->plan().steps.size() == 1);
  CHECK(b->plan().steps.size() == 1);
  CHECK(bytes(*a) == bytes(*b));
}

TEST_CASE("bias and gelu, log-sum-exp: one kernel each") {
  Rows bias;
  bias.out(bias.op(OpCode::op_gelu, {bias.op(OpCode::op_add, {bias.x, bias.in("bias", DType::f32, {bias.c})})}));
  CHECK(kernels(bias) == 1);

  Rows lse;
  const ValueId most = lse.fold(OpCode::op_reduce_max, lse.x);
  const ValueId e = lse.op(OpCode::op_exp, {lse.op(OpCode::op_sub, {lse.x, most})});
  lse.out(lse.op(OpCode::op_add, {most, lse.op(OpCode::op_log, {lse.fold(OpCode::op_reduce_sum, e)})}));
  CHECK(kernels(lse) == 1);
}

TEST_CASE("Black-Scholes with two outputs is one kernel") {
  Net n;
  const DimId d = n.sym("N");
  const ValueId s = n.in("s", DType::f32, {d}), k = n.in("k", DType::f32, {d}), t = n.in("t", DType::f32, {d});
  const ValueId r = n.in("r", DType::f32, {}), v = n.in("v", DType::f32, {});
  const auto two = [&](OpCode c, ValueId a, ValueId b) { return n.op(c, {a, b}); };
  const auto number = [&](double x) { return n.g->scalar(DType::f32, x); };
  const auto cdf = [&](ValueId x) {
    const ValueId e = n.op(OpCode::op_erf, {two(OpCode::op_mul, x, number(0.70710678))});
    return two(OpCode::op_mul, number(0.5), two(OpCode::op_add, number(1), e));
  };
  const ValueId root = two(OpCode::op_mul, v, n.op(OpCode::op_sqrt, {t}));
  const ValueId drift = two(OpCode::op_add, r, two(OpCode::op_mul, number(0.5), two(OpCode::op_mul, v, v)));
  const ValueId d1 =
      two(OpCode::op_div,
          two(OpCode::op_add, n.op(OpCode::op_log, {two(OpCode::op_div, s, k)}), two(OpCode::op_mul, drift, t)), root);
  const ValueId d2 = two(OpCode::op_sub, d1, root);
  const ValueId discounted =
      two(OpCode::op_mul, k, n.op(OpCode::op_exp, {n.op(OpCode::op_neg, {two(OpCode::op_mul, r, t)})}));
  const ValueId call = two(OpCode::op_sub, two(OpCode::op_mul, s, cdf(d1)), two(OpCode::op_mul, discounted, cdf(d2)));
  n.out(call);
  n.out(two(OpCode::op_add, two(OpCode::op_sub, call, s), discounted));
  CHECK(kernels(n) == 1);
}

TEST_CASE("AdamW with three outputs is one kernel") {
  Net n;
  const DimId d = n.sym("N");
  const ValueId p = n.in("p", DType::f32, {d}), grad = n.in("g", DType::f32, {d}), m = n.in("m", DType::f32, {d}),
                v = n.in("v", DType::f32, {d});
  const ValueId rate = n.in("rate", DType::f32, {}), c1 = n.in("c1", DType::f32, {}), c2 = n.in("c2", DType::f32, {});
  const auto two = [&](OpCode c, ValueId a, ValueId b) { return n.op(c, {a, b}); };
  const auto number = [&](double x) { return n.g->scalar(DType::f32, x); };
  const ValueId m1 = two(OpCode::op_add, two(OpCode::op_mul, number(0.9), m), two(OpCode::op_mul, number(0.1), grad));
  const ValueId v1 = two(OpCode::op_add, two(OpCode::op_mul, number(0.999), v),
                         two(OpCode::op_mul, number(0.001), two(OpCode::op_mul, grad, grad)));
  const ValueId step = two(OpCode::op_div, two(OpCode::op_div, m1, c1),
                           two(OpCode::op_add, n.op(OpCode::op_sqrt, {two(OpCode::op_div, v1, c2)}), number(1e-8)));
  n.out(two(OpCode::op_sub, p,
            two(OpCode::op_mul, rate, two(OpCode::op_add, step, two(OpCode::op_mul, number(0.01), p)))));
  n.out(m1);
  n.out(v1);
  CHECK(kernels(n) == 1);
}

TEST_CASE("movement fuses: transpose, concat, pad, slice, reverse, split by reshape") {
  Net t;
  const DimId n = t.sym("N");
  const ValueId x = t.in("x", DType::f32, {n, n});
  t.out(t.op(OpCode::op_add, {x, t.op(OpCode::op_transpose, {x}, {perm({1, 0})})}));
  CHECK(kernels(t) == 1);

  Rows c;
  const ValueId y = c.in("y", DType::f32, {c.b, c.c});
  const ValueId cut =
      c.op(OpCode::op_slice, {c.x}, {{"starts", Attr::of_ints({0, 1})}, {"limits", Attr::of_ints({1000000, -1})}});
  const ValueId joined =
      c.op(OpCode::op_concat, {cut, c.op(OpCode::op_reverse, {y}, {axes({1})})}, {{"axis", Attr::of_int(1)}});
  const ValueId padded =
      c.op(OpCode::op_pad, {joined, c.number(0)}, {{"low", Attr::of_ints({0, 2})}, {"high", Attr::of_ints({0, 1})}});
  c.out(c.op(OpCode::op_exp, {padded}));
  CHECK(kernels(c) == 1);

  Rows split;
  const ValueId product = split.op(OpCode::op_mul, {split.x, split.x});
  const DimId four = split.num(4);
  const ValueId parts = split.op(OpCode::op_reshape, {product},
                                 {{"shape", Attr::of_dims({split.b, split.g->dims().floor_div(split.c, four), four})}});
  split.out(split.op(OpCode::op_exp, {parts}));
  CHECK(kernels(split) == 1);
}

TEST_CASE("a scan is one kernel with what it reads and what reads it, along any axis") {
  for (const int64_t axis : {0, 1}) {
    Rows n;
    const NamedAttr along{"axis", Attr::of_int(axis)}, back{"reverse", Attr::of_bool(true)};
    const ValueId s = n.op(OpCode::op_cumsum, {n.op(OpCode::op_exp, {n.x})}, {along});
    const ValueId t = n.op(OpCode::op_cummax, {n.op(OpCode::op_sub, {s, n.x})}, {along, back});
    n.out(n.op(OpCode::op_mul, {t, n.op(OpCode::op_softmax, {s}, {along})}));
    CHECK(kernels(n) == 1);
  }
  Rows two;  // along different axes: the second starts when the first is done
  two.out(two.op(OpCode::op_cumsum, {two.op(OpCode::op_cumsum, {two.x}, {{"axis", Attr::of_int(0)}})}));
  CHECK(kernels(two) == 2);
}

TEST_CASE("random numbers are made where they are used, one kernel for all streams") {
  const auto noisy = [](int64_t stream) {
    auto n = std::make_shared<Rows>();
    const ValueId seed = n->in("seed", DType::u64, {});
    n->out(n->op(OpCode::op_dropout, {n->op(OpCode::op_relu, {n->x}), seed}, {{"stream", Attr::of_int(stream)}}));
    return planned(*n);
  };
  const auto a = noisy(0), b = noisy(7);
  CHECK(a->plan().steps.size() == 1);
  CHECK(bytes(*a) == bytes(*b));
}

TEST_CASE("a matrix product takes bias and relu into its kernel") {
  Net n;
  const DimId m = n.sym("M"), k = n.sym("K"), c = n.sym("C");
  const ValueId product = n.op(OpCode::op_matmul, {n.in("a", DType::f32, {m, k}), n.in("b", DType::f32, {k, c})});
  n.out(n.op(OpCode::op_relu, {n.op(OpCode::op_add, {product, n.in("bias", DType::f32, {c})})}));
  CHECK(kernels(n) == 1);
}

TEST_CASE("a gather of rows is a step without a kernel, one of items part of the kernel around it") {
  const auto steps = [](std::vector<int64_t> inner, bool known) {
    Net n;
    std::vector<DimId> shape = {n.sym("V")};
    for (const int64_t d : inner) shape.push_back(n.num(d));
    if (!known) shape.push_back(n.sym("D"));
    const ValueId picked = n.op(OpCode::op_gather, {n.in("x", DType::f32, shape), n.in("i", DType::i64, {n.sym("N")})},
                                {{"axis", Attr::of_int(0)}});
    n.out(n.op(OpCode::op_exp, {picked}));
    size_t routines = 0;
    const auto e = planned(n);
    for (const auto& step : e->plan().steps) routines += step.routine ? 1 : 0;
    return std::pair{e->plan().steps.size(), routines};
  };
  CHECK(steps({}, true) == std::pair<size_t, size_t>{1, 0});
  CHECK(steps({7}, true) == std::pair<size_t, size_t>{1, 0});
  CHECK(steps({2, 4}, true) == std::pair<size_t, size_t>{2, 1});
  CHECK(steps({}, false) == std::pair<size_t, size_t>{2, 1});
}

TEST_CASE("two reductions of one input over the same axes are one kernel, over different axes two") {
  Rows same, other;
  same.out(same.fold(OpCode::op_reduce_sum, same.x));
  same.out(same.fold(OpCode::op_reduce_max, same.x));
  CHECK(kernels(same) == 1);
  other.out(other.fold(OpCode::op_reduce_sum, other.x));
  other.out(other.op(OpCode::op_reduce_sum, {other.x}, {axes({0})}));
  const auto e = planned(other);
  CHECK(e->plan().steps.size() == 2);
  REQUIRE(e->plan().shared.size() == 1);
  CHECK(e->plan().shared[0].value == other.x);
  CHECK(e->plan().shared[0].reason.why == fuse::Why::apart_sweep);
}

TEST_CASE("mean and variance are one kernel over any axes, kept as dims or not") {
  for (const std::vector<int64_t>& over : std::vector<std::vector<int64_t>>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}}) {
    for (const bool kept : {false, true}) {
      Net n;
      const ValueId x = n.in("x", DType::f32, {n.sym("B"), n.sym("C"), n.sym("D")});
      const std::vector<NamedAttr> attrs{axes(over), {"keepdims", Attr::of_bool(kept)}};
      n.out(n.op(OpCode::op_reduce_mean, {x}, attrs));
      n.out(n.op(OpCode::op_reduce_var, {x}, attrs));
      n.out(n.op(OpCode::op_reduce_max, {x}, attrs));
      n.out(n.op(OpCode::op_softmax, {x}, {{"axis", Attr::of_int(over[0])}}));
      const auto e = planned(n);
      CAPTURE(over.size());
      CHECK(e->plan().steps.size() == (over.size() == 1 ? 1 : 2));
      const std::string text = check(n.g, std::vector{random_array(3, DType::f32, {3, 70, 5})}, main_ways());
      INFO(text);
      CHECK(text.empty());
    }
  }
}

TEST_CASE("kernels whose axes are those of another in another order stay apart") {
  // Sums are in the order of the axes.
  for (const bool first : {false, true}) {
    Rows sum;
    const ValueId across = sum.op(OpCode::op_transpose, {sum.x}, {perm({1, 0})});
    if (first) sum.out(sum.op(OpCode::op_exp, {sum.x}));
    sum.out(sum.op(OpCode::op_reduce_sum, {sum.op(OpCode::op_exp, {across})}));
    sum.out(sum.op(OpCode::op_reduce_sum, {sum.x}));
    CHECK(kernels(sum) == 2);
    const std::string text = check(sum.g, std::vector{random_array(3, DType::f32, {70, 130})}, main_ways());
    INFO(text);
    CHECK(text.empty());
  }
  // The second one walks memory across: made one with the first it would store across.
  Rows n;
  n.out(n.op(OpCode::op_exp, {n.x}));
  n.out(n.op(OpCode::op_neg, {n.op(OpCode::op_transpose, {n.x}, {perm({1, 0})})}));
  CHECK(kernels(n) == 2);
}

TEST_CASE("lanes lie along the rows where neighbours in memory do") {
  const auto row_lanes = [](auto build) {
    Rows n;
    build(n);
    const auto e = planned(n);
    REQUIRE(e->plan().steps.size() == 1);
    return e->plan().steps[0].kernel.row_lanes;
  };
  const auto sum = [](Net& n, ValueId v, std::vector<int64_t> over) {
    n.out(n.op(OpCode::op_reduce_sum, {v}, {axes(std::move(over))}));
  };
  CHECK(row_lanes([&](Rows& n) { sum(n, n.x, {0}); }));
  CHECK(!row_lanes([&](Rows& n) { sum(n, n.x, {1}); }));
  CHECK(!row_lanes([&](Rows& n) { sum(n, n.x, {0, 1}); }));
  // What is added along does not count, nor where a view of the dims turned round lies.
  CHECK(row_lanes([&](Rows& n) {
    sum(n,
        n.op(OpCode::op_mul, {n.x, n.op(OpCode::op_reshape,
                                        {
                                            n.in("w", DType::f32, {n.b}),
                                        },
                                        {{"shape", Attr::of_dims({n.b, n.num(1)})}})}),
        {0});
  }));
  CHECK(row_lanes([&](Rows& n) { sum(n, n.op(OpCode::op_transpose, {n.x}, {perm({1, 0})}), {1}); }));
  CHECK(!row_lanes([&](Rows& n) { sum(n, n.op(OpCode::op_transpose, {n.x}, {perm({1, 0})}), {0}); }));
  // Two levels over the same axis.
  CHECK(row_lanes([&](Rows& n) { n.out(n.op(OpCode::op_reduce_var, {n.x}, {axes({0})})); }));
  // Not for fewer columns than lanes, booleans, or values that are stored along the cols.
  CHECK(!row_lanes([&](Rows& n) { sum(n, n.in("y", DType::f32, {n.b, n.num(3)}), {0}); }));
  CHECK(!row_lanes(
      [&](Rows& n) { n.out(n.op(OpCode::op_reduce_any, {n.in("y", DType::boolean, {n.b, n.c})}, {axes({0})})); }));
  CHECK(!row_lanes([&](Rows& n) { n.out(n.op(OpCode::op_softmax, {n.x}, {{"axis", Attr::of_int(0)}})); }));
}

TEST_CASE("an intermediate value that is an output is stored by the kernel that goes on with it") {
  Rows r;
  const ValueId e = r.op(OpCode::op_exp, {r.x});
  r.out(e);
  r.out(r.op(OpCode::op_add, {e, r.number(1)}));
  CHECK(kernels(r) == 1);
}

TEST_CASE("statistics of rows that are outputs stay in the kernel that goes on with them") {
  const auto norm = [](bool stores_mean, bool stores_root) {
    Rows n;
    const ValueId mean = n.fold(OpCode::op_reduce_mean, n.x), c = n.op(OpCode::op_sub, {n.x, mean});
    const ValueId var = n.fold(OpCode::op_reduce_mean, n.op(OpCode::op_mul, {c, c}));
    const ValueId root = n.op(OpCode::op_rsqrt, {n.op(OpCode::op_add, {var, n.number(1e-5)})});
    n.out(n.op(OpCode::op_mul, {c, root}));
    if (stores_mean) n.out(mean);
    if (stores_root) n.out(root);
    return kernels(n);
  };
  CHECK(norm(true, false) == 1);
  CHECK(norm(false, true) == 1);
  CHECK(norm(true, true) == 1);

  Net batch;
  const ValueId x = batch.in("x", DType::f32, {batch.sym("N"), batch.sym("C"), batch.sym("H"), batch.sym("W")});
  const ValueId scale = batch.in("scale", DType::f32, {batch.sym("C")}),
                bias = batch.in("bias", DType::f32, {batch.sym("C")});
  const ValueId y = batch.op(OpCode::op_batch_norm_training, {x, scale, bias});
  for (const ValueId v : batch.g->op(batch.g->value(y).source).results) batch.out(v);
  CHECK(kernels(batch) == 1);
}

TEST_CASE("a stored value of rows whose fold goes over something else leaves its reader a kernel without cols") {
  // exp(sum z[B, M]) is stored and multiplied with x[B, N]: N is not what the fold removes.
  Rows n;
  const ValueId z = n.in("z", DType::f32, {n.b, n.sym("M")});
  const ValueId weight = n.op(OpCode::op_exp, {n.fold(OpCode::op_reduce_sum, z)});
  n.out(n.op(OpCode::op_mul, {n.x, weight}));
  n.out(weight);
  CHECK(kernels(n) == 2);
}

TEST_CASE("without fusion every op is a kernel, and every edge between kernels says so") {
  Rows r;
  r.out(r.op(OpCode::op_exp, {r.op(OpCode::op_sub, {r.x, r.fold(OpCode::op_reduce_max, r.x)})}));
  const auto e = compile(r.done(), {"", engine::Backend::interpreter, false, ""});
  CHECK(e->plan().steps.size() == 3);
  CHECK(e->plan().edges.size() == 2);
  for (const fuse::Edge& edge : e->plan().edges) CHECK(edge.reason.why == fuse::Why::unfused);
}

TEST_CASE("kernels are the same for every name, and differ with the body") {
  const auto scaled = [](const char* name, OpCode code, double by) {
    Net n;
    n.out(n.op(code, {n.in(name, DType::f32, {n.sym(name)}), n.g->scalar(DType::f32, by)}));
    return bytes(*planned(n));
  };
  CHECK(scaled("x", OpCode::op_mul, 2) == scaled("another", OpCode::op_mul, 2));
  CHECK(scaled("x", OpCode::op_mul, 2) != scaled("x", OpCode::op_mul, 3));
  CHECK(scaled("x", OpCode::op_mul, 2) != scaled("x", OpCode::op_add, 2));
}
