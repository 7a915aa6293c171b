#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/error.h"
#include "loop/eval.h"
#include "random_kernel.h"

using namespace ingot;
using namespace ingot::loop;

namespace {

bool is_nan_of(DType t, uint64_t bits) {
  return t == DType::f32   ? std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)))
         : t == DType::f64 ? std::isnan(std::bit_cast<double>(bits))
                           : false;
}

// Runs nodes without folds on one element. Every NaN of arithmetic passes through `nan`, which may give it other bits.
template <class Loads, class Nan>
std::vector<uint64_t> run(const std::vector<Node>& nodes, Loads loads, Nan nan) {
  std::vector<uint64_t> v(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    if (n.op == Prim::literal) {
      v[i] = n.imm;
      continue;
    }
    if (n.op == Prim::load) {
      v[i] = loads(n.imm);
      continue;
    }
    const auto arg = [&](size_t a) { return n.arg[a] == no_node ? 0 : v[n.arg[a]]; };
    v[i] = eval(n.op, n.type, nodes[n.arg[0]].type, arg(0), arg(1), arg(2));
    const bool moves = n.op == Prim::select || n.op == Prim::rare || n.op == Prim::neg || n.op == Prim::abs ||
                       n.op == Prim::copysign || n.op == Prim::bitcast || n.op == Prim::canon;
    if (!moves && is_nan_of(n.type, v[i])) v[i] = nan(n.type);
  }
  return v;
}

uint64_t canonical(DType t) { return t == DType::f32 ? 0x7FC00000 : 0x7FF8000000000000; }

}  // namespace

TEST_CASE("a kernel's stored bits do not depend on which NaN the hardware makes") {
  // The outside truth is NUMERICS.md read plainly: every arithmetic NaN is the canonical one, moves keep what they get.
  // The kernel has canons only where they are needed and must store the same bits whatever the other NaNs are.
  std::mt19937_64 random(7);
  size_t nans = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    auto [b, values] = samples::random_kernel(seed, {.rows = 1, .cols = 0, .dead_nodes = seed % 2 == 1});
    std::vector<Node> plain;
    for (NodeId i = 0; i < b.node_count(); ++i) plain.push_back(b.node(i));
    std::vector<uint64_t> inputs(max_views);
    for (uint64_t& x : inputs) {
      const uint32_t special[] = {0x7FC00000, 0xFFC00001, 0x7F800000, 0xFF800000,
                                  0x80000000, 0,          0x3F800000, 0x7FA00000};
      x = random() % 3 ? special[random() % 8] : static_cast<uint32_t>(random());
    }
    const auto loads = [&](uint64_t view) { return inputs[view]; };
    const std::vector<uint64_t> want = run(plain, loads, canonical);
    const Kernel k = b.finish();
    const std::vector<uint64_t> got = run(k.nodes, loads, [&](DType t) {
      const uint64_t any = random();
      return t == DType::f32 ? 0x7F800000 | (any & 0x80000000) | 0x400000 | (any & 0x3FFFFF)
                             : 0x7FF8000000000000 | (any & 0x8007FFFFFFFFFFFF);
    });
    for (size_t i = 0; i < values.size(); ++i) {
      CHECK(got[k.stores[i].value] == want[values[i]]);
      nans += is_nan_of(k.nodes[k.stores[i].value].type, want[values[i]]);
    }
  }
  CHECK(nans > 100);
}

TEST_CASE("canon stands directly behind arithmetic whose bits are seen and nowhere else") {
  const auto text = [](auto body) {
    Builder b(1, 0);
    body(b, samples::load(b, DType::f32, 1), samples::load(b, DType::f32, 1));
    const std::string all = to_text(b.finish());
    return all.substr(all.find("store"));
  };
  const auto put = [](Builder& b, Val v) { samples::store(b, v.type(), 1, v); };
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, x + y); }) == "store v2 @2 f32(r0) canon(add(%0, %1))\n");
  CHECK(text([&](Builder& b, Val x, Val) { put(b, -x); }) == "store v2 @2 f32(r0) neg(%0)\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, abs(-(x + y))); }) ==
        "store v2 @2 f32(r0) abs(neg(canon(add(%0, %1))))\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, lt(x + y, y)); }) == "store v2 @2 bool(r0) lt(add(%0, %1), %1)\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, copysign(x, y + 1.0)); }) ==
        "store v2 @2 f32(r0) copysign(%0, canon(add(%1, 1:f32)))\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, lt(copysign(x + 2.0, y + 1.0), 0.0)); }) ==
        "store v2 @2 bool(r0) lt(copysign(add(%0, 2:f32), canon(add(%3, 1:f32))), 0:f32)\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, (x * y).cast_bits(DType::i32) + 1); }) ==
        "store v2 @2 i32(r0) add(bitcast.i32(canon(mul(%0, %1))), 1:i32)\n");
  CHECK(text([&](Builder& b, Val x, Val) { put(b, x.to(DType::f64)); }) ==
        "store v2 @2 f64(r0) canon(convert.f64(%0))\n");
  CHECK(text([&](Builder& b, Val x, Val) { put(b, x.to(DType::i32).to(DType::f32)); }) ==
        "store v2 @2 f32(r0) convert.f32(convert.i32(%0))\n");
  // Through a `rare` as through a select; not behind a number, nor before bits that may be those of any NaN.
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, rare(lt(x, y), x + y, number(x * y))); }) ==
        "store v2 @2 f32(r0) rare(lt(%0, %1), canon(add(%0, %1)), number(mul(%0, %1)))\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, (x * y).number_bits() + 1); }) ==
        "store v2 @2 i32(r0) add(number.bits.i32(mul(%0, %1)), 1:i32)\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, number(x + y).un(Prim::canon)); }) ==
        "store v2 @2 f32(r0) number(add(%0, %1))\n");
  // The caller's own: kept on what only moved, dropped where it is double or unseen.
  CHECK(text([&](Builder& b, Val x, Val) { put(b, x.un(Prim::canon)); }) == "store v2 @2 f32(r0) canon(%0)\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, (x + y).un(Prim::canon).un(Prim::canon)); }) ==
        "store v2 @2 f32(r0) canon(add(%0, %1))\n");
  CHECK(text([&](Builder& b, Val x, Val y) { put(b, x.un(Prim::canon) + y); }) ==
        "store v2 @2 f32(r0) canon(add(%0, %1))\n");
}

