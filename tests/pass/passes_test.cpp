// Each pass alone: what it rewrites, and what it must leave.
#include "pass/passes.h"

#include <doctest/doctest.h>

#include <functional>

#include "check.h"
#include "evaluate.h"
#include "ir/text.h"
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
NamedAttr perm(std::vector<int64_t> v) { return {"perm", Attr::of_ints(std::move(v))}; }

// How many ops are left of one result over x: T[B, C] and its exponential (or, of integers, its sum with itself), which
// is the result of arithmetic.
size_t ops_left(DType type, const std::function<ValueId(Net&, ValueId x, ValueId computed)>& build) {
  Net n;
  const ValueId x = n.in("x", type, {n.sym("B"), n.sym("C")});
  const ValueId computed = ir::is_float(type) ? n.op(OpCode::op_exp, {x}) : n.op(OpCode::op_add, {x, x});
  n.out(build(n, x, computed));
  return pass::dead_code(pass::simplify(*n.done())).op_count();
}

size_t with_number(DType type, OpCode code, double number, bool computed, bool swapped = false) {
  return ops_left(type, [&](Net& n, ValueId x, ValueId c) {
    const ValueId value = computed ? c : x, k = n.g->scalar(type, number);
    return swapped ? n.op(code, {k, value}) : n.op(code, {value, k});
  });
}

}  // namespace

TEST_CASE("neutral elements go where they change no bit") {
  // On the result of arithmetic: one op is left.
  for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CHECK(with_number(t, OpCode::op_add, -0.0, true) == 1);
    CHECK(with_number(t, OpCode::op_add, -0.0, true, true) == 1);
    CHECK(with_number(t, OpCode::op_sub, 0.0, true) == 1);
    CHECK(with_number(t, OpCode::op_mul, 1, true) == 1);
    CHECK(with_number(t, OpCode::op_mul, 1, true, true) == 1);
    CHECK(with_number(t, OpCode::op_div, 1, true) == 1);
    // -0 + 0 is 0; 0 - x and 1 / x are no identities.
    CHECK(with_number(t, OpCode::op_add, 0.0, true) == 2);
    CHECK(with_number(t, OpCode::op_sub, -0.0, true) == 2);
    CHECK(with_number(t, OpCode::op_sub, 0.0, true, true) == 2);
    CHECK(with_number(t, OpCode::op_div, 1, true, true) == 2);
    CHECK(with_number(t, OpCode::op_mul, 0, true) == 2);
    CHECK(with_number(t, OpCode::op_mul, -1, true) == 2);
    // On an input they make a NaN canonical.
    CHECK(with_number(t, OpCode::op_mul, 1, false) == 1);
    CHECK(with_number(t, OpCode::op_add, -0.0, false) == 1);
  }
  for (const DType t : {DType::i32, DType::u8, DType::i64}) {
    CHECK(with_number(t, OpCode::op_add, 0, false) == 0);
    CHECK(with_number(t, OpCode::op_mul, 1, false, true) == 0);
    CHECK(with_number(t, OpCode::op_div, 1, false) == 0);
    CHECK(with_number(t, OpCode::op_sub, 0, false) == 0);
    CHECK(with_number(t, OpCode::op_sub, 0, false, true) == 1);
  }
}

TEST_CASE("behind what only moves bits a neutral element stays: it makes a NaN canonical") {
  for (const DType t : {DType::f16, DType::f32}) {
    const DType bits = t == DType::f16 ? DType::i16 : DType::i32;
    const auto left = [&](OpCode code) {
      return ops_left(t, [&](Net& n, ValueId x, ValueId) {
        ValueId moved = ir::no_value;
        if (code == OpCode::op_select) moved = n.op(code, {n.op(OpCode::op_isnan, {x}), x, x});
        else if (code == OpCode::op_copysign) moved = n.op(code, {x, x});
        else if (code == OpCode::op_bitcast) moved = n.op(code, {n.in("bits", bits, {})}, {{"to", Attr::of_dtype(t)}});
        else moved = n.op(code, {x});
        return n.op(OpCode::op_mul, {moved, n.g->scalar(t, 1.0)});
      });
    };
    for (const OpCode code : {OpCode::op_neg, OpCode::op_abs, OpCode::op_copysign, OpCode::op_bitcast})
      CHECK(left(code) == 2);
    CHECK(left(OpCode::op_select) == 3);
  }
}

