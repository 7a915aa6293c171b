// Every rule of the verifier, each broken alone in a kernel that is right otherwise.
#include <doctest/doctest.h>

#include <functional>

#include "base/error.h"
#include "samples.h"

using namespace ingot;
using namespace ingot::loop;

namespace {

std::string fault(const Kernel& k) {
  try {
    verify(k);
  } catch (const Error& e) {
    CHECK(e.code() == Code::invalid_argument);
    return e.message();
  }
  return "";
}

struct Case {
  std::string_view message;
  Kernel kernel;
  std::function<void(Kernel&)> damage;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Kernel k = c.kernel;
    CHECK(fault(k) == "");
    c.damage(k);
    CHECK_MESSAGE(fault(k).find(c.message) != std::string::npos, "wanted: ", c.message, ", got: ", fault(k));
  }
}

NodeId find(const Kernel& k, Prim op) {
  for (NodeId i = 0; i < k.nodes.size(); ++i)
    if (k.nodes[i].op == op) return i;
  FAIL("no such node");
  return 0;
}

}  // namespace

TEST_CASE("verify accepts what the planner makes") {
  for (const auto& sample : samples::all()) {
    CAPTURE(sample.name);
    CHECK(fault(sample.kernel) == "");
  }
}

TEST_CASE("verify limits the counts") {
  const Kernel k = samples::axpy();
  check({
      {"17 axes, at most 16", k, [](Kernel& x) { x.rows = 17; }},
      {"300 axes", k, [](Kernel& x) { x.rows = 45, x.cols = 255; }},
      {"65 views", k, [](Kernel& x) { x.views.resize(65); }},
      {"4097 nodes", k, [](Kernel& x) { x.nodes.resize(4097); }},
      {"tensors, at most", k, [](Kernel& x) { x.tensors = 65; }},
      {"size slots, at most", k, [](Kernel& x) { x.sizes = 1025; }},
      {"fewer size slots than axes", k, [](Kernel& x) { x.sizes = 0; }},
      {"stores nothing", k, [](Kernel& x) { x.stores.clear(); }},
      {"more stores than views", k, [](Kernel& x) { x.stores.resize(5); }},
  });
}

TEST_CASE("verify judges views") {
  const Kernel k = samples::concat_pad();  // v0..v2 loads with a box, v3 inside, v4 iota, v5 v6 stores
  check({
      {"view 0: an axis beyond", k, [](Kernel& x) { x.views[0].axes = 2; }},
      {"view 0: 65 boxes", k, [](Kernel& x) { x.views[0].boxes.resize(65); }},
      {"box 0 on an axis beyond", k, [](Kernel& x) { x.views[0].boxes[0].axis = 1; }},
      {"box 0 on an axis beyond", k, [](Kernel& x) { x.views[0].boxes[0].axis = 255; }},
      {"box 0 names no size slot", k, [](Kernel& x) { x.views[0].boxes[0].hi = 5; }},
      {"box 0 names no size slot", k, [](Kernel& x) { x.views[0].boxes[0].lo = 0xFFFF; }},
      {"boxes are not ascending", k, [](Kernel& x) { x.views[0].boxes = {{0, 2, 3}, {0, 1, 3}}; }},
      {"boxes are not ascending", k, [](Kernel& x) { x.views[0].boxes = {{0, 2, 3}, {0, 2, 3}}; }},
      {"a box on an axis that is not the view's", k, [](Kernel& x) { x.views[0].axes = 0; }},
      {"view 0: no such storage type", k, [](Kernel& x) { x.views[0].storage = DType::c64; }},
      {"view 0: no such storage type", k, [](Kernel& x) { x.views[0].storage = static_cast<DType>(200); }},
      {"view 0: no such tensor", k, [](Kernel& x) { x.views[0].tensor = 5; }},
      {"view 0: no such kind", k, [](Kernel& x) { x.views[0].kind = static_cast<ViewKind>(0); }},
      {"iota is i64", k, [](Kernel& x) { x.views[4].storage = DType::i32; }},
      {"inside is boolean", k, [](Kernel& x) { x.views[3].storage = DType::u8; }},
      {"inside has the axes of its boxes", k, [](Kernel& x) { x.views[3].boxes.clear(); }},
      {"no memory, but a tensor", k, [](Kernel& x) { x.views[3].tensor = 1; }},
      {"no memory, but a tensor", k, [](Kernel& x) { x.views[4].tensor = 1; }},
      {"boxes are for load and inside", k, [](Kernel& x) { x.views[4].boxes = {{0, 1, 2}}; }},
      {"boxes are for load and inside", k, [](Kernel& x) { x.views[5].boxes = {{0, 1, 2}}; }},
      {"a fill that is never read", k, [](Kernel& x) { x.views[3].fill = 1; }},
      {"a fill that is never read", k, [](Kernel& x) { x.views[5].fill = 1; }},
      {"a fill that is never read", samples::axpy(), [](Kernel& x) { x.views[0].fill = 1; }},
      {"the fill is no value", k, [](Kernel& x) { x.views[0].fill = uint64_t{1} << 32; }},
      {"view 6: tensor 0 has a view beside the one", k, [](Kernel& x) { x.views[6].tensor = 0; }},
      {"view 6: tensor 3 has a view beside the one", k, [](Kernel& x) { x.views[6].tensor = 3; }},
      {"tensor 0 is viewed with two storage types", k,
       [](Kernel& x) { x.views[1].tensor = 0, x.views[1].storage = DType::bf16; }},
      {"view 7: nothing is stored through it", k,
       [](Kernel& x) { x.views.push_back(x.views[6]), x.views[7].tensor = x.tensors++; }},
  });
}

