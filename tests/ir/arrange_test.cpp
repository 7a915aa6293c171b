// Rules of the movement ops that arrange what others move: each once right, and each way to get it wrong.
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct Arrange {
  Graph g;
  DimTable& t = g.dims();
  DimId B = t.symbol("B"), N = t.symbol("N");
  ValueId x = g.input("x", DType::f32, {B, N}), one = g.input("one", DType::f32, {c(1), N, c(1)});
  ValueId fixed = g.input("fixed", DType::f32, {c(4), c(6)}), s = g.input("s", DType::f32, {});
  DimId c(int64_t v) { return t.constant(v); }
  std::string types(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    const ValueId first = apply(g, op, std::move(operands), std::move(attrs));
    std::string out;
    for (const ValueId v : g.op(g.value(first).source).results) out += (v == first ? "" : " ") + type_of(g, v);
    return out;
  }
  std::string wrong(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    const size_t values = g.value_count(), ops = g.op_count(), facts = t.facts().size(), rows = t.size();
    const std::string message = fault([&] { apply(g, op, operands, attrs); });
    CHECK(g.value_count() == values);
    CHECK(g.op_count() == ops);
    CHECK(t.facts().size() == facts);
    CHECK(t.size() == rows);
    CHECK_MESSAGE(message.starts_with(op), message);
    return message;
  }
  // What a run with B and N says.
  std::string at(int64_t b, int64_t n) {
    return fault([&] { value_of(t, 0, {b, n}); });
  }
};

NamedAttr mode(const char* m) { return {"mode", Attr::of_string(m)}; }

}  // namespace

TEST_CASE_FIXTURE(Arrange, "squeeze and expand_dims") {
  CHECK(types("squeeze", {one}, {ints("axes", {0, -1})}) == "f32[N]");
  CHECK(types("squeeze", {one}, {ints("axes", {})}) == "f32[1, N, 1]");
  CHECK(types("expand_dims", {x}, {ints("axes", {1})}) == "f32[B, 1, N]");
  CHECK(types("expand_dims", {x}, {ints("axes", {-1, 0})}) == "f32[1, B, N, 1]");
  CHECK(types("expand_dims", {s}, {ints("axes", {0})}) == "f32[1]");
  CHECK(wrong("squeeze", {fixed}, {ints("axes", {1})}) ==
        "squeeze: the extent of axis 1 and 1 differ: 6 and 1 (%fixed: f32[4, 6])");
  CHECK(wrong("squeeze", {fixed}, {ints("axes", {2})}).find("2 is not an axis of rank 2") != std::string::npos);
  CHECK(wrong("squeeze", {one}, {ints("axes", {0, -3})}) == "squeeze: attribute axes names axis 0 twice");
  CHECK(wrong("squeeze", {one}).find("attribute axes is missing") != std::string::npos);
  CHECK(wrong("expand_dims", {x}, {ints("axes", {3})}).find("3 is not an axis of rank 3") != std::string::npos);
  CHECK(wrong("expand_dims", {x}, {ints("axes", {1, 1})}).find("twice") != std::string::npos);
  std::vector<int64_t> many(15);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>(i);
  CHECK(wrong("expand_dims", {x}, {ints("axes", many)}).find("rank 17 is over the limit of 16") != std::string::npos);
  CHECK(types("squeeze", {x}, {ints("axes", {0})}) == "f32[N]");
  CHECK(at(1, 5) == "");
  CHECK(at(2, 5) == "squeeze: B == 1 does not hold: B = 2 and 1 (the extent of axis 0 and 1: %x: f32[B, N])");
}

