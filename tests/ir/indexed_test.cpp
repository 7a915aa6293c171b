// Rules of the indexed ops: each once right, and each way to get it wrong.
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct Indexed {
  Graph g;
  DimTable& t = g.dims();
  DimId B = t.symbol("B"), N = t.symbol("N"), D = t.symbol("D");
  ValueId x = in("x", DType::f32, {B, N}), fixed = in("fixed", DType::f32, {c(4), c(6)}), s = in("s", DType::f32, {N});
  ValueId i = in("i", DType::i32, {B, N}), u = in("u", DType::u8, {D}), one = in("one", DType::i64, {});
  ValueId wide = in("wide", DType::i64, {c(5), c(6)}), narrow = in("narrow", DType::i64, {c(4), c(2)});
  ValueId pairs = in("pairs", DType::i64, {B, c(2)}), many = in("many", DType::i64, {B, c(3)});
  ValueId labels = in("labels", DType::i64, {B}), b = in("b", DType::boolean, {B, N});
  ValueId fp8 = in("fp8", DType::f8e4m3, {B, N}), scalar = in("scalar", DType::f32, {});
  DimId c(int64_t v) { return t.constant(v); }
  ValueId in(const char* name, DType type, std::vector<DimId> shape) { return g.input(name, type, std::move(shape)); }
  std::string type(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    return type_of(g, apply(g, op, std::move(operands), std::move(attrs)));
  }
  std::string wrong(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    const size_t values = g.value_count(), facts = t.facts().size();
    const std::string message = fault([&] { apply(g, op, operands, attrs); });
    CHECK(g.value_count() == values);
    CHECK(t.facts().size() == facts);
    CHECK_MESSAGE(message.starts_with(op), message);
    return message;
  }
  bool says(const std::string& message, const char* part) {
    INFO(message);
    return message.find(part) != std::string::npos;
  }
};

NamedAttr word(const char* name, const char* value) { return {name, Attr::of_string(value)}; }

}  // namespace

TEST_CASE_FIXTURE(Indexed, "gather puts the indices' dims in the place of its axis") {
  CHECK(type("gather", {x, u}) == "f32[D, N]");
  CHECK(type("gather", {x, i}, {integer("axis", -1)}) == "f32[B, B, N]");
  CHECK(type("gather", {x, one}, {integer("axis", 1)}) == "f32[B]");
  CHECK(type("gather", {fp8, u}) == "f8e4m3[D, N]");
  CHECK(says(wrong("gather", {x, s}), "operand 1 (%s: f32[N]) has dtype f32, expected an integer dtype, the indices"));
  CHECK(says(wrong("gather", {x, b}), "has dtype bool, expected an integer dtype"));
  CHECK(says(wrong("gather", {x, u}, {integer("axis", 2)}), "2 is not an axis of rank 2"));
  CHECK(says(wrong("gather", {scalar, u}), "has no dims"));
}

TEST_CASE_FIXTURE(Indexed, "take_along_axis broadcasts but for its axis") {
  CHECK(type("take_along_axis", {x, i}) == "f32[B, N]");
  CHECK(type("take_along_axis", {fixed, narrow}) == "f32[4, 2]");
  CHECK(says(wrong("take_along_axis", {x, u}), "has rank 1, expected 2, that of operand 0"));
  CHECK(says(wrong("take_along_axis", {fixed, wide}), "does not broadcast with operand 0"));
}

