// Type and shape rules: every op once right, and each way to get it wrong with its message.
#include <cmath>

#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct Rules {
  Graph g;
  DimTable& t = g.dims();
  DimId B = t.symbol("B"), N = t.symbol("N"), K = t.symbol("K", 2);
  DimId c(int64_t v) { return t.constant(v); }
  ValueId in(const char* name, DType type, std::vector<DimId> shape) { return g.input(name, type, std::move(shape)); }
  std::string type(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    return type_of(g, apply(g, op, std::move(operands), std::move(attrs)));
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
};

const DType all_types[] = {DType::boolean, DType::i8,  DType::i16, DType::i32,    DType::i64,
                           DType::u8,      DType::u16, DType::u32, DType::u64,    DType::f16,
                           DType::bf16,    DType::f32, DType::f64, DType::f8e4m3, DType::f8e5m2};

}  // namespace

TEST_CASE_FIXTURE(Rules, "elementwise ops take just the dtypes of their row") {
  std::vector<ValueId> of_type;
  for (const DType type : all_types) of_type.push_back(in("", type, {B, c(3)}));
  for (const OpInfo& op : op_table()) {
    const bool tells = op.rule == Rule::compare || op.rule == Rule::test;
    if (op.rule != Rule::unary && op.rule != Rule::nary && !tells) continue;
    for (size_t i = 0; i < std::size(all_types); ++i) {
      const std::vector<ValueId> operands(op.min_operands, of_type[i]);
      const bool storage = all_types[i] == DType::f8e4m3 || all_types[i] == DType::f8e5m2;
      if (in_set(op.types, all_types[i]) && !storage) {
        const ValueId v = apply(g, op.name, operands);
        CHECK(g.value(v).dtype == (tells ? DType::boolean : all_types[i]));
        CHECK(g.value(v).shape == std::vector{B, c(3)});
      } else {
        CHECK(wrong(op.name, operands).find(cat("has dtype ", name(all_types[i]))) != std::string::npos);
      }
    }
  }
}

TEST_CASE_FIXTURE(Rules, "the number of operands") {
  const ValueId x = in("x", DType::f32, {B});
  for (const OpInfo& op : op_table()) {
    if (op.min_operands > 0) CHECK(wrong(op.name, std::vector<ValueId>(op.min_operands - 1, x)) != "");
    if (op.max_operands < 100) CHECK(wrong(op.name, std::vector<ValueId>(op.max_operands + 1, x)) != "");
  }
  CHECK(wrong("add", {x}) == "add: takes 2 operands, not 1");
  CHECK(wrong("layer_norm", {x}) == "layer_norm: takes 2 to 3 operands, not 1");
}

TEST_CASE_FIXTURE(Rules, "what bitcast, ldexp and hardtanh refuse") {
  const ValueId x = in("x", DType::f32, {B}), i = in("i", DType::i64, {B}), b = in("b", DType::boolean, {B});
  const auto to = [](DType t) { return std::vector<NamedAttr>{{"to", Attr::of_dtype(t)}}; };
  CHECK(wrong("bitcast", {x}, to(DType::i64)) ==
        "bitcast: attribute to is i64 of 8 bytes, but %x: f32[B] has items of 4");
  CHECK(wrong("bitcast", {b}, to(DType::u8)) ==
        "bitcast: operand 0 (%b: bool[B]): a bool is no bit pattern; compare or cast it");
  CHECK(wrong("bitcast", {x}, to(DType::boolean)).find("no bit pattern") != std::string::npos);
  CHECK(wrong("ldexp", {x, i}) == "ldexp: operand 1 (%i: i64[B]) has dtype i64, expected i32, the exponent");
  CHECK(wrong("hardtanh", {x}, {{"low", Attr::of_float(2)}}) == "hardtanh: attribute low is 2, above high, 1");
}

