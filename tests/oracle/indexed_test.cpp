// What the indexed ops give by hand and by NumPy, and what they say of indices that are none.
#include <doctest/doctest.h>

#include "check.h"
#include "evaluate.h"
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

NamedAttr axis(int64_t a) { return {"axis", Attr::of_int(a)}; }

Array integers(DType t, std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  Array out{t, std::move(shape), {}};
  const uint64_t mask = ~uint64_t{0} >> (64 - 8 * ir::item_size(t));
  for (const int64_t v : values) out.bits.push_back(static_cast<uint64_t>(v) & mask);
  return out;
}

// What the run says in every way, each the same code; "" where it succeeds.
std::string failure(const std::shared_ptr<const ir::Graph>& graph, std::span<const Array> inputs) {
  std::string said;
  for (const Way& way : all_ways()) {
    const auto e = compile(graph, way);
    // The second run is one that remembers the first.
    for (int again = 0; again < 2; ++again) {
      std::string now;
      try {
        run(*e, inputs, Layout::compact, Layout::compact, way.threads);
      } catch (const Error& error) {
        if (error.code() != Code::out_of_range)
          return cat(way.name, ": ", code_name(error.code()), ": ", error.message());
        now = error.message();
      }
      if (&way != all_ways().data() && now != said) return cat(way.name, ": \"", now, "\", expected \"", said, "\"");
      said = now;
    }
  }
  return said;
}

}  // namespace

TEST_CASE("an index of every integer dtype and its negative gather the same") {
  const Array table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  for (const DType t : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
    Net net;
    const ValueId x = net.in("x", DType::f32, {net.sym("N"), net.sym("D")}), i = net.in("i", t, {net.sym("K")});
    const ValueId y = net.in("y", DType::f32, {net.sym("N")});
    net.out(net.op(OpCode::op_gather, {x, i}, {axis(0)}));  // rows
    net.out(net.op(OpCode::op_gather, {y, i}, {axis(0)}));  // items
    const auto g = net.done();
    const bool from_end = ir::is_signed(t);
    const Array inputs[] = {
        table, integers(t, {4}, from_end ? std::vector<int64_t>{2, -1, 0, -3} : std::vector<int64_t>{2, 2, 0, 0}),
        floats({3}, {7, 8, 9})};
    for (const Way& way : all_ways()) {
      const auto got = run(*compile(g, way), inputs);
      CHECK(difference(floats({4, 2}, {5, 6, 5, 6, 1, 2, 1, 2}), got[0]).empty());
      CHECK(difference(floats({4}, {9, 9, 7, 7}), got[1]).empty());
    }
  }
}

TEST_CASE("an index out of range is an error that names op, operand and index, however the graph is run") {
  for (const bool rows : {false, true})
    for (const DType t : {DType::i8, DType::i64, DType::u8, DType::u64}) {
      Net net;
      std::vector<DimId> shape = {net.sym("N")};
      if (rows) shape.push_back(net.num(8));
      const ValueId x = net.in("x", DType::f32, shape), i = net.in("i", t, {net.sym("K")});
      net.out(net.op(OpCode::op_exp, {net.op(OpCode::op_gather, {x, i}, {axis(0)})}));
      const auto g = net.done();
      const std::string start = cat("gather: an index along axis 0 of %x: f32[", rows ? "N, 8" : "N", "] is ");
      for (const int64_t k : {1, 16, 17, 1027}) {
        std::vector<int64_t> indices(static_cast<size_t>(k), 1);
        const auto said = [&](int64_t extent) {
          const size_t items = static_cast<size_t>(extent) * (rows ? 8 : 1);
          const Array data = floats(rows ? std::vector<int64_t>{extent, 8} : std::vector<int64_t>{extent},
                                    std::vector<float>(items, 2));
          const Array inputs[] = {data, integers(t, {k}, indices)};
          return failure(g, inputs);
        };
        CHECK(said(3) == "");
        const char* expected = ir::is_signed(t) ? ", expected -3 to 2" : ", expected 0 to 2";
        indices.back() = 3;
        CHECK(said(3) == cat(start, 3, expected));
        indices.back() = ir::is_signed(t) ? -4 : t == DType::u8 ? 255 : INT64_MIN;
        CHECK(said(3) == cat(start, ir::is_signed(t) ? -4 : t == DType::u8 ? 255 : INT64_MAX, expected));
        indices.back() = 1;
        CHECK(said(0) == cat(start, "1, but there is nothing along that axis"));
      }
    }
}

