// Rules of composites and of reductions that decompose: each once right, and each way to get it wrong.
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

struct Composites {
  Graph g;
  DimTable& t = g.dims();
  DimId B = t.symbol("B"), N = t.symbol("N");
  ValueId x = in("x", DType::f32, {B, N}), fixed = in("fixed", DType::f32, {c(4), c(6)}), s = in("s", DType::f32, {});
  ValueId i = in("i", DType::i32, {B, N}), four = in("four", DType::f32, {c(4)}), six = in("six", DType::f32, {c(6)});
  ValueId i8 = in("i8", DType::i8, {}), q = in("q", DType::u8, {c(4), c(6)}), u8 = in("u8", DType::u8, {});
  ValueId fp8 = in("fp8", DType::f8e4m3, {c(4)}), b = in("b", DType::boolean, {c(4)});
  DimId c(int64_t v) { return t.constant(v); }
  ValueId in(const char* name, DType type, std::vector<DimId> shape) { return g.input(name, type, std::move(shape)); }
  std::string type(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    return type_of(g, apply(g, op, std::move(operands), std::move(attrs)));
  }
  std::string wrong(std::string_view op, std::vector<ValueId> operands, std::vector<NamedAttr> attrs = {}) {
    const size_t values = g.value_count(), facts = t.facts().size(), rows = t.size();
    const std::string message = fault([&] { apply(g, op, operands, attrs); });
    CHECK(g.value_count() == values);
    CHECK(t.facts().size() == facts);
    CHECK(t.size() == rows);
    CHECK_MESSAGE(message.starts_with(op), message);
    return message;
  }
  bool says(const std::string& message, const char* part) {
    INFO(message);
    return message.find(part) != std::string::npos;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Composites, "derived reductions") {
  for (const char* op : {"reduce_var", "reduce_std", "reduce_logsumexp", "reduce_l1", "reduce_l2"}) {
    CHECK(type(op, {x}) == "f32[]");
    CHECK(type(op, {x}, {ints("axes", {-1}), {"keepdims", Attr::of_bool(true)}}) == "f32[B, 1]");
    CHECK(says(wrong(op, {x}, {ints("axes", {2})}), "2 is not an axis of rank 2"));
    CHECK(says(wrong(op, {b}), "has dtype bool"));
  }
  CHECK(type("reduce_l1", {i}, {ints("axes", {0})}) == "i32[N]");
  CHECK(says(wrong("reduce_l2", {i}), "has dtype i32, expected f16, bf16, f32 or f64"));
  CHECK(wrong("reduce_var", {x}, {integer("ddof", -1)}) == "reduce_var: attribute ddof is -1, expected 0 or more");
  CHECK(type("count_nonzero", {i}, {ints("axes", {1})}) == "i64[B]");
  CHECK(type("count_nonzero", {b}) == "i64[]");
  CHECK(says(wrong("count_nonzero", {fp8}), "fp8 is for storage"));
}

TEST_CASE_FIXTURE(Composites, "argmax and argmin") {
  CHECK(type("argmax", {x}) == "i64[B]");
  CHECK(type("argmin", {i}, {integer("axis", 0), {"keepdims", Attr::of_bool(true)}}) == "i64[1, N]");
  CHECK(type("argmax", {b}) == "i64[]");
  CHECK(says(wrong("argmax", {s}), "has no dims"));
  CHECK(says(wrong("argmin", {x}, {integer("axis", 2)}), "2 is not an axis of rank 2"));
  CHECK(says(wrong("argmax", {fp8}), "fp8 is for storage"));
  const ValueId none = in("none", DType::f32, {c(0), c(3)});
  CHECK(wrong("argmin", {none}, {integer("axis", 0)}) ==
        "argmin: %none: f32[0, 3] has nothing along axis 0: no index is that of its minimum");
  CHECK(type("argmax", {none}) == "i64[0]");
  // What is known only in a run is checked there.
  CHECK(fault([&] { value_of(t, 0, {2, 3}); }) == "");
  CHECK(
      fault([&] { value_of(t, 0, {2, 0}); }) ==
      "argmax: the extent of axis 1 of %x: f32[B, N], less the one element that an index is of, is N-1 = -1, which is "
      "negative");
  CHECK(
      fault([&] { value_of(t, 0, {0, 3}); }) ==
      "argmin: the extent of axis 0 of %i: i32[B, N], less the one element that an index is of, is B-1 = -1, which is "
      "negative");
}

TEST_CASE_FIXTURE(Composites, "group_norm, instance_norm and batch_norm") {
  CHECK(type("group_norm", {fixed, six, six}, {integer("groups", 3)}) == "f32[4, 6]");
  CHECK(type("group_norm", {fixed}, {integer("groups", 6)}) == "f32[4, 6]");
  CHECK(says(wrong("group_norm", {fixed}), "attribute groups is missing"));
  CHECK(says(wrong("group_norm", {fixed}, {integer("groups", 0)}), "attribute groups is 0, expected 1 or more"));
  CHECK(says(wrong("group_norm", {fixed}, {integer("groups", 4)}), "has 6 channels, not divisible into 4 groups"));
  CHECK(says(wrong("group_norm", {six}, {integer("groups", 1)}), "has rank 1, expected 2 or more"));
  CHECK(says(wrong("group_norm", {fixed, four}, {integer("groups", 1)}),
             "the extent of axis 1 and that of the parameter differ: 6 and 4"));
  CHECK(says(wrong("instance_norm", {fixed, s}), "has rank 0, expected 1"));
  CHECK(says(wrong("instance_norm", {i}), "has dtype i32"));
  CHECK(type("instance_norm", {fixed, six}) == "f32[4, 6]");
  CHECK(type("batch_norm", {fixed, four, four, four, four}, {integer("axis", 0)}) == "f32[4, 6]");
  CHECK(says(wrong("batch_norm", {fixed, six, six, four, six}), "differ: 6 and 4"));
  CHECK(says(wrong("batch_norm", {fixed, six, six, six}), "takes 5 operands, not 4"));
  CHECK(says(wrong("batch_norm", {six, six, six, six, six}), "1 is not an axis of rank 1"));
  CHECK(type("group_norm", {x}, {integer("groups", 4)}) == "f32[B, N]");
  CHECK(fault([&] { value_of(t, 0, {2, 8}); }) == "");
  CHECK(says(fault([&] { value_of(t, 0, {2, 6}); }),
             "N = 6, not divisible by 4 (the channels of %x: f32[B, N] and groups)"));
}

TEST_CASE_FIXTURE(Composites, "what an op needs to be divisible is held against what it tells to be equal") {
  const ValueId seven = in("seven", DType::f32, {c(7)});
  CHECK(says(wrong("group_norm", {x, seven}, {integer("groups", 4)}), "group_norm: N cannot be divisible by 4"));
  CHECK(type("group_norm", {x, seven}, {integer("groups", 7)}) == "f32[B, N]");  // the refused one taught nothing
}

TEST_CASE_FIXTURE(Composites, "quantize and dequantize") {
  const NamedAttr to_u8{"dtype", Attr::of_dtype(DType::u8)};
  CHECK(type("quantize", {fixed, s, i8}) == "i8[4, 6]");
  CHECK(says(wrong("quantize", {fixed, s, i8}, {integer("axis", 5)}), "5 is not an axis of rank 2"));
  CHECK(type("quantize", {fixed, six, u8}, {to_u8}) == "u8[4, 6]");
  CHECK(says(wrong("quantize", {fixed, four, u8}, {to_u8}), "differ: 6 and 4"));
  CHECK(type("quantize", {fixed, four, u8}, {to_u8, integer("axis", 0)}) == "u8[4, 6]");
  CHECK(says(wrong("quantize", {fixed, s, u8}), "has dtype u8, expected i8 as attribute dtype"));
  CHECK(says(wrong("quantize", {fixed, s, i8}, {{"dtype", Attr::of_dtype(DType::i32)}}), "expected \"i8\" or \"u8\""));
  CHECK(says(wrong("quantize", {fixed, fixed, i8}), "has rank 2, expected 0 or 1"));
  CHECK(says(wrong("quantize", {i, s, i8}), "has dtype i32"));
  CHECK(says(wrong("quantize", {s, six, i8}), "has no dims"));
  CHECK(type("dequantize", {q, s, u8}) == "f32[4, 6]");
  CHECK(type("dequantize", {q, in("", DType::f64, {c(4)}), u8}, {integer("axis", 0)}) == "f64[4, 6]");
  CHECK(says(wrong("dequantize", {q, s, i8}), "has dtype i8, expected u8 as operand 0"));
  CHECK(says(wrong("dequantize", {fixed, s, i8}), "has dtype f32, expected i8 or u8"));
  CHECK(says(wrong("dequantize", {q, u8, u8}), "that of the result"));
  // Where nothing lies along it, axis has one form.
  const Op& op = g.op(g.value(apply(g, "quantize", {fixed, s, i8}, {integer("axis", 1)})).source);
  CHECK(attr(op, "axis").i == -1);
}

TEST_CASE_FIXTURE(Composites, "rope") {
  const ValueId three = in("", DType::f32, {c(3)}), table = in("", DType::f32, {c(4), c(3)});
  CHECK(type("rope", {fixed, three, table}) == "f32[4, 6]");
  CHECK(type("rope", {fixed, in("", DType::f32, {c(1), c(3)}), s}, {{"interleaved", Attr::of_bool(true)}}) ==
        "f32[4, 6]");
  CHECK(says(wrong("rope", {fixed, six, six}), "differ: 3 and 6"));
  CHECK(says(wrong("rope", {three, s, s}), "has 3 elements in its last dim, expected an even number"));
  CHECK(says(wrong("rope", {six, table, three}), "has rank 2, expected at most 1"));
  const NamedAttr interleaved{"interleaved", Attr::of_bool(true)};
  CHECK(wrong("rope", {three, s, s}, {interleaved}).starts_with("rope: %"));
  CHECK(says(wrong("rope", {fixed, s, six}, {interleaved}), "differ: 3 and 6 (%fixed: f32[4, 6], %six: f32[6])"));
  CHECK(says(wrong("rope", {s, s, s}), "has rank 0, expected 1 or more"));
  CHECK(type("rope", {x, s, s}) == "f32[B, N]");
  CHECK(fault([&] { value_of(t, 0, {2, 5}); }) == "rope: N = 5, not divisible by 2 (the last dim of %x: f32[B, N])");
  const DimId K = t.symbol("K");
  CHECK(type("rope", {x, in("cos", DType::f32, {K}), s}, {interleaved}) == "f32[B, N]");
  CHECK(fault([&] { value_of(t, 0, {2, 6, 3}); }) == "");
  const std::string said = fault([&] { value_of(t, 0, {2, 6, 4}); });
  CHECK(says(said, "rope: "));
  CHECK(says(said, " = 3 and "));
  CHECK(says(said, "%x: f32[B, N], %cos: f32[K])"));
}

TEST_CASE_FIXTURE(Composites, "dot_general") {
  const auto lists = [](std::vector<int64_t> lb, std::vector<int64_t> rb, std::vector<int64_t> lk,
                        std::vector<int64_t> rk) {
    return std::vector{ints("lhs_batch", std::move(lb)), ints("rhs_batch", std::move(rb)),
                       ints("lhs_contract", std::move(lk)), ints("rhs_contract", std::move(rk))};
  };
  const ValueId cube = in("", DType::f32, {c(2), c(4), c(6)});
  CHECK(type("dot_general", {fixed, six}, {ints("lhs_contract", {-1}), ints("rhs_contract", {0})}) == "f32[4]");
  CHECK(type("dot_general", {cube, fixed}, lists({}, {}, {2, 1}, {1, 0})) == "f32[2]");
  CHECK(type("dot_general", {cube, fixed}, lists({1}, {0}, {}, {})) == "f32[4, 2, 6, 6]");
  CHECK(type("dot_general", {six, s}) == "f32[6]");
  CHECK(
      says(wrong("dot_general", {fixed, six}, lists({}, {}, {0}, {0})), "the extents of axes 0 and 0 differ: 4 and 6"));
  CHECK(says(wrong("dot_general", {fixed, six}, lists({}, {}, {1}, {})), "have 1 and 0 entries, expected as many"));
  CHECK(says(wrong("dot_general", {fixed, six}, lists({2}, {0}, {}, {})), "attribute lhs_batch: 2 is not an axis of"));
  CHECK(says(wrong("dot_general", {fixed, six}, lists({}, {}, {1}, {-2})), "rhs_contract: -2 is not an axis of"));
  CHECK(says(wrong("dot_general", {fixed, fixed}, lists({1}, {1}, {-1}, {0})), "axis 1 of operand 0 is named twice"));
  CHECK(
      says(wrong("dot_general", {fixed, fixed}, lists({}, {}, {0, 1}, {1, 1})), "axis 1 of operand 1 is named twice"));
  CHECK(says(wrong("dot_general", {fixed, i}), "has dtype i32, expected f32 as operand 0"));
  CHECK(says(wrong("dot_general", {b, b}), "has dtype bool"));
  const ValueId deep = in("", DType::f32, std::vector<DimId>(10, c(1)));
  CHECK(says(wrong("dot_general", {deep, deep}, lists({}, {}, {0}, {0})), "has 18 result dims and sums over 1"));
  CHECK(type("dot_general", {x, four}, lists({}, {}, {0}, {0})) == "f32[N]");
  CHECK(says(
      fault([&] { value_of(t, 0, {3, 5}); }),
      "dot_general: B == 4 does not hold: B = 3 and 4 (the extents of axes 0 and 0: %x: f32[B, N], %four: f32[4])"));
}

TEST_CASE_FIXTURE(Composites, "attention") {
  const ValueId q = in("", DType::f32, {c(5), c(4), c(6)}), mask = in("", DType::boolean, {c(4), c(4)});
  const ValueId keys = in("", DType::f32, {c(3), c(6)}), values = in("", DType::f32, {c(3), c(2)});
  CHECK(type("attention", {q, fixed, fixed}) == "f32[5, 4, 6]");
  CHECK(type("attention", {fixed, fixed, q, mask}) == "f32[5, 4, 6]");
  CHECK(type("attention", {fixed, q, fixed, s}) == "f32[5, 4, 6]");
  CHECK(type("attention", {q, keys, values}) == "f32[5, 4, 2]");
  CHECK(says(wrong("attention", {q, values, keys}), "the last extents of q and k differ: 6 and 2"));
  CHECK(says(wrong("attention", {q, keys, fixed}), "the numbers of keys and of values differ: 3 and 4"));
  CHECK(says(wrong("attention", {q, keys, values, mask}), "and those of the mask differ: 3 and 4"));
  CHECK(says(wrong("attention", {six, keys, values}), "has rank 1, expected 2 or more"));
  CHECK(says(wrong("attention", {fixed, fixed, fixed, i}), "has dtype i32, expected bool or f32"));
  CHECK(says(wrong("attention", {fixed, fixed, fixed, in("", DType::boolean, {c(5), c(4), c(4)})}),
             "has rank 3, expected at most 2"));
  CHECK(says(wrong("attention", {q, in("", DType::f32, {c(2), c(3), c(6)}), values}), "do not broadcast"));
  CHECK(says(wrong("attention", {q, in("", DType::f32, {c(5), c(3), c(6)}), in("", DType::f32, {c(2), c(3), c(2)})}),
             "do not broadcast"));
}

TEST_CASE_FIXTURE(Composites, "batch_norm_training") {
  const Op& op = g.op(g.value(apply(g, "batch_norm_training", {fixed, six, six})).source);
  REQUIRE(op.results.size() == 3);
  CHECK(type_of(g, op.results[0]) == "f32[4, 6]");
  CHECK(type_of(g, op.results[1]) == "f32[6]");
  CHECK(type_of(g, op.results[2]) == "f32[6]");
  CHECK(says(wrong("batch_norm_training", {fixed, four, six}), "differ: 6 and 4"));
  CHECK(says(wrong("batch_norm_training", {fixed, six, six, six}), "takes 3 operands, not 4"));
}

TEST_CASE_FIXTURE(Composites, "scans") {
  CHECK(type("cumsum", {x}) == "f32[B, N]");
  CHECK(type("cumprod", {i}, {integer("axis", -2), {"exclusive", Attr::of_bool(true)}}) == "i32[B, N]");
  CHECK(says(wrong("cumsum", {s}), "has no dims"));
  CHECK(says(wrong("cummax", {x}, {integer("axis", 2)}), "2 is not an axis of rank 2"));
  CHECK(says(wrong("cummin", {b}), "has dtype bool, expected an integer or float dtype"));
  CHECK(says(wrong("cumsum", {fp8}), "fp8 is for storage"));
}

TEST_CASE_FIXTURE(Composites, "random numbers, dropout") {
  const ValueId seed = in("seed", DType::u64, {}), signed_seed = in("signed", DType::i64, {});
  const ValueId seeds = in("seeds", DType::u64, {c(4)}), p = in("p", DType::f32, {N});
  const auto shape = [&](std::vector<DimId> d) { return NamedAttr{"shape", Attr::of_dims(d)}; };
  const auto dtype = [](DType of) { return NamedAttr{"dtype", Attr::of_dtype(of)}; };
  CHECK(type("random_bits", {seed}, {shape({B})}) == "u32[B]");
  CHECK(type("random_bits", {signed_seed}, {shape({}), dtype(DType::u8), integer("stream", -1)}) == "u8[]");
  CHECK(type("random_normal", {seed}, {shape({B, c(2)}), dtype(DType::bf16)}) == "bf16[B, 2]");
  CHECK(says(wrong("random_bits", {seed}, {shape({B}), dtype(DType::i32)}),
             "dtype is i32, expected u8, u16, u32 or u64"));
  CHECK(says(wrong("random_uniform", {seed}, {shape({B}), dtype(DType::u32)}), "expected f16, bf16, f32 or f64"));
  CHECK(says(wrong("random_uniform", {s}, {shape({B})}), "has dtype f32, expected i64 or u64, the seed"));
  CHECK(says(wrong("random_uniform", {seeds}, {shape({B})}), "has rank 1, expected 0: one seed"));
  CHECK(says(wrong("random_normal", {seed}, {shape({c(-3)})}), "an extent of shape is -3, which is negative"));
  CHECK(type("random_bernoulli", {seed, p}, {shape({B, N})}) == "bool[B, N]");
  CHECK(type("random_bernoulli", {seed, s}, {shape({B})}) == "bool[B]");
  CHECK(says(wrong("random_bernoulli", {seed, fixed}, {shape({c(4), c(5)})}), "6"));
  CHECK(says(wrong("random_bernoulli", {seed, fixed}, {shape({c(6)})}), "has rank 2, expected at most 1"));
  CHECK(says(wrong("random_bernoulli", {seed, i}, {shape({B, N})}), "has dtype i32, expected f32, the probability"));
  CHECK(type("dropout", {x, seed}, {{"p", Attr::of_float(1)}}) == "f32[B, N]");
  CHECK(says(wrong("dropout", {x, seed}, {{"p", Attr::of_float(1.5)}}), "attribute p is 1.5, expected 0 to 1"));
  CHECK(says(wrong("dropout", {x, seed}, {{"p", Attr::of_float(-0.5)}}), "expected 0 to 1"));
  CHECK(says(wrong("dropout", {i, seed}), "has dtype i32"));
  CHECK(says(wrong("dropout", {x, s}), "the seed"));
}

TEST_CASE_FIXTURE(Composites, "unpack_bits") {
  const ValueId bits = in("bits", DType::u8, {B});
  const auto count = [](DimId d) { return NamedAttr{"count", {.kind = AttrKind::dim, .i = d}}; };
  CHECK(type("unpack_bits", {bits}) == "bool[8*B]");
  CHECK(type("unpack_bits", {q}, {count(c(41)), {"bitorder", Attr::of_string("big")}}) == "bool[4, 41]");
  CHECK(says(wrong("unpack_bits", {q}, {count(c(49))}), "the number of bits beyond attribute count is -1"));
  CHECK(says(wrong("unpack_bits", {q}, {count(c(-2))}), "attribute count is -2"));
  CHECK(says(wrong("unpack_bits", {u8}), "has rank 0, expected 1 or more"));
  CHECK(says(wrong("unpack_bits", {i8}), "has dtype i8, expected u8"));
  CHECK(says(wrong("unpack_bits", {q}, {{"bitorder", Attr::of_string("msb")}}), "attribute bitorder is \"msb\""));
  CHECK(type("unpack_bits", {bits}, {count(N)}) == "bool[N]");
  CHECK(value_of(t, N, {2, 16}) == 16);
  CHECK(fault([&] { value_of(t, N, {2, 17}); }) ==
        "unpack_bits: the number of bits beyond attribute count is 8*B-N = -1, which is negative");
}