TEST_CASE_FIXTURE(Rules, "elementwise shapes broadcast as NumPy's") {
  const ValueId x = in("x", DType::f32, {B, c(3)}), row = in("row", DType::f32, {c(3)}),
                scalar = in("s", DType::f32, {});
  const ValueId column = in("col", DType::f32, {N, c(1)}), empty = in("e", DType::f32, {c(0), c(1)});
  const ValueId four = in("four", DType::f32, {c(4)}), wide = in("wide", DType::f32, {K});
  CHECK(type("add", {x, row}) == "f32[B, 3]");
  CHECK(type("add", {scalar, x}) == "f32[B, 3]");
  CHECK(type("add", {scalar, scalar}) == "f32[]");
  CHECK(type("add", {column, row}) == "f32[N, 3]");
  CHECK(type("add", {x, column}) == "f32[bcast(B, N), 3]");
  CHECK(type("add", {empty, row}) == "f32[0, 3]");
  CHECK(type("fma", {scalar, row, column}) == "f32[N, 3]");
  CHECK(type("clamp", {x, scalar, row}) == "f32[B, 3]");
  CHECK(type("mul", {wide, in("n", DType::f32, {N})}) == "f32[K]");  // K >= 2 decides
  CHECK(wrong("add", {x, four}) ==
        "add: operand 1 (%four: f32[4]) does not broadcast with operand 0 (%x: f32[B, 3]): extents 3 and 4 do not "
        "broadcast");
  CHECK(wrong("add", {x, in("i", DType::i32, {B})}) ==
        "add: operand 1 (%i: i32[B]) has dtype i32, expected f32 as operand 0");
  CHECK(wrong("relu", {in("b", DType::boolean, {})}) ==
        "relu: operand 0 (%b: bool[]) has dtype bool, expected an integer or float dtype");
}

TEST_CASE_FIXTURE(Rules, "an op that fails late leaves no check behind") {
  const ValueId x = in("x", DType::f32, {B, c(3)}), y = in("y", DType::f32, {N, c(4)});
  wrong("add", {y, x});  // bcast(B, N) had been made when 3 met 4
  CHECK(value_of(t, B, {5, 7, 2}) == 5);
}

TEST_CASE_FIXTURE(Rules, "select, compare and cast") {
  const ValueId m = in("m", DType::boolean, {B, c(1)}), x = in("x", DType::f16, {c(3)}), y = in("y", DType::f16, {});
  const ValueId f8 = in("f8", DType::f8e4m3, {c(2)});
  CHECK(type("select", {m, x, y}) == "f16[B, 3]");
  CHECK(type("select", {m, f8, f8}) == "f8e4m3[B, 2]");
  CHECK(type("select", {m, m, m}) == "bool[B, 1]");
  CHECK(type("lt", {x, y}) == "bool[3]");
  CHECK(type("eq", {m, m}) == "bool[B, 1]");
  CHECK(type("cast", {f8}, {{"to", Attr::of_dtype(DType::f32)}}) == "f32[2]");
  CHECK(type("cast", {x}, {{"to", Attr::of_dtype(DType::boolean)}}) == "bool[3]");
  CHECK(wrong("select", {x, x, y}) == "select: operand 0 (%x: f16[3]) has dtype f16, expected bool, the condition");
  CHECK(wrong("select", {m, x, m}) == "select: operand 2 (%m: bool[B, 1]) has dtype bool, expected f16 as operand 1");
  CHECK(wrong("eq", {f8, f8}) == "eq: operand 0 (%f8: f8e4m3[2]) has dtype f8e4m3; fp8 is for storage, cast it first");
  CHECK(wrong("cast", {x}) == "cast: attribute to is missing, expected a dtype");
  CHECK(wrong("cast", {x}, {{"to", Attr::of_int(12)}}) == "cast: attribute to is of kind i64, expected dtype");
  CHECK(fault([&] { apply(g, "cast", {x}, {{"to", Attr::of_dtype(DType::c64)}}); }, Code::unimplemented) != "");
  CHECK(wrong("cast", {x}, {{"to", Attr::of_dtype(static_cast<DType>(99))}}) == "cast: attribute to: unknown dtype 99");
}