TEST_CASE("a neutral element that widens the shape stays") {
  Net n;
  const ValueId x = n.in("x", DType::i32, {n.sym("C")});
  const int32_t zeros[2] = {};
  const auto owner = std::make_shared<std::vector<uint8_t>>(sizeof zeros, uint8_t{0});
  const ValueId wide = n.g->constant(DType::i32, {n.num(2), n.num(1)}, {owner, owner->data(), owner->size()});
  n.out(n.op(OpCode::op_add, {x, wide}));
  CHECK(pass::simplify(*n.done()).op_count() == 1);
  Net m;
  const ValueId y = m.in("x", DType::i32, {m.sym("C")});
  const auto one = std::make_shared<std::vector<uint8_t>>(4, uint8_t{0});
  m.out(m.op(OpCode::op_add, {y, m.g->constant(DType::i32, {m.num(1), m.num(1)}, {one, one->data(), 4})}));
  CHECK(pass::simplify(*m.done()).op_count() == 1);
}

TEST_CASE("moves that undo each other go") {
  const auto twice = [](OpCode code, std::vector<NamedAttr> attrs) {
    return ops_left(DType::f32,
                    [&](Net& n, ValueId x, ValueId) { return n.op(code, {n.op(code, {x}, attrs)}, attrs); });
  };
  CHECK(twice(OpCode::op_neg, {}) == 0);
  CHECK(twice(OpCode::op_abs, {}) == 1);
  CHECK(twice(OpCode::op_transpose, {perm({1, 0})}) == 0);
  CHECK(twice(OpCode::op_reverse, {axes({0})}) == 0);
  CHECK(twice(OpCode::op_exp, {}) == 2);
  CHECK(twice(OpCode::op_sqrt, {}) == 2);
  const auto reshape = [](Net& n, ValueId v, std::vector<DimId> shape) {
    return n.op(OpCode::op_reshape, {v}, {{"shape", Attr::of_dims(shape)}});
  };
  CHECK(ops_left(DType::f32, [&](Net& n, ValueId x, ValueId) {
          const DimId b = n.sym("B"), c = n.sym("C");
          return reshape(n, reshape(n, x, {c, b}), {b, c});
        }) == 0);
  CHECK(ops_left(DType::f32,
                 [&](Net& n, ValueId x, ValueId) { return n.op(OpCode::op_transpose, {x}, {perm({0, 1})}); }) == 0);
  CHECK(ops_left(DType::f32, [&](Net& n, ValueId x, ValueId) { return n.op(OpCode::op_concat, {x}, {}); }) == 0);
  CHECK(ops_left(DType::f32,
                 [&](Net& n, ValueId x, ValueId) { return n.op(OpCode::op_abs, {n.op(OpCode::op_neg, {x})}); }) == 1);
  // abs of the least integer is itself either way, but neg(abs(x)) is not abs.
  CHECK(ops_left(DType::f32,
                 [&](Net& n, ValueId x, ValueId) { return n.op(OpCode::op_neg, {n.op(OpCode::op_abs, {x})}); }) == 2);
}

TEST_CASE("a select by a constant takes its branch") {
  for (const bool which : {false, true})
    CHECK(ops_left(DType::f32, [&](Net& n, ValueId x, ValueId c) {
            return n.op(OpCode::op_select, {n.g->scalar(DType::boolean, uint64_t{which}), x, c});
          }) == (which ? 0 : 1));
}

TEST_CASE("casts to the same dtype") {
  const auto cast = [](DType t, bool computed) {
    return ops_left(t, [&](Net& n, ValueId x, ValueId c) {
      return n.op(OpCode::op_cast, {computed ? c : x}, {{"to", Attr::of_dtype(t)}});
    });
  };
  CHECK(cast(DType::i32, false) == 0);
  CHECK(cast(DType::f32, true) == 1);   // the exponential alone
  CHECK(cast(DType::f32, false) == 1);  // makes a NaN canonical
}

TEST_CASE("equal ops over equal operands become one; others do not") {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("B"), n.sym("C")});
  const auto scaled = [&](double by) { return n.op(OpCode::op_mul, {x, n.g->scalar(DType::f32, by)}); };
  n.out(n.op(OpCode::op_add, {scaled(2), scaled(2)}));
  n.out(n.op(OpCode::op_add, {scaled(0.0), scaled(-0.0)}));
  n.out(n.op(OpCode::op_reduce_sum, {x}, {axes({0})}));
  n.out(n.op(OpCode::op_reduce_sum, {x}, {axes({1})}));
  n.out(n.op(OpCode::op_cast, {x}, {{"to", Attr::of_dtype(DType::i32)}}));
  n.out(n.op(OpCode::op_cast, {x}, {{"to", Attr::of_dtype(DType::i64)}}));
  const auto g = n.done();
  CHECK(g->op_count() == 10);
  CHECK(pass::common_subexpressions(*g).op_count() == 9);
}