TEST_CASE_FIXTURE(Indexed, "gather_nd indexes as many dims as the last dim of its indices says") {
  CHECK(type("gather_nd", {x, pairs}) == "f32[B]");
  CHECK(type("gather_nd", {i, in("", DType::u16, {D, c(1)})}) == "i32[D, N]");
  CHECK(type("gather_nd", {x, in("", DType::u16, {B, D, c(1)})}, {integer("batch_dims", 1)}) == "f32[B, D]");
  CHECK(says(wrong("gather_nd", {x, many}), "has 3 indices in its last dim, expected 1 to 2"));
  CHECK(says(wrong("gather_nd", {x, pairs}, {integer("batch_dims", 1)}), "expected 1 to 1"));
  CHECK(says(wrong("gather_nd", {x, i}), "has N indices in its last dim, expected a constant"));
  CHECK(says(wrong("gather_nd", {x, one}), "has rank 0"));
  CHECK(says(wrong("gather_nd", {x, pairs}, {integer("batch_dims", 2)}), "batch_dims is 2, expected 0 to 1"));
  CHECK(says(wrong("gather_nd", {x, pairs}, {integer("batch_dims", -1)}), "batch_dims is -1, expected 0 to 1"));
  CHECK(says(wrong("gather_nd", {fixed, in("", DType::u16, {c(5), c(1)})}, {integer("batch_dims", 1)}),
             "batch dim differ"));
}

TEST_CASE_FIXTURE(Indexed, "one_hot has a new dim") {
  CHECK(type("one_hot", {i}, {integer("depth", 7)}) == "f32[B, N, 7]");
  CHECK(type("one_hot", {one},
             {{"depth", Attr{.kind = AttrKind::dim, .i = N}}, {"dtype", Attr::of_dtype(DType::i8)}}) == "i8[N]");
  CHECK(type("one_hot", {u}, {integer("depth", 3), integer("axis", 0)}) == "f32[3, D]");
  CHECK(says(wrong("one_hot", {s}, {integer("depth", 3)}), "has dtype f32, expected an integer dtype"));
  CHECK(says(wrong("one_hot", {u}, {integer("depth", -3)}), "attribute depth is -3, which is negative"));
  CHECK(says(wrong("one_hot", {u}, {integer("depth", 3), integer("axis", 2)}), "2 is not an axis of the result"));
  CHECK(says(wrong("one_hot", {u}), "attribute depth is missing"));
}

TEST_CASE_FIXTURE(Indexed, "scatter takes updates of the indices' shape that fit the data") {
  for (const char* op : {"scatter", "scatter_add"}) {
    CHECK(type(op, {x, i, x}) == "f32[B, N]");
    CHECK(type(op, {fixed, narrow, in("", DType::f32, {c(4), c(2)})}) == "f32[4, 6]");
    CHECK(type(op, {fixed, in("", DType::i8, {c(3), c(9)}), in("", DType::f32, {c(3), c(9)})}) == "f32[4, 6]");
    CHECK(says(wrong(op, {fixed, wide, in("", DType::f32, {c(5), c(6)})}), "which is negative"));
    CHECK(says(wrong(op, {fixed, narrow, fixed}), "the extents of the indices and of the updates differ: 2 and 6"));
    CHECK(says(wrong(op, {x, i, i}), "operand 2 (%i: i32[B, N]) has dtype i32, expected f32 as operand 0"));
    CHECK(says(wrong(op, {x, u, s}), "has rank 1, expected 2"));
  }
  CHECK(type("scatter", {b, i, b}) == "bool[B, N]");
  CHECK(says(wrong("scatter_add", {b, i, b}), "has dtype bool, expected an integer or float dtype"));
}

TEST_CASE_FIXTURE(Indexed, "what a run refuses names the op, the operands and the extents") {
  const auto at = [&](std::vector<int64_t> symbols) { return fault([&] { value_of(t, 0, symbols); }); };
  apply(g, "gather_nd", {x, in("picks", DType::u16, {D, c(3), c(1)})}, {integer("batch_dims", 1)});
  CHECK(at({2, 3, 2}) == "");
  CHECK(
      at({2, 3, 4}) ==
      "gather_nd: B == D does not hold: B = 2 and D = 4 (the extents of a batch dim: %x: f32[B, N], %picks: u16[D, 3, "
      "1])");
}