TEST_CASE("verify judges checks and fetches") {
  const Kernel k = samples::gather();
  const auto view_of = [](const Kernel& x) { return x.nodes[find(x, Prim::fetch)].imm; };
  check({
      {"(check): its number is 64", k, [](Kernel& x) { x.nodes[find(x, Prim::check)].imm = 64; }},
      {"(check): index and extent are not i64", k,
       [](Kernel& x) { x.nodes[find(x, Prim::check)].arg[1] = x.nodes[find(x, Prim::check)].arg[0]; }},
      {"(check): a check is boolean", k, [](Kernel& x) { x.nodes[find(x, Prim::check)].type = DType::u8; }},
      {"(fetch): no such view", k, [](Kernel& x) { x.nodes[find(x, Prim::fetch)].imm = 99; }},
      {"(fetch): it fetches through a view that is no load without axes", k,
       [](Kernel& x) { x.nodes[find(x, Prim::fetch)].imm = x.nodes[find(x, Prim::load)].imm; }},
      {"(fetch): it fetches through a view that is no load without axes", k,
       [&](Kernel& x) { x.views[view_of(x)].axes = 1; }},
      {"(fetch): its type is not that of the view's values", k,
       [&](Kernel& x) { x.views[view_of(x)].storage = DType::bf16; }},
      {"(fetch): the condition is not boolean", k,
       [](Kernel& x) { x.nodes[find(x, Prim::fetch)].arg[0] = x.nodes[find(x, Prim::fetch)].arg[1]; }},
  });

  Builder b(1, 0);
  const Val x = samples::load(b, DType::i64, 1);
  const Val ok{b, b.check(0, b.literal(DType::boolean, 1), x.id(), b.size(0))};
  samples::store(b, DType::i64, 1, rare(lt(x, 0), x, select(ok, x, x + 1)));
  CHECK_THROWS_WITH_AS(b.finish(), doctest::Contains("(check): only the slow arm of a rare needs it"), Error);
}