TEST_CASE_FIXTURE(Rules, "gelu's attribute") {
  const ValueId x = in("x", DType::f32, {B});
  CHECK(g.op(static_cast<uint32_t>(g.value(apply(g, "gelu", {x})).source)).attrs[0].s == "none");
  CHECK(type("gelu", {x}, {{"approximate", Attr::of_string("tanh")}}) == "f32[B]");
  CHECK(wrong("gelu", {x}, {{"approximate", Attr::of_string("erf")}}) ==
        "gelu: attribute approximate is \"erf\", expected \"none\" or \"tanh\"");
  CHECK(wrong("gelu", {x}, {{"aproximate", Attr::of_string("tanh")}}) ==
        "gelu: unknown attribute aproximate; it takes approximate");
  CHECK(wrong("add", {x, x}, {integer("axis", 0)}) == "add: unknown attribute axis; it takes none");
  CHECK(wrong("gelu", {x}, {integer("", 0)}) == "gelu: an attribute has no name; it takes approximate");
  const NamedAttr twice{"approximate", Attr::of_string("none")};
  CHECK(wrong("gelu", {x}, {twice, twice}) == "gelu: attribute approximate is given twice");
}

TEST_CASE_FIXTURE(Rules, "iota") {
  CHECK(type("iota", {}, {dims("shape", {B, c(3)}), integer("axis", -1)}) == "i64[B, 3]");
  CHECK(type("iota", {}, {ints("shape", {0}), {"dtype", Attr::of_dtype(DType::f16)}}) == "f16[0]");
  CHECK(wrong("iota", {}, {ints("shape", {})}) == "iota: attribute shape is empty, expected a dim to count along");
  CHECK(wrong("iota", {}, {ints("shape", {2}), integer("axis", 1)}) ==
        "iota: attribute axis: 1 is not an axis of rank 1");
  CHECK(wrong("iota", {}, {ints("shape", {-2})}) == "iota: an extent of shape is -2, which is negative");
  CHECK(wrong("iota", {}, {ints("shape", {2}), {"dtype", Attr::of_dtype(DType::f8e5m2)}}) != "");
  CHECK(wrong("iota", {}, {dims("shape", {98765})}) == "iota: attribute shape: no dim has the id 98765");
  CHECK(wrong("iota", {}, {ints("shape", std::vector<int64_t>(17, 1))}) == "iota: rank 17 is over the limit of 16");
  CHECK(wrong("iota", {}, {ints("shape", {0, int64_t{1} << 40, int64_t{1} << 40})})
            .find("overflows 63 bits, its extent of 0 counted as 1") != std::string::npos);
}