TEST_CASE_FIXTURE(Indexed, "scatter refuses a run whose indices reach beyond the data") {
  apply(g, "scatter", {fixed, i, x}, {integer("axis", 1)});
  CHECK(fault([&] { value_of(t, 0, {4, 9, 1}); }) == "");
  CHECK(fault([&] { value_of(t, 0, {5, 9, 1}); }) ==
        "scatter: what dim 0 of %fixed: f32[4, 6] has beyond the indices is -B+4 = -1, which is negative");
}

TEST_CASE_FIXTURE(Indexed, "cross_entropy of no classes is refused, of no rows it is not") {
  const ValueId none = in("none", DType::f32, {c(4), c(0)}), nobody = in("nobody", DType::f32, {c(0), c(6)});
  const ValueId four = in("four", DType::i64, {c(4)}), nought = in("nought", DType::i64, {c(0)});
  for (const char* reduction : {"none", "mean", "sum"}) {
    CHECK(wrong("cross_entropy", {none, four}, {word("reduction", reduction)}) ==
          "cross_entropy: %none: f32[4, 0] has no class along axis 1: no label is one");
    CHECK(type("cross_entropy", {nobody, nought}, {word("reduction", reduction)}) ==
          std::string(reduction == std::string("none") ? "f32[0]" : "f32[]"));
  }
  CHECK(says(wrong("cross_entropy", {nobody, in("", DType::i64, {c(6)})}, {integer("axis", 0)}),
             "%nobody: f32[0, 6] has no class along axis 0"));
  apply(g, "cross_entropy", {x, labels});
  CHECK(fault([&] { value_of(t, 0, {0, 1, 0}); }) == "");
  CHECK(
      fault([&] { value_of(t, 0, {2, 0, 0}); }) ==
      "cross_entropy: the extent of axis 1 of %x: f32[B, N], less the one class that a label is of, is N-1 = -1, which "
      "is negative");
}

TEST_CASE_FIXTURE(Indexed, "searchsorted and cross_entropy") {
  CHECK(type("searchsorted", {s, x}, {word("side", "right")}) == "i64[B, N]");
  CHECK(type("searchsorted", {s, scalar}) == "i64[]");
  CHECK(type("searchsorted", {x, x}) == "i64[B, N]");
  CHECK(says(wrong("searchsorted", {s, x}, {word("side", "middle")}),
             "side is \"middle\", expected one of \"left\", \"right\""));
  CHECK(says(wrong("searchsorted", {scalar, x}), "has rank 0"));
  CHECK(says(wrong("searchsorted", {s, i}), "has dtype i32, expected f32"));
  CHECK(says(wrong("searchsorted", {x, s}), "has rank 1, expected 2"));
  CHECK(says(wrong("searchsorted", {fixed, in("", DType::f32, {c(3), c(6)})}), "leading extents"));
  CHECK(type("cross_entropy", {x, labels}) == "f32[]");
  CHECK(type("cross_entropy", {x, labels}, {word("reduction", "none")}) == "f32[B]");
  CHECK(says(wrong("cross_entropy", {x, i}), "has rank 2, expected 1, that of operand 0 without the dim of classes"));
  CHECK(says(wrong("cross_entropy", {x, labels}, {word("reduction", "all")}),
             "expected one of \"none\", \"mean\", \"sum\""));
  CHECK(says(wrong("cross_entropy", {i, labels}), "has dtype i32, expected f16, bf16, f32 or f64"));
}

TEST_CASE("a number in the place of indices is an i64") {
  const Graph g =
      parse("ingot 1.0\ngraph @g(%x: f32[N, 3]) -> (f32[N]) {\n  %r = gather %x, -1 {axis = 1}\n  return %r\n}\n");
  CHECK(print(g).find("gather %x, -1 {axis = 1}") != std::string::npos);
  CHECK(type_of(g, g.outputs()[0].value) == "f32[N]");
}