TEST_CASE("verify asks a boolean fill and literal to be 0 or 1") {
  Builder b(1, 0);
  samples::store(b, DType::boolean, 1,
                 samples::load(b, DType::boolean, 1, {{0, 0, 0}}, 1) ^ literal(b, DType::boolean, int64_t{1}));
  const Kernel k = b.finish();
  check({
      {"the fill is no value", k, [](Kernel& x) { x.views[0].fill = 2; }},
      {"its bits are no value of its type", k, [](Kernel& x) { x.nodes[find(x, Prim::literal)].imm = 2; }},
  });
}

TEST_CASE("verify judges nodes") {
  const Kernel k = samples::axpy();  // %0 literal, %1 load, %2 mul
  const Kernel norm = samples::layer_norm();
  check({
      {"node 2 (?): no such primitive", k, [](Kernel& x) { x.nodes[2].op = static_cast<Prim>(0); }},
      {"node 2 (?): no such primitive", k, [](Kernel& x) { x.nodes[2].op = static_cast<Prim>(255); }},
      {"node 2 (mul): argument 1 does not precede it", k, [](Kernel& x) { x.nodes[2].arg[1] = 2; }},
      {"node 2 (mul): argument 0 does not precede it", k, [](Kernel& x) { x.nodes[2].arg[0] = no_node; }},
      {"node 2 (mul): argument 0 does not precede it", k, [](Kernel& x) { x.nodes[2].arg[0] = 4000; }},
      {"node 2 (mul): takes 2 arguments", k, [](Kernel& x) { x.nodes[2].arg[2] = 0; }},
      {"node 2 (neg): takes 1 arguments", k, [](Kernel& x) { x.nodes[2].op = Prim::neg; }},
      {"node 2 (mul): a field that it does not have", k, [](Kernel& x) { x.nodes[2].imm = 1; }},
      {"node 2 (mul): its axes", k, [](Kernel& x) { x.nodes[2].axes = 0; }},
      {"node 2 (mul): its axes", k, [](Kernel& x) { x.nodes[2].axes = 0x80000001; }},
      {"node 0 (literal): its axes", k, [](Kernel& x) { x.nodes[0].axes = 1; }},
      {"node 0 (literal): its bits", k, [](Kernel& x) { x.nodes[0].imm = uint64_t{1} << 32; }},
      {"node 0 (literal): its type is not one of values", k, [](Kernel& x) { x.nodes[0].type = DType::c64; }},
      {"node 0 (literal): its type is not one of values", k, [](Kernel& x) { x.nodes[0].type = DType::invalid; }},
      {"node 1 (load): no such view", k, [](Kernel& x) { x.nodes[1].imm = 4; }},
      {"node 1 (load): no such view", k, [](Kernel& x) { x.nodes[1].imm = uint64_t{1} << 40; }},
      {"node 1 (load): it loads through a store view", k, [](Kernel& x) { x.nodes[1].imm = 3; }},
      {"node 1 (load): its type is not that of the view", k, [](Kernel& x) { x.nodes[1].type = DType::f64; }},
      {"node 2 (mul): its type is not that of its arg", k, [](Kernel& x) { x.nodes[2].type = DType::f64; }},
      {"node 2 (fold.dot): a fold without cols", k, [](Kernel& x) { x.nodes[2].op = Prim::fold_dot; }},
      {"(size): no such size slot", norm, [](Kernel& x) { x.nodes[find(x, Prim::size)].imm = 2; }},
      {"(size): a size is i64", norm, [](Kernel& x) { x.nodes[find(x, Prim::size)].type = DType::i32; }},
      {"node 4 (load): an equal node precedes it", k, [](Kernel& x) { x.nodes[4] = x.nodes[1]; }},
      {"node 11 (literal): no store depends on it", k,
       [](Kernel& x) { x.nodes.insert(x.nodes.end(), {.op = Prim::literal, .type = DType::u8, .imm = 9}); }},
  });
}