TEST_CASE_FIXTURE(Arrange, "stack") {
  CHECK(types("stack", {x, x, x}) == "f32[3, B, N]");
  CHECK(types("stack", {x}, {integer("axis", -1)}) == "f32[B, N, 1]");
  CHECK(types("stack", {s, s}) == "f32[2]");
  CHECK(wrong("stack", {x, x}, {integer("axis", 3)}).find("3 is not an axis of rank 3") != std::string::npos);
  CHECK(wrong("stack", {x, one}).find("stack: operand 1 (%one: f32[1, N, 1]) has rank 3, expected 2") == 0);
  CHECK(wrong("stack", {x, g.input("", DType::i32, {B, N})}).find("has dtype i32, expected f32") != std::string::npos);
  CHECK(wrong("stack", {fixed, g.input("", DType::f32, {c(4), c(5)})}) ==
        "stack: the extents differ: 6 and 5 (%fixed: f32[4, 6], %8: f32[4, 5])");
  CHECK(wrong("stack", {}).find("takes 1 to") != std::string::npos);
}

TEST_CASE_FIXTURE(Arrange, "split") {
  CHECK(types("split", {fixed}, {integer("axis", 1), integer("parts", 3)}) == "f32[4, 2] f32[4, 2] f32[4, 2]");
  CHECK(types("split", {fixed}, {ints("sizes", {1, 0, 3})}) == "f32[1, 6] f32[0, 6] f32[3, 6]");
  CHECK(types("split", {fixed}, {integer("parts", 1)}) == "f32[4, 6]");
  const auto both = [&](const char* why) { return std::string("split: ") + why; };
  CHECK(wrong("split", {fixed}) == both("attribute parts or sizes is missing"));
  CHECK(wrong("split", {fixed}, {integer("parts", 2), ints("sizes", {2, 2})}) ==
        both("takes attribute parts or sizes, not both"));
  CHECK(wrong("split", {fixed}, {integer("parts", 3)}) ==
        both("%fixed: f32[4, 6] does not split into 3 equal parts: the extent of axis 0 is 4"));
  CHECK(wrong("split", {fixed}, {integer("parts", -2)}) == both("has 1 to 65535 results, not -2"));
  CHECK(wrong("split", {fixed}, {integer("parts", INT64_MAX)}).find("results, not 9223372036854775807") !=
        std::string::npos);
  CHECK(
      wrong("split", {fixed}, {ints("sizes", {2, 3})}).find("the sum of sizes and the extent split differ: 5 and 4") !=
      std::string::npos);
  CHECK(wrong("split", {fixed}, {ints("sizes", {5, -1})}).find("an entry of sizes is -1, which is negative") !=
        std::string::npos);
  CHECK(wrong("split", {s}, {integer("parts", 1)}).find("has no dims") != std::string::npos);
  CHECK(types("split", {x}, {dims("sizes", {t.constant(2), t.sub(B, t.constant(2))})}) == "f32[2, N] f32[B-2, N]");
  CHECK(types("split", {x}, {integer("axis", 1), integer("parts", 2)}) == "f32[B, N/2] f32[B, N/2]");
  CHECK(at(2, 4) == "");
  CHECK(at(2, 5) == "split: N = 5, not divisible by 2 (the extent of axis 1 of %x: f32[B, N] and parts)");
  CHECK(at(1, 4) == "split: an entry of sizes is B-2 = -1, which is negative");
}

TEST_CASE_FIXTURE(Arrange, "the number of results asked for is the op's, else nothing changes") {
  const NamedAttr attrs[] = {integer("parts", 2)};
  const size_t values = g.value_count();
  CHECK(fault([&] { g.op(OpCode::op_split, {&fixed, 1}, attrs, 1); }) == "split: has 2 results, n_results is 1");
  CHECK(fault([&] { g.op(OpCode::op_split, {&fixed, 1}, attrs, 3); }) == "split: has 2 results, n_results is 3");
  CHECK(fault([&] { g.op(OpCode::op_neg, {&fixed, 1}, {}, 2); }) == "neg: has 1 result, n_results is 2");
  CHECK(g.value_count() == values);
  CHECK(g.op(OpCode::op_split, {&fixed, 1}, attrs, 2) == values);
  CHECK(g.value_count() == values + 2);
}