TEST_CASE("an index is checked where an output has it, in an untaken branch too, and nowhere else") {
  Net net;
  const DimId n = net.sym("N");
  const ValueId x = net.in("x", DType::f32, {n}), i = net.in("i", DType::i32, {n}),
                c = net.in("c", DType::boolean, {n});
  const ValueId picked = net.op(OpCode::op_gather, {x, i}, {axis(0)});
  net.out(net.op(OpCode::op_select, {c, picked, x}));
  const auto chosen = net.done();
  const Array bad[] = {floats({2}, {1, 2}), integers(DType::i32, {2}, {0, 2}), integers(DType::boolean, {2}, {1, 0})};
  CHECK(failure(chosen, bad) == "gather: an index along axis 0 of %x: f32[N] is 2, expected -2 to 1");

  // A slice has no use for the other indices; a pad asks for none outside.
  Net part;
  const DimId m = part.sym("N");
  const ValueId y = part.in("x", DType::f32, {m}), j = part.in("i", DType::i32, {m});
  const ValueId all = part.op(OpCode::op_gather, {y, j}, {axis(0)});
  const ValueId some =
      part.op(OpCode::op_slice, {all}, {{"starts", Attr::of_ints({0})}, {"limits", Attr::of_ints({1})}});
  part.out(part.op(OpCode::op_pad, {some, part.g->scalar(DType::f32, 9.0)},
                   {{"low", Attr::of_ints({20})}, {"high", Attr::of_ints({2})}}));
  const Array good[] = {floats({2}, {1, 2}), integers(DType::i32, {2}, {1, 1})};
  std::vector<float> want(23, 9);
  want[20] = 2;
  const auto padded = part.done();
  for (const Way& way : all_ways()) CHECK(difference(floats({23}, want), run(*compile(padded, way), good)[0]).empty());
}

TEST_CASE("rows are gathered along any axis, whatever the layout, on several threads too") {
  for (const DType t : {DType::f32, DType::boolean, DType::f16, DType::i64}) {
    Net net;
    const DimId a = net.sym("A"), b = net.sym("B"), c = net.sym("C"), k = net.sym("K"), two = net.num(2);
    const ValueId x = net.in("x", t, {a, b, c}), i = net.in("i", DType::i32, {two, k});
    for (const int64_t d : {0, 1, 2}) net.out(net.op(OpCode::op_gather, {x, i}, {axis(d)}));
    const auto g = net.done();
    // The last is more than one task's, and one has an extent that leaves nothing to gather.
    const int64_t sizes[][4] = {{3, 4, 5, 3}, {1, 2, 1, 1}, {2, 3, 0, 4}, {3, 3, 17, 0}, {5, 6, 40, 300}};
    for (const auto& [m, n, inner, picked] : sizes) {
      Array indices{DType::i32, {2, picked}, {}};
      for (int64_t at = 0; at < 2 * picked; ++at)
        indices.bits.push_back(static_cast<uint32_t>(at * 7 % (2 * std::min({m, n, std::max<int64_t>(inner, 1)})) -
                                                     std::min({m, n, std::max<int64_t>(inner, 1)})));
      if (inner == 0) indices = Array{DType::i32, {2, 0}, {}};  // there is nothing along axis 2
      const Array inputs[] = {random_array(5, t, {m, n, inner}), indices};
      const std::vector<Array> want = evaluate(*g, inputs);
      for (const Way& way : all_ways())
        for (const Layout layout : std::span(all_layouts).first(5)) {  // all but broadcast, which has other values
          const auto got = run(*compile(g, way), inputs, layout, layout, true);
          for (size_t o = 0; o < want.size(); ++o) {
            CAPTURE(way.name);
            CAPTURE(o);
            CHECK(difference(want[o], got[o]) == "");
          }
        }
    }
  }
}

TEST_CASE("constant indices out of range are the run's error, not the compiler's") {
  Net net;
  const float values[] = {1, 2, 3};
  const int64_t index = 3;
  const auto constant = [&](DType t, std::vector<DimId> shape, const void* data, size_t bytes) {
    return net.g->constant(t, shape, ir::Constant{nullptr, static_cast<const uint8_t*>(data), bytes});
  };
  const ValueId x = constant(DType::f32, {net.num(3)}, values, sizeof values);
  const ValueId i = constant(DType::i64, {}, &index, sizeof index);
  net.out(net.op(OpCode::op_gather, {x, i}, {axis(0)}));
  const std::string said = failure(net.done(), {});
  CHECK(said.ends_with("is 3, expected -3 to 2"));
}

