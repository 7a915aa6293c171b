// Why values are stored between kernels: a graph for each reason that the planner has, and its words.
#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "check.h"
#include "engine/describe.h"
#include "ir/text.h"

using namespace ingot;
using namespace ingot::oracle;
using fuse::Why;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

namespace {

NamedAttr axes(std::vector<int64_t> v) { return {"axes", Attr::of_ints(std::move(v))}; }
NamedAttr along(int64_t axis) { return {"axis", Attr::of_int(axis)}; }
NamedAttr shaped(std::vector<DimId> dims) { return {"shape", Attr::of_dims(std::move(dims))}; }
const NamedAttr keep{"keepdims", Attr::of_bool(true)};
const NamedAttr turned{"perm", Attr::of_ints({1, 0})};

// %e = exp x[B, C] and what is short to write with it.
struct Rows : Net {
  DimId b = sym("B"), c = sym("C");
  ValueId x = in("x", DType::f32, {b, c});
  ValueId number(double v) { return g->scalar(DType::f32, v); }
  ValueId exp(ValueId v) { return op(OpCode::op_exp, {v}); }
  ValueId neg(ValueId v) { return op(OpCode::op_neg, {v}); }
  ValueId add(ValueId a, ValueId b) { return op(OpCode::op_add, {a, b}); }
  ValueId sum(ValueId v, int64_t axis) { return op(OpCode::op_reduce_sum, {v}, {axes({axis})}); }
  ValueId wide_sum(ValueId v, int64_t axis) { return op(OpCode::op_reduce_sum, {v}, {axes({axis}), keep}); }
  ValueId scan(ValueId v, int64_t axis) { return op(OpCode::op_cumsum, {v}, {along(axis)}); }
  ValueId tensor(const char* name, std::vector<DimId> shape) { return in(name, DType::f32, std::move(shape)); }
  ValueId indices(const char* name, std::vector<DimId> shape) { return in(name, DType::i64, std::move(shape)); }
};

struct Row {
  Why why;
  std::string words;
  std::function<void(Rows&)> build;
};

// What exp of an input costs in a second kernel.
const std::string cost = "; stored once: computing it again would cost 14 operations an element against 4 bytes";

const Row rows[] = {
    {Why::reshape_no_map, "reshape (%1) from [B, C] to [C, B] is no index map: it shares memory in row-major order",
     [](Rows& n) { n.out(n.neg(n.op(OpCode::op_reshape, {n.exp(n.x)}, {shaped({n.c, n.b})}))); }},
    {Why::reshape_in_memory,
     "reshape (%1) is no index map: it is the same memory under another shape, so that what it reads is stored in "
     "row-major order",
     [](Rows& n) { n.out(n.op(OpCode::op_reshape, {n.exp(n.x)}, {shaped({n.c, n.b})})); }},
    {Why::routine_reads, "scatter (%2) is a step without a kernel: what it reads lies in memory",
     [](Rows& n) {
       n.out(n.op(OpCode::op_scatter, {n.exp(n.x), n.indices("i", {n.b, n.c}), n.tensor("u", {n.b, n.c})}, {along(0)}));
     }},
    {Why::routine_makes, "scatter (%0) is a step without a kernel: what it makes lies in memory",
     [](Rows& n) {
       n.out(n.exp(n.op(OpCode::op_scatter, {n.x, n.indices("i", {n.b, n.c}), n.tensor("u", {n.b, n.c})}, {along(0)})));
     }},
    {Why::fetched_from, "gather (%2) fetches from it at computed indices",
     [](Rows& n) { n.out(n.op(OpCode::op_gather, {n.exp(n.tensor("v", {n.c})), n.indices("i", {n.b})}, {along(0)})); }},
    {Why::full_work, "one kernel for both would hold 280 operations, and 256 are allowed",
     [](Rows& n) {
       ValueId y = n.x;
       for (int i = 0; i < 10; ++i) y = n.op(OpCode::op_tanh, {y});
       n.out(y);
     }},
    {Why::full_views, "one kernel for both would hold 65 views of tensors, and 64 are allowed",
     [](Rows& n) {
       ValueId y = n.x;
       for (int i = 0; i < 64; ++i) y = n.add(y, n.tensor("", {n.b, n.c}));
       n.out(y);
     }},
    {Why::full_sizes, "one kernel for both would hold 544 sizes for boxes, and 512 are allowed",
     [](Rows& n) {
       const NamedAttr low{"low", Attr::of_ints(std::vector<int64_t>(16, 1))};
       const NamedAttr high{"high", Attr::of_ints(std::vector<int64_t>(16, 0))};
       const std::vector<DimId> shape(16, n.num(2));
       ValueId y = ir::no_value;
       for (int i = 0; i < 17; ++i) {
         const ValueId p = n.op(OpCode::op_pad, {n.tensor("", shape), n.number(0)}, {low, high});
         y = i == 0 ? p : n.add(y, p);
       }
       n.out(y);
     }},
    {Why::full_folds, "one kernel for both would hold 31 reductions and scans, and 30 are allowed",
     [](Rows& n) {
       ValueId y = n.x;
       for (int i = 0; i < 31; ++i) y = n.op(OpCode::op_sub, {y, n.wide_sum(y, 1)});
       n.out(y);
     }},
    {Why::many_maps, "the kernel that reads it does so under 5 index maps, and neg (%0) is computed under 4 at most",
     [](Rows& n) {
       const DimId most = n.sym("N");
       const ValueId e = n.neg(n.tensor("v", {most}));
       ValueId y = ir::no_value;
       for (int i = 0; i < 5; ++i) {
         const ValueId part =
             n.op(OpCode::op_slice, {e}, {{"starts", Attr::of_ints({i})}, {"limits", Attr::of_ints({i + 4})}});
         y = i == 0 ? part : n.add(y, part);
       }
       n.out(y);
     }},
    {Why::dear,
     "the kernel that reads it would compute it several times; stored once: computing it again would cost 14 "
     "operations "
     "an element against 8 bytes",
     [](Rows& n) {
       const ValueId e = n.exp(n.tensor("s", {n.b, n.b}));
       n.out(n.add(e, n.op(OpCode::op_transpose, {e}, {turned})));
     }},
    {Why::no_index_map, "pad (%0) has no index map under the indices of the kernel that reads it",
     [](Rows& n) {
       const ValueId p = n.op(OpCode::op_pad, {n.tensor("v", {n.num(6)}), n.number(0)},
                              {{"low", Attr::of_ints({1})}, {"high", Attr::of_ints({1})}});
       n.out(n.exp(n.op(OpCode::op_reshape, {p}, {shaped({n.num(4), n.num(2)})})));
     }},
    {Why::dot_operand, "exp (%1) would be computed again for every [K] of the matrix product",
     [](Rows& n) { n.out(n.op(OpCode::op_matmul, {n.exp(n.x), n.tensor("w", {n.c, n.sym("K")})})); }},
    {Why::moved, "the kernel that reads it moves or broadcasts what reduce_sum (%0) makes",
     [](Rows& n) { n.out(n.exp(n.op(OpCode::op_reverse, {n.sum(n.x, 1)}, {axes({0})}))); }},
    {Why::other_space, "cumsum (%0) makes [C], the kernel that reads it goes over [B, C]",
     [](Rows& n) { n.out(n.add(n.x, n.scan(n.tensor("v", {n.c}), 0))); }},
    {Why::cycle,
     "a third kernel reads what the one makes and makes what the other reads: as one they would wait for it, and it "
     "for them" +
         cost,
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       n.out(n.add(e, n.scan(n.sum(e, 0), 0)));
     }},
    {Why::far, "more than 256 kernels lie behind it: it is not known whether two would wait for each other" + cost,
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       ValueId y = n.sum(e, 0);
       for (int i = 0; i < 300; ++i) y = n.op(OpCode::op_reverse, {n.scan(y, 0)}, {axes({0})});
       n.out(n.add(e, y));
     }},
    {Why::fold_maps, "reduce_sum (%0) is not computed under 2 index maps",
     [](Rows& n) {
       const DimId one = n.num(1);
       const ValueId s = n.sum(n.x, 1);
       n.out(n.add(n.op(OpCode::op_reshape, {s}, {shaped({n.b, one})}),
                   n.op(OpCode::op_reshape, {s}, {shaped({one, n.b})})));
     }},
    {Why::dot_alone, "matmul (%0) would share a kernel with a matrix product or another reduction",
     [](Rows& n) { n.out(n.sum(n.op(OpCode::op_matmul, {n.x, n.tensor("w", {n.c, n.sym("K")})}), 1)); }},
    {Why::other_rows, "reduce_sum (%0) keeps [B], the kernel that reads it has the rows [C]",
     [](Rows& n) {
       const ValueId first = n.wide_sum(n.x, 1);
       n.out(n.add(n.add(n.x, first), n.wide_sum(n.exp(n.x), 0)));
     }},
    {Why::other_cols, "reduce_sum (%0) removes [K], the kernel that reads it sweeps [C]",
     [](Rows& n) {
       const ValueId k = n.wide_sum(n.tensor("y", {n.b, n.sym("K")}), 1);
       n.out(n.add(n.add(n.x, k), n.wide_sum(n.x, 1)));
     }},
    {Why::dot_transposed, "the kernel that reads it transposes what matmul (%0) makes",
     [](Rows& n) {
       const ValueId m = n.op(OpCode::op_matmul, {n.x, n.tensor("w", {n.c, n.sym("K")})});
       n.out(n.exp(n.op(OpCode::op_transpose, {m}, {turned})));
     }},
    {Why::scan_unit, "the kernel that reads it has no axis for the one that cumsum (%0) goes along",
     [](Rows& n) { n.out(n.exp(n.scan(n.tensor("v", {n.b, n.num(1)}), 1))); }},
    {Why::other_scan, "cumsum (%0) goes along [B], the kernel that reads it sweeps [C]",
     [](Rows& n) { n.out(n.scan(n.scan(n.x, 0), 1)); }},
    {Why::apart_maps, "the two kernels read it under different index maps" + cost,
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       n.out(n.scan(e, 0));
       n.out(n.scan(n.op(OpCode::op_reverse, {e}, {axes({0})}), 0));
     }},
    {Why::apart_dot, "one of the two kernels is a matrix product" + cost,
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       n.out(n.op(OpCode::op_matmul, {e, n.tensor("v", {n.c})}));
       n.out(n.neg(e));
     }},
    {Why::apart_space, "one kernel goes over [B, C], the other over [K, B, C]" + cost,
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       n.out(n.neg(e));
       n.out(n.add(e, n.tensor("y", {n.sym("K"), n.b, n.c})));
     }},
    {Why::apart_sweep, "one kernel sweeps [C], the other [B]" + cost,
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       n.out(n.sum(e, 0));
       n.out(n.sum(e, 1));
     }},
    {Why::apart_many,
     "70 uses read it, and 64 are compared; stored once: computing it again would cost 14 operations an element "
     "against "
     "0 bytes",
     [](Rows& n) {
       const ValueId e = n.exp(n.x);
       n.out(n.neg(e));
       for (int i = 1; i < 70; ++i)
         n.out(n.op(OpCode::op_slice, {e},
                    {{"starts", Attr::of_ints({0, i})}, {"limits", Attr::of_ints({1000000, 1000000})}}));
     }},
};