TEST_CASE_FIXTURE(Arrange, "roll, tile and repeat") {
  CHECK(types("roll", {x}, {ints("shifts", {1, -3}), ints("axes", {-1, 0})}) == "f32[B, N]");
  CHECK(wrong("roll", {x}, {ints("shifts", {1}), ints("axes", {0, 1})}) ==
        "roll: attribute shifts has 1 entry, expected 2, one per entry of axes");
  CHECK(wrong("roll", {x}, {ints("shifts", {1, 2}), ints("axes", {1, -1})}) ==
        "roll: attribute axes names axis 1 twice");
  CHECK(wrong("roll", {x}, {ints("shifts", {1}), ints("axes", {2})}).find("2 is not an axis") != std::string::npos);
  // Which shift is for which axis does not depend on the order they are given in.
  const Op a = g.op(g.value(apply(g, "roll", {x}, {ints("shifts", {1, 2}), ints("axes", {0, 1})})).source);
  const Op b = g.op(g.value(apply(g, "roll", {x}, {ints("shifts", {2, 1}), ints("axes", {-1, 0})})).source);
  CHECK(a.attrs == b.attrs);

  CHECK(types("tile", {x}, {dims("repeats", {N, c(2)})}) == "f32[B*N, 2*N]");
  CHECK(types("tile", {fixed}, {ints("repeats", {0, 2})}) == "f32[0, 12]");
  CHECK(wrong("tile", {x}, {ints("repeats", {2})}).find("has 1 entry, expected 2, one per dim") != std::string::npos);
  CHECK(wrong("tile", {x}, {ints("repeats", {2, -1})}) == "tile: an entry of repeats is -1, which is negative");
  CHECK(wrong("tile", {fixed}, {ints("repeats", {INT64_MAX / 8, 2})}).find("overflows") != std::string::npos);
  CHECK(types("repeat", {x}, {integer("repeats", 3)}) == "f32[B, 3*N]");
  CHECK(types("repeat", {x}, {{"repeats", {.kind = AttrKind::dim, .i = N}}, integer("axis", 0)}) == "f32[B*N, N]");
  CHECK(wrong("repeat", {x}, {integer("repeats", -1)}) == "repeat: attribute repeats is -1, which is negative");
  CHECK(wrong("tile", {x}, {ints("repeats", {2})}) ==
        "tile: attribute repeats has 1 entry, expected 2, one per dim of %x: f32[B, N]");
  CHECK(at(3, 2) == "");
  CHECK(types("tile", {fixed}, {dims("repeats", {t.sub(B, c(3)), c(1)})}) == "f32[4*B-12, 6]");
  CHECK(at(2, 2) == "tile: an entry of repeats is B-3 = -1, which is negative");
  CHECK(types("repeat", {fixed}, {{"repeats", {.kind = AttrKind::dim, .i = t.sub(N, c(2))}}}) == "f32[4, 6*N-12]");
  CHECK(at(3, 1) == "repeat: attribute repeats is N-2 = -1, which is negative");
  CHECK(wrong("repeat", {s}, {integer("repeats", 2)}).find("has no dims") != std::string::npos);
}