TEST_CASE("verify knows the types of each primitive") {
  // One node of every primitive and type, on loads of the argument types: accepted or refused as prims.def says.
  const DType types[] = {DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                         DType::u16,     DType::u32, DType::u64, DType::f32, DType::f64};
  const auto accepted = [](Prim op, DType type, std::vector<DType> args) {
    Kernel k;
    k.rows = 1, k.cols = ends_sweep(op) ? 1 : 0, k.sizes = 2;
    const AxisSet everywhere = is_scan(op) ? 3 : 1;
    for (size_t i = 0; i < args.size(); ++i) {
      k.views.push_back({.kind = ViewKind::load, .storage = args[i], .tensor = k.tensors++, .axes = 1, .boxes = {}});
      k.nodes.push_back({.op = Prim::load, .type = args[i], .axes = 1, .imm = i});
    }
    Node n{.op = op, .type = type, .axes = everywhere};
    for (size_t i = 0; i < args.size(); ++i) n.arg[i] = static_cast<NodeId>(i);
    k.nodes.push_back(n);
    if (ir::is_float(type) && op != Prim::canon && op != Prim::neg && op != Prim::abs && op != Prim::copysign &&
        op != Prim::select && op != Prim::rare && op != Prim::number && op != Prim::bitcast &&
        !(op == Prim::convert && !ir::is_float(args[0])))
      k.nodes.push_back({.op = Prim::canon,
                         .type = type,
                         .axes = everywhere,
                         .arg = {static_cast<NodeId>(args.size()), no_node, no_node}});
    k.views.push_back(
        {.kind = ViewKind::store, .storage = type, .tensor = k.tensors++, .axes = everywhere, .boxes = {}});
    k.stores.push_back({static_cast<uint16_t>(args.size()), static_cast<NodeId>(k.nodes.size() - 1)});
    return fault(k) == "";
  };
  enum { I = 1, F = 2, B = 4 };
  const auto kind = [](DType t) { return t == DType::boolean ? B : ir::is_integer(t) ? I : F; };
  const struct {
    Prim op;
    size_t arity;
    int kinds;
  } arith[] = {
      {Prim::add, 2, I | F},
      {Prim::sub, 2, I | F},
      {Prim::mul, 2, I | F},
      {Prim::div, 2, I | F},
      {Prim::rem, 2, I},
      {Prim::min, 2, I | F},
      {Prim::max, 2, I | F},
      {Prim::neg, 1, I | F},
      {Prim::abs, 1, I | F},
      {Prim::fma, 3, F},
      {Prim::sqrt, 1, F},
      {Prim::floor, 1, F},
      {Prim::ceil, 1, F},
      {Prim::trunc, 1, F},
      {Prim::round, 1, F},
      {Prim::copysign, 2, F},
      {Prim::canon, 1, F},
      {Prim::and_, 2, I | B},
      {Prim::or_, 2, I | B},
      {Prim::xor_, 2, I | B},
      {Prim::not_, 1, I | B},
      {Prim::shl, 2, I},
      {Prim::shr, 2, I},
      {Prim::popcount, 1, I},
      {Prim::clz, 1, I},
      {Prim::ctz, 1, I},
      {Prim::fold_sum, 1, I | F},
      {Prim::fold_prod, 1, I | F},
      {Prim::fold_min, 1, I | F | B},
      {Prim::fold_max, 1, I | F | B},
      {Prim::fold_dot, 2, I | F},
      {Prim::scan_sum, 1, I | F},
      {Prim::scan_prod, 1, I | F},
      {Prim::scan_min, 1, I | F},
      {Prim::scan_max, 1, I | F},
  };
  for (const auto& row : arith)
    for (const DType t : types)
      for (const DType a : types) {
        CAPTURE(prim_info(row.op)->name);
        CAPTURE(std::string(ir::name(t)) + " from " + std::string(ir::name(a)));
        CHECK(accepted(row.op, t, std::vector<DType>(row.arity, a)) == (t == a && (row.kinds & kind(t))));
        if (row.arity > 1) {
          std::vector<DType> mixed(row.arity, t);
          mixed.back() = a;
          CHECK(accepted(row.op, t, mixed) == (t == a && (row.kinds & kind(t))));
        }
      }
  for (const Prim op : {Prim::eq, Prim::ne, Prim::lt, Prim::le})
    for (const DType t : types)
      for (const DType a : types) {
        CHECK(accepted(op, t, {a, a}) == (t == DType::boolean));
        CHECK(accepted(op, DType::boolean, {t, a}) == (t == a));
      }
  for (const DType t : types)
    for (const DType a : types) {
      CHECK(accepted(Prim::convert, t, {a}) == (t != a));
      CHECK(accepted(Prim::bitcast, t, {a}) ==
            (t != a && ir::item_size(t) == ir::item_size(a) && kind(t) != B && kind(a) != B));
      CHECK(accepted(Prim::number, t, {a}) == (t == a && kind(t) == F));
      CHECK(accepted(Prim::number_bits, t, {a}) ==
            ((t == DType::i32 && a == DType::f32) || (t == DType::i64 && a == DType::f64)));
      CHECK(accepted(Prim::select, t, {a, t, t}) == (a == DType::boolean));
      CHECK(accepted(Prim::select, t, {DType::boolean, a, t}) == (a == t));
      CHECK(accepted(Prim::select, t, {DType::boolean, t, a}) == (a == t));
      CHECK(accepted(Prim::rare, t, {DType::boolean, t, a}) == (a == t));
      CHECK(accepted(Prim::scale2, t, {t, a}) == (kind(t) == F && a == DType::i32));
      CHECK(accepted(Prim::scale2, t, {a, DType::i32}) == (kind(t) == F && a == t));
    }
}