// The words of the edges with this reason.
std::set<std::string> words_of(const engine::Executable& e, Why why) {
  const std::vector<std::string> names = ir::printed_names(e.optimised());
  std::set<std::string> out;
  for (const fuse::Edge& edge : e.plan().edges)
    if (edge.reason.why == why) out.insert(to_text(edge.reason, e.optimised(), e.plan().dims, names));
  return out;
}

std::string all_words(const engine::Executable& e) {
  const std::vector<std::string> names = ir::printed_names(e.optimised());
  std::string out;
  for (const fuse::Edge& edge : e.plan().edges)
    out += cat(names[edge.value], ": ", to_text(edge.reason, e.optimised(), e.plan().dims, names), "\n");
  return out;
}

}  // namespace

TEST_CASE("a graph for every reason why a value is stored, and its words") {
  std::set<Why> shown{Why::unfused};  // the test below
  for (const Row& row : rows) {
    CAPTURE(fuse::name(row.why));
    Rows n;
    row.build(n);
    const auto e = compile(n.done(), {"", engine::Backend::interpreter, true, ""});
    INFO(all_words(*e));
    CHECK(words_of(*e, row.why).contains(row.words));
    shown.insert(row.why);
  }
  CHECK(shown.size() == fuse::why_count);
}

TEST_CASE("every reason has a name of its own") {
  std::set<std::string_view> names;
  for (size_t i = 0; i < fuse::why_count; ++i) names.insert(fuse::name(static_cast<Why>(i)));
  CHECK(names.size() == fuse::why_count);
}