TEST_CASE_FIXTURE(Arrange, "diagonal, tril, triu and eye") {
  CHECK(types("diagonal", {fixed}) == "f32[4]");
  CHECK(types("diagonal", {fixed}, {integer("offset", 3)}) == "f32[3]");
  CHECK(types("diagonal", {fixed}, {integer("offset", -3)}) == "f32[1]");
  CHECK(types("diagonal", {fixed}, {integer("offset", 6)}) == "f32[0]");
  CHECK(types("diagonal", {fixed}, {integer("offset", INT64_MAX)}) == "f32[0]");
  CHECK(types("diagonal", {g.input("", DType::u8, {c(2), c(3), c(4)})}, {integer("axis1", -1), integer("axis2", 0)}) ==
        "u8[3, 2]");
  CHECK(wrong("diagonal", {s}) == "diagonal: operand 0 (%s: f32[]) has rank 0, expected 2 or more");
  CHECK(wrong("diagonal", {fixed}, {integer("axis2", -2)}) == "diagonal: attributes axis1 and axis2 are both axis 0");
  CHECK(wrong("diagonal", {fixed}, {integer("axis1", 2)}).find("attribute axis1: 2 is not an axis") !=
        std::string::npos);
  CHECK(wrong("diagonal", {fixed}, {integer("offset", INT64_MIN)}).find("too small") != std::string::npos);
  CHECK(types("tril", {x}, {integer("diagonal", -1)}) == "f32[B, N]");
  CHECK(wrong("triu", {s}).find("has rank 0, expected 2 or more") != std::string::npos);
  CHECK(types("eye", {}, {dims("shape", {B, N})}) == "f32[B, N]");
  CHECK(types("eye", {}, {ints("shape", {2, 3, 4}), {"dtype", Attr::of_dtype(DType::boolean)}}) == "bool[2, 3, 4]");
  CHECK(wrong("eye", {}, {ints("shape", {3})}) == "eye: attribute shape has rank 1, expected 2 or more");
  CHECK(wrong("eye", {}, {ints("shape", {3, -1})}).find("-1, which is negative") != std::string::npos);
  CHECK(wrong("eye", {}, {ints("shape", {3, 3}), {"dtype", Attr::of_dtype(DType::f8e4m3)}}).find("storage only") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Arrange, "modes of pad") {
  const auto lows = [&](int64_t a, int64_t b) { return ints("low", {a, b}); };
  const auto highs = [&](int64_t a, int64_t b) { return ints("high", {a, b}); };
  CHECK(types("pad", {fixed}, {lows(4, 0), highs(4, 6), mode("wrap")}) == "f32[12, 12]");
  CHECK(types("pad", {fixed}, {lows(3, 0), highs(3, 5), mode("reflect")}) == "f32[10, 11]");
  CHECK(types("pad", {fixed}, {lows(30, 0), highs(3, 50), mode("edge")}) == "f32[37, 56]");
  CHECK(types("pad", {fixed, s}, {lows(-1, 0), highs(0, 1), mode("constant")}) == "f32[3, 7]");
  CHECK(wrong("pad", {fixed}, {lows(0, 0), highs(0, 0)}) ==
        "pad: takes 2 operands with mode \"constant\": the scalar to pad with is missing");
  CHECK(wrong("pad", {fixed, s}, {lows(0, 0), highs(0, 0), mode("edge")}) ==
        "pad: takes 1 operand with mode \"edge\", not 2: the padding is the operand's own");
  CHECK(wrong("pad", {fixed}, {lows(0, 0), highs(0, 0), mode("mirror")}) ==
        "pad: attribute mode is \"mirror\", expected \"constant\", \"edge\", \"reflect\" or \"wrap\"");
  CHECK(wrong("pad", {fixed}, {lows(4, 0), highs(0, 0), mode("reflect")}) ==
        "pad: the extent 4 less the 5 that low takes with mode \"reflect\" is -1, which is negative");
  CHECK(wrong("pad", {fixed}, {lows(0, 0), highs(0, 7), mode("wrap")}) ==
        "pad: the extent 6 less the 7 that high takes with mode \"wrap\" is -1, which is negative");
  CHECK(wrong("pad", {fixed}, {lows(-1, 0), highs(0, 0), mode("edge")}) ==
        "pad: low with mode \"edge\" is -1, which is negative");
  const ValueId empty = g.input("", DType::f32, {c(0), c(6)});
  for (const char* m : {"edge", "reflect", "wrap"}) {
    CHECK(types("pad", {empty}, {lows(0, 1), highs(0, 2), mode(m)}) == "f32[0, 9]");
    CHECK(wrong("pad", {empty}, {lows(0, 1), highs(1, 2), mode(m)}) != "");
  }
  apply(g, "pad", {x}, {lows(2, 0), highs(0, 1), mode("reflect")});
  CHECK(at(3, 2) == "");
  CHECK(at(2, 2) == "pad: the extent B less the 3 that low takes with mode \"reflect\" is B-3 = -1, which is negative");
  CHECK(at(3, 1) ==
        "pad: the extent N less the 2 that high takes with mode \"reflect\" is N-2 = -1, which is negative");
}