TEST_CASE("what no output reaches goes, what one reaches stays") {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("B")});
  n.in("unused", DType::f32, {n.sym("C")});
  n.op(OpCode::op_exp, {n.op(OpCode::op_neg, {x})});
  n.out(n.op(OpCode::op_sqrt, {x}));
  const ir::Graph g = pass::dead_code(*n.done());
  CHECK(g.op_count() == 1);
  CHECK(g.inputs().size() == 2);
}

TEST_CASE("constants fold to the bits the interpreter gives, beside symbols too") {
  Net n;
  const DimId b = n.sym("B");
  const ValueId x = n.in("x", DType::f32, {b});
  ValueId k = n.g->scalar(DType::f32, 0.1);
  for (const OpCode code : {OpCode::op_exp, OpCode::op_rsqrt, OpCode::op_tanh, OpCode::op_log, OpCode::op_gelu})
    k = n.op(code, {k});
  const ValueId zero = n.g->scalar(DType::f32, 0.0);
  n.out(n.op(OpCode::op_add, {x, k}));
  n.out(n.op(OpCode::op_add, {x, n.op(OpCode::op_div, {zero, zero})}));
  n.out(n.op(OpCode::op_div, {n.g->scalar(DType::i32, 7.0), n.g->scalar(DType::i32, 0.0)}));
  const auto g = n.done();
  const ir::Graph folded = pass::fold_constants(*g, 1 << 20, engine::evaluate);
  CHECK(pass::dead_code(folded).op_count() == 2);
  const std::vector<Array> inputs = {random_array(1, DType::f32, {9})};
  CHECK(evaluate(folded, inputs) == evaluate(*g, inputs));
}

TEST_CASE("what would grow too large is not folded") {
  Net n;
  const ValueId k = n.g->scalar(DType::f32, 1.0);
  n.out(n.op(OpCode::op_broadcast, {k}, {{"shape", Attr::of_ints({1000000})}}));
  CHECK(pass::fold_constants(*n.done(), 1 << 20, engine::evaluate).op_count() == 1);
}

TEST_CASE("the pipeline keeps what random graphs compute, and leaves no composite") {
  for (uint64_t seed = 5000; seed < 5150; ++seed) {
    const RandomGraph random = random_graph(seed);
    const ir::Graph after = pass::run(*random.graph, {}, engine::evaluate, {});
    for (uint32_t i = 0; i < after.op_count(); ++i) CHECK(ir::op_info(after.op(i).code)->cls != ir::OpClass::composite);
    for (const auto& inputs : random.inputs) {
      const std::vector<Array> want = evaluate(*random.graph, inputs), got = evaluate(after, inputs);
      REQUIRE(want.size() == got.size());
      for (size_t i = 0; i < want.size(); ++i) {
        const std::string text = difference(want[i], got[i]);
        INFO("seed ", seed, ", output ", i, ": ", text, "\n", describe(*random.graph));
        CHECK(text.empty());
      }
    }
  }
}

TEST_CASE("facts that narrow a symbol do not move a slice") {
  // Concatenating the slice with x says that their extents are equal, so S is 0 or 1; the slice must then still begin
  // at the end when it is added to the next graph.
  Net n;
  const DimId s = n.sym("S");
  const ValueId x = n.in("x", DType::f32, {n.num(1), s});
  const ValueId cut =
      n.op(OpCode::op_slice, {x},
           {{"starts", Attr::of_ints({0, -1})}, {"limits", Attr::of_ints({1, -7})}, {"steps", Attr::of_ints({1, -2})}});
  n.out(n.op(OpCode::op_concat, {cut, x}));
  const auto g = n.done();
  const std::vector<Array> inputs = {floats({1, 1}, {5})};
  CHECK(check(g, inputs, main_ways()) == "");
}

TEST_CASE("a fact does not make the ops before it ask for more") {
  // The product says B*C == C. Seen with that, the reshape is one to [A, C], for which B == 1 would do; but so does C =
  // 0.
  Net n;
  const DimId a = n.sym("A"), b = n.sym("B"), c = n.sym("C");
  const ValueId x = n.in("x", DType::f32, {a, b, c}), y = n.in("y", DType::f32, {c, n.num(2)});
  const DimId both[] = {b, c};
  const ValueId flat =
      n.op(OpCode::op_reshape, {x}, {{"shape", Attr::of_dims({a, n.g->dims().expr(ir::DimKind::mul, both)})}});
  n.out(n.op(OpCode::op_matmul, {flat, y}));
  const auto g = n.done();
  const std::vector<Array> nothing = {floats({3, 7, 0}, {}), floats({0, 2}, {})};
  const std::vector<Array> something = {floats({1, 1, 2}, {3, 4}), floats({2, 2}, {1, 2, 3, 4})};
  CHECK(check(g, nothing, main_ways()) == "");
  CHECK(check(g, something, main_ways()) == "");
}