TEST_CASE("where fusion is off it is the one reason but for what takes memory in any case") {
  for (const Row& row : rows) {
    Rows n;
    row.build(n);
    const auto e = compile(n.done(), {"", engine::Backend::interpreter, false, ""});
    for (const fuse::Edge& edge : e->plan().edges) {
      const Why why = edge.reason.why;
      CHECK((why == Why::unfused || why == Why::routine_reads || why == Why::routine_makes ||
             why == Why::fetched_from || why == Why::reshape_in_memory));
    }
  }
}

TEST_CASE("the description has reasons for programs and for people") {
  Rows n;
  const ValueId e = n.exp(n.x);
  n.out(n.add(n.x, n.wide_sum(n.x, 1)));
  n.out(n.sum(e, 0));
  n.out(n.sum(e, 1));
  n.out(n.sum(n.neg(n.x), 0));
  const auto executable = compile(n.done(), {"", engine::Backend::interpreter, true, ""});
  std::string json = engine::describe(*executable, "json");
  std::erase_if(json, [](char c) { return c == ' ' || c == '\n'; });
  INFO(json);
  for (const char* part : {"\"why\":\"apart_sweep\"", "\"own\":\"[C]\",\"theirs\":\"[B]\"",
                           "\"operations\":14,\"bytes\":4", "\"shared\":[{"})
    CHECK(json.find(part) != std::string::npos);
  const std::string text = engine::describe(*executable, "fusion");
  INFO(text);
  CHECK(text.find("is read by both: one kernel sweeps [C], the other [B]") != std::string::npos);
}