TEST_CASE("scatter writes in row-major order and reports the index that is none") {
  Net net;
  const DimId n = net.sym("N"), k = net.sym("K");
  const ValueId x = net.in("x", DType::f32, {n}), i = net.in("i", DType::i32, {k}), u = net.in("u", DType::f32, {k});
  net.out(net.op(OpCode::op_scatter, {x, i, u}));
  net.out(net.op(OpCode::op_scatter_add, {x, i, u}));
  const auto g = net.done();
  const Array inputs[] = {floats({3}, {1, 2, 3}), integers(DType::i32, {4}, {1, -2, 0, 1}),
                          floats({4}, {10, 20, 30, 40})};
  for (const Way& way : all_ways()) {
    const auto got = run(*compile(g, way), inputs);
    CHECK(difference(floats({3}, {30, 40, 3}), got[0]).empty());
    CHECK(difference(floats({3}, {31, 72, 3}), got[1]).empty());
  }
  const Array bad[] = {inputs[0], integers(DType::i32, {4}, {1, -4, 0, 7}), inputs[2]};
  CHECK(failure(g, bad) == "scatter: an index along axis 0 of %x: f32[N] is -4, expected -3 to 2");
  const Array nothing[] = {floats({0}, {}), integers(DType::i32, {1}, {0}), floats({1}, {1})};
  CHECK(failure(g, nothing) ==
        "scatter: an index along axis 0 of %x: f32[N] is 0, but there is nothing along that axis");
}

TEST_CASE("an index of 2^63 and more is out of range, never one from the end") {
  // The last as many steps below 2^64 as an i64 would count from the end, and such that lose high bits as an i32.
  const uint64_t wrong[] = {
      ~uint64_t{0},     ~uint64_t{0} - 2, uint64_t{1} << 63, (uint64_t{1} << 63) + 1, (uint64_t{3} << 62) + 1,
      uint64_t{1} << 32};
  for (const bool constant : {false, true})
    for (const uint64_t index : wrong) {
      CAPTURE(index);
      const std::vector<uint64_t> values = {1, index};
      const Array data = floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), line = floats({3}, {1, 2, 3});
      const Array updates = floats({2}, {1, 1});
      // Each graph of one op, so that its own check is the one that tells.
      const auto refused = [&](const char* start, std::vector<int64_t> shape, const auto& add) {
        Net net;
        std::vector<DimId> dims;
        for (const int64_t n : shape) dims.push_back(net.num(n));
        const ValueId x = net.in("x", DType::f32, {net.sym("N"), net.sym("M")});
        const ValueId y = net.in("y", DType::f32, {net.sym("N")}), u = net.in("u", DType::f32, {net.sym("K")});
        const ValueId i =
            constant ? net.g->constant(DType::u64, dims,
                                       ir::Constant{nullptr, reinterpret_cast<const uint8_t*>(values.data()), 16})
                     : net.in("i", DType::u64, dims);
        net.out(add(net, x, y, u, i));
        std::vector<Array> inputs = {data, line, updates};
        if (!constant) inputs.push_back(Array{DType::u64, std::move(shape), values});
        const std::string said = failure(net.done(), inputs);
        CAPTURE(std::string(start));
        CHECK_MESSAGE(said.starts_with(start), said);
      };
      refused("gather: an index along axis 0 of %x", {2}, [](Net& n, ValueId x, ValueId, ValueId, ValueId i) {
        return n.op(OpCode::op_gather, {x, i}, {axis(0)});
      });
      refused("gather: an index along axis 0 of %y", {2}, [](Net& n, ValueId, ValueId y, ValueId, ValueId i) {
        return n.op(OpCode::op_gather, {y, i}, {axis(0)});
      });
      refused("take_along_axis: an index along axis 0 of %y", {2}, [](Net& n, ValueId, ValueId y, ValueId, ValueId i) {
        return n.op(OpCode::op_take_along_axis, {y, i}, {axis(0)});
      });
      refused("gather_nd: an index along axis 1 of %x", {1, 2},
              [](Net& n, ValueId x, ValueId, ValueId, ValueId i) { return n.op(OpCode::op_gather_nd, {x, i}); });
      for (const OpCode op : {OpCode::op_scatter, OpCode::op_scatter_add})
        refused(op == OpCode::op_scatter ? "scatter: an index along axis 0 of %y"
                                         : "scatter_add: an index along axis 0 of %y",
                {2}, [&](Net& n, ValueId, ValueId y, ValueId u, ValueId i) { return n.op(op, {y, i, u}, {axis(0)}); });
      refused("cross_entropy: an index along axis 1 of ", {2}, [](Net& n, ValueId x, ValueId, ValueId, ValueId i) {
        const ValueId two =
            n.op(OpCode::op_slice, {x}, {{"starts", Attr::of_ints({0, 0})}, {"limits", Attr::of_ints({2, 3})}});
        return n.op(OpCode::op_cross_entropy, {two, i}, {{"reduction", Attr::of_string("sum")}});
      });
    }
}

