// The builder: names, inputs, constants, outputs, sealing, skeletons, and depth.
#include <cmath>
#include <cstring>
#include <limits>

#include "support.h"

using namespace ingot;
using namespace ingot::ir;

TEST_CASE("values carry their kind, type and name") {
  Graph g("net");
  const DimId n = g.dims().symbol("N");
  const ValueId x = g.input("x", DType::f32, {n, g.dims().constant(4)});
  const ValueId k = g.dim_input("n", n);
  const ValueId c = g.scalar(DType::f32, 0.5);
  const ValueId y = apply(g, "mul", {x, c});
  g.set_name(y, "y");
  CHECK(g.value(k).dtype == DType::i64);
  CHECK(g.value(k).shape.empty());
  CHECK(g.value(k).dim == n);
  CHECK(g.inputs().size() == 2);
  CHECK(g.find_value("y") == y);
  CHECK(g.find_value("z") == no_value);
  CHECK(g.describe(y) == "%y: f32[N, 4]");
  CHECK(g.describe(c) == "%2: f32[]");
  g.set_name(y, "z");
  CHECK(g.find_value("y") == no_value);
  CHECK(g.find_value("z") == y);
  g.set_name(y, "");
  CHECK(g.value_name(y).empty());
  CHECK(fault([&] { g.set_name(y, "x"); }) == "the name %x is taken by another value");
  CHECK(fault([&] { g.input("x", DType::f32, {}); }) != "");
  CHECK(fault([&] { g.set_name(y, "\xff"); }) == "a name is not UTF-8");
}

TEST_CASE("inputs are checked") {
  Graph g;
  CHECK(fault([&] { g.input("x", DType::invalid, {}); }) == "input x: unknown dtype 0");
  CHECK(fault([&] { g.input("x", static_cast<DType>(200), {}); }) != "");
  CHECK(fault([&] { g.input("x", DType::c64, {}); }, Code::unimplemented) ==
        "input x: dtype c64 is known, but complex arithmetic is not implemented");
  CHECK(fault([&] { g.input("x", DType::f32, {7}); }) == "input x: no dim has the id 7");
  CHECK(fault([&] { g.input("x", DType::f32, {g.dims().constant(-1)}); }) == "input x: extent -1 is negative");
  const DimId big = g.dims().constant(int64_t{1} << 61);
  CHECK(fault([&] { g.input("x", DType::f64, {big}); }) ==
        "input x: the size of f64[2305843009213693952] overflows 63 bits");
  CHECK(fault([&] { g.dim_input("n", big); }) == "dim input n binds 2305843009213693952, expected a symbol");
  CHECK(g.value_count() == 0);
  CHECK(g.input("x", DType::f8e5m2, std::vector<DimId>(max_rank, g.dims().constant(1))) == 0);
  CHECK(fault([&] { g.input("y", DType::u8, std::vector<DimId>(max_rank + 1, g.dims().constant(1))); }) != "");
}

TEST_CASE("constants hold what they were given and are freed with the graph") {
  bool freed = false;
  {
    Graph g;
    const std::shared_ptr<const void> owner(new int,
                                            [&](const void* p) { freed = true, delete static_cast<const int*>(p); });
    static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const DimId two = g.dims().constant(2);
    const ValueId c = g.constant(DType::i32, {two}, {owner, bytes, 8});
    CHECK(g.constant_data(c).data == bytes);
    CHECK(fault([&] { g.constant(DType::i32, {two}, {nullptr, bytes, 7}); }) ==
          "constant: i32[2] takes 8 bytes, not 7");
    CHECK(fault([&] { g.constant(DType::i32, {two}, {nullptr, nullptr, 8}); }) ==
          "constant: 8 bytes of data are missing");
    CHECK(fault([&] { g.constant(DType::i32, {g.dims().symbol("N")}, {}); }) == "constant: extent N is not a constant");
    CHECK(g.value(g.constant(DType::i32, {g.dims().constant(0)}, {})).shape.size() == 1);
  }
  CHECK(freed);
}