TEST_CASE("verify judges scans") {
  const Kernel k = samples::scans();
  const auto scan = [](Kernel& x) -> Node& { return x.nodes[find(x, Prim::scan_sum)]; };
  check({
      {"(scan.sum): no such scan", k, [&](Kernel& x) { scan(x).imm = 4; }},
      {"(scan.sum): its axes are not those", k, [&](Kernel& x) { scan(x).axes = 1; }},
      {"node 2 (scan.sum): a scan without cols", samples::axpy(),
       [](Kernel& x) {
         x.nodes[2] = {.op = Prim::scan_sum, .type = DType::f32, .axes = 1, .arg = {1, no_node, no_node}};
       }},
  });
}

TEST_CASE("verify judges stores") {
  const Kernel k = samples::softmax();
  const Kernel two = samples::concat_pad();
  check({
      {"store 0: no store view", k, [](Kernel& x) { x.stores[0].view = 0; }},
      {"store 0: no store view", k, [](Kernel& x) { x.stores[0].view = 2; }},
      {"store 0: no such node", k, [](Kernel& x) { x.stores[0].value = 4000; }},
      {"store 0: no such node", k, [](Kernel& x) { x.stores[0].value = no_node; }},
      {"store 0: the value's type", k, [](Kernel& x) { x.views[1].storage = DType::f64; }},
      {"store 0: the view's axes are not all rows", k, [](Kernel& x) { x.views[1].axes = 1; }},
      {"store 0: the view's axes are not all rows", k, [](Kernel& x) { x.views[1].axes = 2; }},
      {"store 1: view 5 is stored twice", two, [](Kernel& x) { x.stores[1] = x.stores[0]; }},
      {"the view's axes are not all rows", samples::column_sum(), [](Kernel& x) { x.views[1].axes = 2; }},
  });
}

TEST_CASE("verify takes two views that differ only in what they point to, and stores that repeat a value") {
  Builder b(1, 1);
  const uint16_t tensor = b.add_tensor();
  const View v{.kind = ViewKind::load, .storage = DType::f32, .tensor = tensor, .axes = 3, .boxes = {}};
  const Val x{b, b.load(b.add_view(v))}, transposed{b, b.load(b.add_view(v))};
  samples::store(b, DType::f32, 3, (x + transposed).un(Prim::fold_sum));
  CHECK_NOTHROW(b.finish());
}