TEST_CASE("one_hot of what is 2^63 and more has no 1, however deep") {
  for (const DType t : {DType::f32, DType::boolean, DType::u64}) {
    Net net;
    net.out(net.op(OpCode::op_one_hot, {net.in("i", DType::u64, {net.num(4)})},
                   {{"depth", Attr::of_int(3)}, {"dtype", Attr::of_dtype(t)}}));
    const Array inputs[] = {
        Array{DType::u64, {4}, {~uint64_t{0}, uint64_t{1} << 63, (uint64_t{1} << 63) + 2, uint64_t{1} << 32}}};
    const auto g = net.done();
    for (const Way& way : all_ways())
      for (const Array& got : run(*compile(g, way), inputs))
        CHECK(difference(Array{t, {4, 3}, std::vector<uint64_t>(12, 0)}, got).empty());
  }
}

TEST_CASE("one_hot counts from the end and has no row for what is out of range") {
  Net net;
  const ValueId i = net.in("i", DType::u64, {net.sym("K")}), j = net.in("j", DType::i8, {net.sym("K")});
  for (const ValueId v : {i, j}) net.out(net.op(OpCode::op_one_hot, {v}, {{"depth", Attr::of_int(3)}, axis(0)}));
  const auto g = net.done();
  const Array inputs[] = {integers(DType::u64, {4}, {0, 2, 3, -1}), integers(DType::i8, {4}, {0, -1, 3, -4})};
  for (const Way& way : all_ways())
    for (const Array& got : run(*compile(g, way), inputs))
      CHECK(difference(floats({3, 4}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}), got).empty());
}

TEST_CASE("a label that is no class fails the run, below 0 too, and the message is cross_entropy's") {
  for (const DType t : {DType::i32, DType::i64, DType::u8}) {
    Net net;
    const ValueId x = net.in("x", DType::f32, {net.sym("B"), net.sym("C")}), l = net.in("l", t, {net.sym("B")});
    net.out(net.op(OpCode::op_cross_entropy, {x, l}, {{"ignore_index", Attr::of_int(100)}}));
    const auto g = net.done();
    const Array scores = floats({2, 3}, {1, 2, 3, 4, 5, 6});
    const std::string start = "cross_entropy: an index along axis 1 of %x: f32[B, C] is ";
    CHECK(failure(g, std::vector{scores, integers(t, {2}, {0, 2})}).empty());
    CHECK(failure(g, std::vector{scores, integers(t, {2}, {1, 100})}).empty());
    CHECK(failure(g, std::vector{scores, integers(t, {2}, {0, 3})}) == start + "3, expected 0 to 2");
    if (ir::is_signed(t)) CHECK(failure(g, std::vector{scores, integers(t, {2}, {-1, 0})}).starts_with(start));
  }
}

TEST_CASE("the value of a dim input is gathered from, scattered to and searched like any other") {
  Net net;
  const ValueId n = net.g->dim_input("n", net.sym("N")), i = net.in("i", DType::i32, {net.sym("K")});
  const ValueId sorted = net.in("sorted", DType::i64, {net.sym("M")});
  const ValueId one = net.op(OpCode::op_expand_dims, {n}, {{"axes", Attr::of_ints({0})}});
  const ValueId again = net.op(OpCode::op_reshape, {one}, {{"shape", Attr::of_ints({1, 1})}});
  net.out(net.op(OpCode::op_gather, {one, i}, {axis(0)}));
  net.out(net.op(OpCode::op_gather, {again, i}, {axis(1)}));
  net.out(net.op(OpCode::op_searchsorted, {sorted, n}));
  net.out(net.op(OpCode::op_searchsorted, {one, sorted}));
  net.out(net.op(OpCode::op_scatter_add, {one, i, net.op(OpCode::op_cast, {i}, {{"to", Attr::of_dtype(DType::i64)}})}));
  net.out(net.op(OpCode::op_one_hot, {n}, {{"depth", Attr::of_int(7)}}));
  net.out(n);
  const Array inputs[] = {integers(DType::i64, {}, {4}), integers(DType::i32, {2}, {0, -1}),
                          integers(DType::i64, {3}, {1, 4, 9})};
  CHECK(check(net.done(), inputs, all_ways()).empty());
}