TEST_CASE_FIXTURE(Rules, "reshape: solved, proven, checked at run time, refused") {
  const ValueId x = in("x", DType::f32, {B, c(8)}), s = in("s", DType::f32, {}), e = in("e", DType::f32, {c(0), B});
  CHECK(type("reshape", {x}, {ints("shape", {-1, 4})}) == "f32[2*B, 4]");
  CHECK(type("reshape", {x}, {ints("shape", {4, -1})}) == "f32[4, 2*B]");
  CHECK(type("reshape", {x}, {dims("shape", {t.mul(B, c(2)), c(2), c(2)})}) == "f32[2*B, 2, 2]");
  CHECK(type("reshape", {x}, {dims("shape", {B, c(-1)})}) == "f32[B, 8]");
  CHECK(type("reshape", {s}, {ints("shape", {1, -1})}) == "f32[1, 1]");
  CHECK(type("reshape", {e}, {ints("shape", {0, 5})}) == "f32[0, 5]");
  CHECK(t.facts().empty());
  CHECK(wrong("reshape", {x}, {dims("shape", {B, c(4)})}) == "reshape: %x: f32[B, 8] has 8*B elements, not 4*B");
  CHECK(wrong("reshape", {x}, {ints("shape", {-1, -1})}) ==
        "reshape: attribute shape has two extents of -1, expected at most one");
  CHECK(wrong("reshape", {x}, {ints("shape", {-2})}) == "reshape: an extent of shape is -2, which is negative");
  CHECK(wrong("reshape", {e}, {ints("shape", {0, -1})}) ==
        "reshape: attribute shape: -1 cannot be solved beside an extent of 0");
  CHECK(wrong("reshape", {s}, {ints("shape", {2, -1})}).ends_with("1 is not divisible by 2"));

  const ValueId y = in("y", DType::f32, {N});
  CHECK(type("reshape", {y}, {ints("shape", {-1, 4})}) == "f32[N/4, 4]");
  CHECK(t.known_divisible(N, 4));
  CHECK(fault([&] { value_of(t, N, {1, 6, 2}); }) ==
        "reshape: N = 6, not divisible by 4 (the elements of %y: f32[N] and of attribute shape)");
  CHECK(type("reshape", {y}, {ints("shape", {2, -1, 2})}) == "f32[2, N/4, 2]");
  CHECK(t.facts().size() == 1);
  CHECK(type("reshape", {y}, {dims("shape", {B, B})}) == "f32[B, B]");
  CHECK(t.known_equal(N, t.mul(B, B)));
  CHECK(fault([&] { value_of(t, N, {2, 8, 2}); }) != "");
  CHECK(value_of(t, N, {2, 4, 2}) == 4);
}

TEST_CASE_FIXTURE(Rules, "transpose and reverse") {
  const ValueId x = in("x", DType::i32, {B, c(2), c(3)});
  CHECK(type("transpose", {x}, {ints("perm", {2, 0, 1})}) == "i32[3, B, 2]");
  CHECK(type("transpose", {x}, {ints("perm", {-1, 0, 1})}) == "i32[3, B, 2]");
  CHECK(type("transpose", {in("s", DType::i32, {})}, {ints("perm", {})}) == "i32[]");
  CHECK(wrong("transpose", {x}, {ints("perm", {0, 1})}) ==
        "transpose: attribute perm has 2 entries, expected 3, one per dim of %x: i32[B, 2, 3]");
  CHECK(wrong("transpose", {x}, {ints("perm", {0, 1, 1})}) ==
        "transpose: attribute perm names axis 1 twice, expected a permutation");
  CHECK(wrong("transpose", {x}, {ints("perm", {0, 1, 3})}) ==
        "transpose: attribute perm: 3 is not an axis of rank 3, expected -3 to 2");
  CHECK(type("reverse", {x}, {ints("axes", {-1, 0})}) == "i32[B, 2, 3]");
  CHECK(g.op(g.value(g.value_count() - 1).source).attrs[0].ints == std::vector<int64_t>{0, 2});
  CHECK(wrong("reverse", {x}, {ints("axes", {0, -3})}) == "reverse: attribute axes names axis 0 twice");
}

TEST_CASE_FIXTURE(Rules, "broadcast") {
  const ValueId x = in("x", DType::u8, {c(1), B}), n = in("n", DType::u8, {N});
  CHECK(type("broadcast", {x}, {dims("shape", {c(5), c(3), B})}) == "u8[5, 3, B]");
  CHECK(type("broadcast", {x}, {dims("shape", {c(0), B})}) == "u8[0, B]");
  CHECK(wrong("broadcast", {x}, {ints("shape", {4})}) ==
        "broadcast: operand 0 (%x: u8[1, B]) has rank 2, more than the 1 of attribute shape");
  CHECK(wrong("broadcast", {in("three", DType::u8, {c(3)})}, {ints("shape", {4})}).find("extents 3 and 4") !=
        std::string::npos);
  CHECK(wrong("broadcast", {n}, {ints("shape", {-1})}) == "broadcast: an extent of shape is -1, which is negative");
  CHECK(type("broadcast", {n}, {ints("shape", {4})}) == "u8[4]");
  CHECK(value_of(t, N, {1, 1, 2}) == 1);
  CHECK(value_of(t, N, {1, 4, 2}) == 4);
  CHECK(fault([&] { value_of(t, N, {1, 3, 2}); }) != "");
  CHECK(type("broadcast", {n}, {dims("shape", {B})}) == "u8[B]");
  CHECK(value_of(t, B, {4, 1, 2}) == 4);
  CHECK(fault([&] { value_of(t, B, {1, 4, 2}); }) != "");  // B would have to be 4
}