TEST_CASE("nodes that no store needs leave no trace") {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Kernel plain = samples::random_kernel(seed).builder.finish();
    const Kernel among_dead = samples::random_kernel(seed, {.dead_nodes = true}).builder.finish();
    CHECK(encode(plain) == encode(among_dead));
  }
}

TEST_CASE("kernels built in another order have equal bytes") {
  const auto build = [](bool forward) {
    Builder b(1, 1);
    const Val x = samples::load(b, DType::f32, 3), y = samples::load(b, DType::f32, 2);
    const auto left = [&] { return x * y + 1.0; };
    const auto right = [&] { return samples::fake_exp(x - x.un(Prim::fold_max)); };
    const Val first = forward ? left() : right(), second = forward ? right() : left();
    const Val l = forward ? first : second, r = forward ? second : first;
    samples::store(b, DType::f32, 3, l / r);
    samples::store(b, DType::f32, 1, r.un(Prim::fold_sum));
    return b.finish();
  };
  CHECK(encode(build(true)) == encode(build(false)));
}

TEST_CASE("equal nodes are made once") {
  Builder b(1, 0);
  const Val x = samples::load(b, DType::f32, 1);
  CHECK((x + 1.0).id() == (x + 1.0).id());
  CHECK((x + 1.0).id() != (x - 1.0).id());
  CHECK((x + 0.0).id() != (x + -0.0).id());
}

TEST_CASE("the boxes of a view come in one order, each once") {
  Builder b(2, 0);
  const uint16_t s = b.add_size_slot();
  const uint16_t view = b.add_view({.kind = ViewKind::load,
                                    .storage = DType::f32,
                                    .tensor = b.add_tensor(),
                                    .axes = 3,
                                    .boxes = {{1, s, 1}, {0, s, 0}, {0, 0, s}, {1, s, 1}}});
  CHECK(b.view(view).boxes == std::vector<Box>{{0, 0, s}, {0, s, 0}, {1, s, 1}});
}

TEST_CASE("a kernel as deep as the limit is finished without recursion") {
  Builder b(1, 0);
  Val x = samples::load(b, DType::f32, 1);
  const Val step = literal(b, DType::f32, 1.5);
  while (b.node_count() < max_nodes - 1) x = x + step;
  samples::store(b, DType::f32, 1, x);
  const Kernel k = b.finish();
  CHECK(k.nodes.size() == max_nodes);
  CHECK(decode(encode(k).data(), encode(k).size()) == k);
}

TEST_CASE("the builder refuses what its caller got wrong") {
  Builder b(1, 0);
  const Val x = samples::load(b, DType::f32, 1), n = samples::load(b, DType::i32, 1);
  CHECK_THROWS_WITH(x + n, doctest::Contains("add: the arguments differ in type"));
  CHECK_THROWS_WITH(sqrt(n), doctest::Contains("sqrt: the primitive does not exist for the type"));
  CHECK_THROWS_WITH(scale2(x, x), doctest::Contains("exponent is not i32"));
  CHECK_THROWS_WITH(select(x, x, x), doctest::Contains("condition is not boolean"));
  CHECK_THROWS_WITH(x.cast_bits(DType::i64), doctest::Contains("differ in size"));
  CHECK_THROWS_WITH(x.to(DType::c64), doctest::Contains("not one of values"));
  CHECK_THROWS_WITH(n.to(DType::f16), doctest::Contains("from and to f32 only"));
  CHECK_THROWS_WITH(x.to(DType::f16).to(DType::f8e4m3), doctest::Contains("from and to f32 only"));
  CHECK_THROWS_WITH(x.to(DType::f16) + x.to(DType::f16), doctest::Contains("does not exist for the type"));
  CHECK_THROWS_WITH(eq(x.to(DType::bf16), x.to(DType::bf16)), doctest::Contains("does not exist for the type"));
  CHECK_THROWS_WITH(b.op(Prim::add, x.id()), doctest::Contains("takes 2 arguments"));
  CHECK_THROWS_WITH(b.op(Prim::add, x.id(), 99), doctest::Contains("no such argument"));
  CHECK_THROWS_WITH(Builder(16, 1), doctest::Contains("more than 16 axes"));
}