TEST_CASE("verify wants a canon exactly where NaN bits are seen") {
  const Kernel k = samples::axpy();
  Kernel bare = k;
  bare.nodes.pop_back();
  bare.stores[0].value -= 1;
  CHECK(fault(bare) == "kernel: node 9 (sub): the bits of its NaN are seen, so it needs a canon");

  Kernel twice = k;
  twice.nodes.push_back({.op = Prim::canon, .type = DType::f32, .axes = 1, .arg = {10, no_node, no_node}});
  twice.stores[0].value = 11;
  CHECK(fault(twice) == "kernel: node 10 (canon): a canon whose bits are not seen");

  Kernel unseen = k;
  unseen.nodes.push_back({.op = Prim::add, .type = DType::f32, .axes = 1, .arg = {10, 10, no_node}});
  unseen.nodes.push_back({.op = Prim::canon, .type = DType::f32, .axes = 1, .arg = {11, no_node, no_node}});
  unseen.stores[0].value = 12;
  CHECK(fault(unseen) == "kernel: node 10 (canon): a canon whose bits are not seen");

  // Behind a move it is too late: neg of the hardware's NaN has the other sign.
  Kernel late = samples::scalars();
  const NodeId canon = find(late, Prim::canon);
  late.nodes[canon].op = Prim::neg;
  late.nodes[canon + 1].op = Prim::abs;
  CHECK(fault(late).find("(add): the bits of its NaN are seen") != std::string::npos);
}

TEST_CASE("verify keeps folds where a sweep can run them") {
  Kernel pointless = samples::axpy();
  pointless.cols = 1, pointless.sizes = 2;
  CHECK(fault(pointless) == "kernel: cols without a fold or scan: they are rows");

  Builder b(1, 1);
  const Val x = samples::load(b, DType::f32, 3);
  samples::store(b, DType::f32, 3, rare(lt(x, 0.0), x * 2.0, x - x.un(Prim::fold_sum)));
  CHECK_THROWS_WITH(b.finish(), doctest::Contains("only the slow arm of a rare needs it"));

  Builder shared(1, 1);
  const Val s = samples::load(shared, DType::f32, 3).un(Prim::fold_sum);
  samples::store(shared, DType::f32, 1, rare(lt(s, 0.0), s * 2.0, s - 1.0));
  CHECK_NOTHROW(shared.finish());

  Builder deep(1, 1);
  Val v = samples::load(deep, DType::f32, 3);
  for (size_t i = 0; i <= max_levels; ++i) v = v.un(Prim::fold_max);
  samples::store(deep, DType::f32, 1, v);
  CHECK_THROWS_WITH(deep.finish(), doctest::Contains("more than 32 levels"));
}

TEST_CASE("verify keeps fold.dot to one level and its cols unstored") {
  const auto kernel = [](auto body) {
    Builder b(1, 1);
    body(b, samples::load(b, DType::f32, 3), samples::load(b, DType::f32, 2));
    return b.finish();
  };
  CHECK_THROWS_WITH(kernel([](Builder& b, Val x, Val y) {
                      samples::store(b, DType::f32, 1, (x - x.un(Prim::fold_max)).bin(Prim::fold_dot, y));
                    }),
                    doctest::Contains("a fold of a fold in a kernel with fold.dot"));
  CHECK_THROWS_WITH(
      kernel([](Builder& b, Val x, Val y) { samples::store(b, DType::f32, 3, x.bin(Prim::fold_dot, y) * x); }),
      doctest::Contains("stored along the cols of a fold.dot"));
  CHECK_THROWS_WITH(
      kernel([](Builder& b, Val x, Val y) { samples::store(b, DType::f32, 3, x.bin(Prim::fold_dot, y)); }),
      doctest::Contains("stored along the cols of a fold.dot"));
  CHECK_NOTHROW(kernel([](Builder& b, Val x, Val y) {
    samples::store(b, DType::f32, 1, x.bin(Prim::fold_dot, y) + x.un(Prim::fold_sum));
  }));
}