TEST_CASE_FIXTURE(Rules, "pad: extents, dtype of the padding, negative counts") {
  const ValueId x = in("x", DType::f32, {B, c(5)}), p = in("p", DType::f32, {}), q = in("q", DType::f64, {});
  CHECK(type("pad", {x, p}, {ints("low", {1, -2}), ints("high", {2, -3})}) == "f32[B+3, 0]");
  CHECK(type("pad", {x, p}, {dims("low", {N, c(0)}), ints("high", {0, 0})}) == "f32[B+N, 5]");
  CHECK(t.facts().empty());
  CHECK(wrong("pad", {x, p}, {ints("low", {0, -6}), ints("high", {0, 0})}) ==
        "pad: the padded extent is -1, which is negative");
  CHECK(wrong("pad", {x, q}, {ints("low", {0, 0}), ints("high", {0, 0})}) ==
        "pad: operand 1 (%q: f64[]) has dtype f64, expected f32 as operand 0");
  CHECK(wrong("pad", {x, x}, {ints("low", {0, 0}), ints("high", {0, 0})}).find("expected 0") != std::string::npos);
  CHECK(wrong("pad", {x, p}, {ints("low", {0}), ints("high", {0, 0})}).find("1 entry, expected 2") !=
        std::string::npos);
  CHECK(type("pad", {x, p}, {ints("low", {-4, 0}), ints("high", {0, 0})}) == "f32[B-4, 5]");
  CHECK(t.bounds(B).lo == 4);  // the check of every run
  CHECK(fault([&] { value_of(t, B, {3, 0, 2}); }) != "");
}

TEST_CASE_FIXTURE(Rules, "concat") {
  const ValueId x = in("x", DType::f32, {B, c(2)}), y = in("y", DType::f32, {N, c(2)}),
                z = in("z", DType::f32, {c(3), c(4)});
  CHECK(type("concat", {x}) == "f32[B, 2]");
  CHECK(type("concat", {x, y, x}) == "f32[2*B+N, 2]");
  CHECK(type("concat", {z, z}, {integer("axis", -1)}) == "f32[3, 8]");
  CHECK(wrong("concat", {x, z}) == "concat: extents outside of axis differ: 2 and 4 (%x: f32[B, 2], %z: f32[3, 4])");
  CHECK(wrong("concat", {x, in("v", DType::f32, {B})}) ==
        "concat: operand 1 (%v: f32[B]) has rank 1, expected 2 as operand 0");
  CHECK(wrong("concat", {x, in("i", DType::i8, {B, c(2)})}).find("has dtype i8, expected f32") != std::string::npos);
  CHECK(wrong("concat", {x, y}, {integer("axis", 2)}) ==
        "concat: attribute axis: 2 is not an axis of rank 2, expected -2 to 1");
  CHECK(wrong("concat", {in("s", DType::f32, {})}) == "concat: attribute axis is 0, but %s: f32[] has no dims");
  CHECK(type("concat", {x, y}, {integer("axis", 1)}) == "f32[B, 4]");
  CHECK(t.known_equal(B, N));  // checked on every run
}