TEST_CASE("scalars are rounded once, integers must be exact") {
  Graph g;
  const auto bits = [&](ValueId v) {
    uint64_t b = 0;
    std::memcpy(&b, g.constant_data(v).data, g.constant_data(v).size);
    return b;
  };
  CHECK(bits(g.scalar(DType::f16, 0.1)) == 0x2e66);
  CHECK(bits(g.scalar(DType::i8, -3.0)) == 0xfd);
  CHECK(bits(g.scalar(DType::u64, 0x1p63)) == uint64_t{1} << 63);
  CHECK(bits(g.scalar(DType::boolean, 1.0)) == 1);
  CHECK(bits(g.scalar(DType::f32, std::numeric_limits<double>::quiet_NaN())) == 0x7fc00000);
  CHECK(fault([&] { g.scalar(DType::i32, 0.5); }) == "constant: 0.5 is not a value of i32");
  CHECK(fault([&] { g.scalar(DType::u8, -1.0); }) != "");
  CHECK(fault([&] { g.scalar(DType::i64, 0x1p63); }) != "");
  CHECK(fault([&] { g.scalar(DType::i64, HUGE_VAL); }) != "");
  CHECK(fault([&] { g.scalar(DType::i64, std::nan("")); }) != "");
}

TEST_CASE("unknown ops and values") {
  Graph g;
  const ValueId x = g.input("x", DType::f32, {});
  const ValueId none[] = {x, 77};
  CHECK(fault([&] { g.op(OpCode::op_add, none); }) == "add: operand 1: no value has the id 77");
  CHECK(fault([&] { g.op(static_cast<OpCode>(9999), none); }) == "unknown op 9999");
  CHECK(fault([&] { g.output("", 77); }) == "no value has the id 77");
}

TEST_CASE("sealing: outputs, bound symbols, and nothing afterwards") {
  Graph g;
  CHECK(fault([&] { g.seal(); }) == "the graph \"main\" has no output");
  const DimId n = g.dims().symbol("N");
  const ValueId x = g.input("x", DType::f32, {g.dims().mul(n, g.dims().constant(2))});
  g.output("y", x);
  CHECK(fault([&] { g.output("y", x); }) == "the output name y is taken");
  CHECK(fault([&] { g.seal(); }) ==
        "symbol N is bound by no input: expected an input with it as an extent of its own, or a dim input");
  g.dim_input("n", n);
  g.seal();
  CHECK(g.sealed());
  CHECK(fault([&] { g.seal(); }, Code::failed_precondition) == "the graph \"main\" is finished");
  CHECK(fault([&] { apply(g, "neg", {x}); }, Code::failed_precondition) != "");
  CHECK(fault([&] { g.input("z", DType::f32, {}); }, Code::failed_precondition) != "");
  CHECK(fault([&] { g.output("z", x); }, Code::failed_precondition) != "");
}

TEST_CASE("a skeleton keeps inputs at their ids, dims, facts and flags") {
  Graph g("net");
  const DimId n = g.dims().symbol("N", 1, 64);
  const ValueId x = g.input("x", DType::f32, {n});
  const ValueId y = apply(g, "reshape", {x}, {ints("shape", {-1, 4})});
  const ValueId late = g.input("late", DType::i8, {});
  g.set_flags(relaxed_precision);
  g.output("", y);
  g.seal();
  Graph s = g.skeleton();
  CHECK_FALSE(s.sealed());
  CHECK(s.name() == "net");
  CHECK(s.flags() == relaxed_precision);
  CHECK(std::vector(s.inputs().begin(), s.inputs().end()) == std::vector{x, late});
  CHECK(s.find_value("late") == late);
  CHECK(s.value(late).dtype == DType::i8);
  CHECK(s.op_count() == 0);
  CHECK(s.outputs().empty());
  CHECK(s.dims().facts().size() == g.dims().facts().size());
  CHECK(type_of(s, apply(s, "reshape", {x}, {ints("shape", {-1, 2})})) == "f32[N/2, 2]");
}

TEST_CASE("op appends are atomic where several facts are needed and the last contradicts") {
  Graph g;
  DimTable& t = g.dims();
  const DimId a = t.symbol("A"), b = t.symbol("B"), c = t.symbol("C");
  const ValueId x = g.input("x", DType::f32, {a, t.constant(2), b});
  const ValueId y = g.input("y", DType::f32, {b, t.constant(2), t.add(a, t.constant(1))});
  g.input("z", DType::f32, {c});
  // Outside of axis 1: A == B, and B == A + 1.
  CHECK(fault([&] { apply(g, "concat", {x, y}, {integer("axis", 1)}); }).starts_with("concat: "));
  CHECK(t.facts().empty());
  CHECK_FALSE(t.known_equal(a, b));
  CHECK(g.op_count() == 0);
}