TEST_CASE("an op whose needs contradict what a later op tells is refused by its own name") {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.sym("B"), n.sym("C")}), seven = n.in("seven", DType::f32, {n.num(7)});
  const ValueId grouped = n.op(OpCode::op_group_norm, {x}, {{"groups", Attr::of_int(2)}});
  n.out(n.op(OpCode::op_rms_norm, {grouped, seven}));
  std::string message;
  try {
    pass::decompose(*n.done());
  } catch (const Error& e) {
    message = e.message();
  }
  INFO(message);
  CHECK(message.starts_with("group_norm: does not fit all that is known of extents: reshape: "));
}

TEST_CASE("a run that does not fit is told of the op that was written, not of what it became") {
  // Each with extents that its operands do not have together, symbol by symbol.
  struct Case {
    const char* text;
    std::vector<int64_t> extents;
  };
  const std::vector<Case> cases = {
      {"(%x: f32[B], %c: f32[B], %s: f32[A]) -> (f32[B]) {\n  %0 = rope %x, %c, %s\n  return %0\n}", {64, 32}},
      {"(%x: f32[A, B], %s: f32[C]) -> (f32[A, B]) {\n  %0 = layer_norm %x, %s\n  return %0\n}", {2, 3, 4}},
      {"(%x: f32[A, B], %s: f32[C]) -> (f32[A, B]) {\n  %0 = rms_norm %x, %s\n  return %0\n}", {2, 3, 4}},
      {"(%x: f32[A, B], %s: f32[C]) -> (f32[A, B]) {\n  %0 = group_norm %x, %s {groups = 2}\n  return %0\n}",
       {2, 4, 6}},
      {"(%x: f32[A, B], %s: f32[C]) -> (f32[A, B]) {\n  %0 = instance_norm %x, %s\n  return %0\n}", {2, 4, 6}},
      {"(%x: f32[A, B], %y: f32[C, B], %z: f32[D, B]) -> (f32[A, B]) {\n"
       "  %0 = attention %x, %y, %z\n  return %0\n}",
       {2, 4, 5, 6}},
      {"(%x: f32[A], %y: f32[B]) -> (f32[bcast(A, B)]) {\n  %0 = floor_div %x, %y\n  return %0\n}", {2, 3}},
      {"(%x: f32[A], %y: f32[B]) -> (f32[bcast(A, B)]) {\n  %0 = logaddexp %x, %y\n  return %0\n}", {2, 3}},
  };
  for (const Case& c : cases) {
    const std::string text = cat("ingot 1.0\ngraph @g", c.text, "\n");
    const ir::Graph g = ir::parse(text);
    const std::string name(ir::op_info(g.op(0).code)->name);
    for (const ir::Graph& now : {g, pass::decompose(g)}) {
      const ir::DimTable& dims = now.dims();
      std::vector<int64_t> values(dims.size(), INT64_MIN);
      for (size_t i = 0; i < c.extents.size(); ++i) values[dims.symbols()[i]] = c.extents[i];
      std::string message;
      try {
        dims.evaluate(values);
        dims.check(values);
      } catch (const Error& e) {
        message = e.message();
      }
      INFO(text);
      INFO(message);
      CHECK(message.starts_with(name + ": "));
    }
  }
}

TEST_CASE("of an op with several results only those that are used are left, and a second one like it is the first") {
  Net n;
  const ValueId x = n.in("x", DType::f32, {n.num(6), n.sym("N")});
  const std::vector<NamedAttr> three = {{"axis", Attr::of_int(0)}, {"parts", Attr::of_int(3)}};
  const ValueId first = n.op(OpCode::op_split, {x}, three), again = n.op(OpCode::op_split, {x}, three);
  n.op(OpCode::op_exp, {first + 1});
  n.out(first + 2);
  n.out(n.op(OpCode::op_add, {first, again + 2}));
  const auto g = n.done();
  const ir::Graph merged = pass::dead_code(pass::common_subexpressions(pass::decompose(*g)));
  CHECK(merged.op_count() == 3);  // two slices and the sum
  CHECK(pass::dead_code(*g).op_count() == 3);
  CHECK(pass::dead_code(pass::common_subexpressions(*g)).op_count() == 2);
  const std::string text = check(g, std::vector{random_array(1, DType::f32, {6, 5})}, all_ways());
  CHECK_MESSAGE(text.empty(), text);
}