TEST_CASE_FIXTURE(Rules, "reductions: axes, keepdims, dtypes") {
  const ValueId x = in("x", DType::f32, {B, c(2), c(3)}), m = in("m", DType::boolean, {B, c(2)}),
                s = in("s", DType::f32, {});
  CHECK(type("reduce_sum", {x}) == "f32[]");
  CHECK(type("reduce_sum", {x}, {{"keepdims", Attr::of_bool(true)}}) == "f32[1, 1, 1]");
  CHECK(type("reduce_max", {x}, {ints("axes", {-1})}) == "f32[B, 2]");
  CHECK(type("reduce_mean", {x}, {ints("axes", {2, 0}), {"keepdims", Attr::of_bool(true)}}) == "f32[1, 2, 1]");
  CHECK(g.op(g.value(g.value_count() - 1).source).attrs[0].ints == std::vector<int64_t>{0, 2});
  CHECK(type("reduce_prod", {x}, {ints("axes", {})}) == "f32[B, 2, 3]");
  CHECK(type("reduce_any", {m}, {ints("axes", {0})}) == "bool[2]");
  CHECK(type("reduce_min", {s}) == "f32[]");
  CHECK(type("reduce_sum", {in("i", DType::i32, {c(0)})}) == "i32[]");
  CHECK(wrong("reduce_sum", {m}) ==
        "reduce_sum: operand 0 (%m: bool[B, 2]) has dtype bool, expected an integer or float dtype");
  CHECK(wrong("reduce_mean", {in("j", DType::i32, {B})}).find("expected f16, bf16, f32 or f64") != std::string::npos);
  CHECK(wrong("reduce_all", {x}).find("expected bool") != std::string::npos);
  CHECK(wrong("reduce_sum", {x}, {ints("axes", {3})}) ==
        "reduce_sum: attribute axes: 3 is not an axis of rank 3, expected -3 to 2");
  CHECK(wrong("reduce_sum", {x}, {ints("axes", {1, -2})}) == "reduce_sum: attribute axes names axis 1 twice");
  CHECK(wrong("reduce_sum", {x}, {integer("axes", 1)}) ==
        "reduce_sum: attribute axes is of kind i64, expected list of i64");
}

TEST_CASE_FIXTURE(Rules, "matmul by NumPy's rules") {
  const auto f = [&](std::vector<DimId> shape) { return in("", DType::f32, std::move(shape)); };
  CHECK(type("matmul", {f({c(2), c(3)}), f({c(3), c(4)})}) == "f32[2, 4]");
  CHECK(type("matmul", {f({c(3)}), f({c(3)})}) == "f32[]");
  CHECK(type("matmul", {f({c(3)}), f({c(3), c(4)})}) == "f32[4]");
  CHECK(type("matmul", {f({c(2), c(3)}), f({c(3)})}) == "f32[2]");
  CHECK(type("matmul", {f({B, c(2), c(3)}), f({c(3), c(4)})}) == "f32[B, 2, 4]");
  CHECK(type("matmul", {f({c(3)}), f({B, c(3), c(4)})}) == "f32[B, 4]");
  CHECK(type("matmul", {f({c(5), c(1), c(2), c(3)}), f({c(6), c(3), c(4)})}) == "f32[5, 6, 2, 4]");
  CHECK(type("matmul", {f({c(2), c(0)}), f({c(0), c(4)})}) == "f32[2, 4]");
  const ValueId a = in("a", DType::f32, {c(2), c(3)}), b = in("b", DType::f32, {c(1), c(4)}),
                s = in("s", DType::f32, {});
  CHECK(wrong("matmul", {a, b}) == "matmul: the inner extents differ: 3 and 1 (%a: f32[2, 3], %b: f32[1, 4])");
  CHECK(wrong("matmul", {a, s}) == "matmul: operand 1 (%s: f32[]) has rank 0, expected 1 or more");
  CHECK(wrong("matmul", {f({c(5), c(2), c(3)}), f({c(6), c(3), c(4)})}).find("extents 5 and 6 do not broadcast") !=
        std::string::npos);
  CHECK(type("matmul", {f({c(2), B}), f({N, c(4)})}) == "f32[2, 4]");
  CHECK(fault([&] { value_of(t, B, {3, 4, 2}); }).starts_with("matmul: B == N does not hold: B = 3 and N = 4 ("));
}

TEST_CASE_FIXTURE(Rules, "softmax and the norms") {
  const ValueId x = in("x", DType::f16, {B, c(4), c(6)}), w = in("w", DType::f16, {c(6)}),
                w2 = in("w2", DType::f16, {c(4), c(6)});
  CHECK(type("softmax", {x}) == "f16[B, 4, 6]");
  CHECK(g.op(g.value(g.value_count() - 1).source).attrs[0].i == 2);
  CHECK(wrong("softmax", {in("s", DType::f16, {})}) == "softmax: attribute axis is -1, but %s: f16[] has no dims");
  CHECK(wrong("softmax", {in("i", DType::i32, {B})}).find("expected f16") != std::string::npos);
  CHECK(type("layer_norm", {x, w}) == "f16[B, 4, 6]");
  CHECK(type("layer_norm", {x, w2, w}, {integer("axis", 1), {"epsilon", Attr::of_float(1e-6)}}) == "f16[B, 4, 6]");
  CHECK(type("rms_norm", {x, w}, {{"epsilon", Attr::of_int(0)}}) == "f16[B, 4, 6]");
  CHECK(wrong("layer_norm", {x, w2}) ==
        "layer_norm: operand 1 (%w2: f16[4, 6]) has rank 2, expected at most 1, the number of normalised dims");
  CHECK(wrong("rms_norm", {x, in("five", DType::f16, {c(5)})}).find("differ: 6 and 5") != std::string::npos);
  CHECK(wrong("layer_norm", {x, w, in("f", DType::f32, {c(6)})}).find("has dtype f32, expected f16") !=
        std::string::npos);
  CHECK(wrong("layer_norm", {x, w}, {{"epsilon", Attr::of_float(HUGE_VAL)}}) ==
        "layer_norm: attribute epsilon is inf, expected a finite number");
}

TEST_CASE_FIXTURE(Rules, "attributes in normal form are fixed points") {
  const ValueId x = in("x", DType::f32, {N, B, c(6)}), p = in("p", DType::f32, {});
  std::vector<std::pair<std::string_view, std::vector<NamedAttr>>> cases = {
      {"slice", {ints("starts", {-3, 1, -2}), ints("limits", {INT64_MAX, -3, 1}), ints("steps", {1, 2, -1})}},
      {"slice", {ints("starts", {-1, 5, -1}), ints("limits", {INT64_MIN, 2, INT64_MIN}), ints("steps", {-1, -2, -3})}},
      {"slice", {dims("starts", {t.sub(N, c(2)), K, c(-9)}), dims("limits", {K, t.sub(B, K), c(0)})}},
      {"slice",
       {dims("starts", {t.sub(N, c(2)), K, c(-9)}), dims("limits", {K, t.sub(B, K), c(0)}),
        ints("steps", {-1, -4, -1})}},
      {"reshape", {dims("shape", {c(3), c(-1), N})}},
      {"pad", {ints("low", {-1, 2, 0}), ints("high", {0, 0, -6})}},
      {"reduce_sum", {}},
      {"softmax", {integer("axis", -2)}},
      {"reverse", {ints("axes", {-1, 0})}},
      {"transpose", {ints("perm", {-1, 0, 1})}},
      {"broadcast", {dims("shape", {c(2), N, B, c(6)})}},
  };
  for (const auto& [name, attrs] : cases) {
    const std::vector<ValueId> operands = name == "pad" ? std::vector{x, p} : std::vector{x};
    const ValueId first = apply(g, name, operands, attrs);
    const Op op = g.op(g.value(first).source);
    std::vector<NamedAttr> again;
    for (size_t i = 0; i < op.attrs.size(); ++i)
      again.push_back({std::string(find_op(name)->attrs[i].name), op.attrs[i]});
    const ValueId second = apply(g, name, operands, again);
    CHECK_MESSAGE(g.op(g.value(second).source).attrs == op.attrs, name);
    CHECK_MESSAGE(type_of(g, second) == type_of(g, first), name);
  }
}
