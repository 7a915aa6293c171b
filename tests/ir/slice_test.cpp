// Slices against a walk over indices written as Python describes slicing, for constant and for symbolic extents.
#include "support.h"

using namespace ingot;
using namespace ingot::ir;

namespace {

// The indices that Python's range(*slice(start, limit, step).indices(n)) has.
std::vector<int64_t> python_indices(int64_t n, int64_t start, int64_t limit, int64_t step) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto clamped = [&](int64_t i) {
    if (i < 0) i += n;
    return i < low ? low : i > high ? high : i;
  };
  start = clamped(start);
  limit = clamped(limit);
  std::vector<int64_t> out;
  for (int64_t i = start; step > 0 ? i < limit : i > limit; i += step) out.push_back(i);
  return out;
}

// The indices of a sliced dim: starts + i * steps for i below the result's extent, with the symbol at `n`.
std::vector<int64_t> graph_indices(const Graph& g, ValueId v, int64_t n) {
  const Op& op = g.op(g.value(v).source);
  std::vector<int64_t> values(g.dims().size(), INT64_MIN);
  for (const DimId d : g.dims().symbols()) values[d] = n;
  g.dims().evaluate(values);
  g.dims().check(values);
  const int64_t start = values[static_cast<size_t>(attr(op, "starts").ints[0])], step = attr(op, "steps").ints[0];
  std::vector<int64_t> out;
  for (int64_t i = 0; i < values[g.value(v).shape[0]]; ++i) out.push_back(start + i * step);
  return out;
}

}  // namespace

TEST_CASE("constant slices of constant and symbolic extents are Python's") {
  for (const int64_t step : {1, 2, 3, -1, -2, -3}) {
    for (int64_t start = -7; start <= 7; ++start) {
      for (int64_t limit = -7; limit <= 7; ++limit) {
        Graph g;
        const ValueId symbolic = g.input("x", DType::u8, {g.dims().symbol("N")});
        const std::vector<NamedAttr> attrs = {ints("starts", {start}), ints("limits", {limit}), ints("steps", {step})};
        const ValueId y = apply(g, "slice", {symbolic}, attrs);
        CHECK(g.dims().facts().empty());
        for (int64_t n = 0; n <= 6; ++n) {
          const std::vector<int64_t> expected = python_indices(n, start, limit, step);
          CHECK_MESSAGE(graph_indices(g, y, n) == expected,
                        cat(start, ":", limit, ":", step, " of ", n, ": ", type_of(g, y)));
          Graph fixed;
          const ValueId x = fixed.input("x", DType::u8, {fixed.dims().constant(n)});
          const ValueId z = apply(fixed, "slice", {x}, attrs);
          CHECK(fixed.dims().as_constant(fixed.value(z).shape[0]) == static_cast<int64_t>(expected.size()));
          CHECK(graph_indices(fixed, z, n) == expected);
        }
      }
    }
  }
}

TEST_CASE("slices read simply where they can") {
  Graph g;
  DimTable& t = g.dims();
  const ValueId x = g.input("x", DType::f32, {t.symbol("N")});
  const auto of = [&](int64_t start, int64_t limit, int64_t step) {
    return type_of(g,
                   apply(g, "slice", {x}, {ints("starts", {start}), ints("limits", {limit}), ints("steps", {step})}));
  };
  CHECK(of(0, INT64_MAX, 1) == "f32[N]");
  CHECK(of(0, INT64_MAX, 2) == "f32[ceil_div(N, 2)]");
  CHECK(of(1, INT64_MAX, 1) == "f32[max(0, N-1)]");
  CHECK(of(0, 4, 1) == "f32[min(4, N)]");
  CHECK(of(-3, INT64_MAX, 1) == "f32[min(3, N)]");
  CHECK(of(1, -3, 1) == "f32[max(0, N-4)]");
  CHECK(of(-1, INT64_MIN, -1) == "f32[N]");
  t.symbol("N", 8);
  CHECK(of(1, INT64_MAX, 1) == "f32[N-1]");
  CHECK(of(2, 6, 2) == "f32[2]");
}

TEST_CASE("symbolic starts and limits are absolute") {
  Graph g;
  DimTable& t = g.dims();
  const DimId n = t.symbol("N"), k = t.symbol("K");
  const ValueId x = g.input("x", DType::f32, {n});
  const ValueId head = apply(g, "slice", {x}, {dims("starts", {t.constant(0)}), dims("limits", {k})});
  const ValueId tail = apply(g, "slice", {x}, {dims("starts", {k}), dims("limits", {n})});
  for (const int64_t size : {0, 3, 7}) {
    for (const int64_t cut : {0, 2, 7, 9}) {
      CHECK(value_of(t, g.value(head).shape[0], {size, cut}) == std::min(size, cut));
      CHECK(value_of(t, g.value(tail).shape[0], {size, cut}) == std::max<int64_t>(0, size - cut));
    }
  }
}

TEST_CASE("ill-formed slices") {
  Graph g;
  const ValueId x = g.input("x", DType::f32, {g.dims().symbol("N"), g.dims().constant(4)});
  const auto wrong = [&](std::vector<NamedAttr> attrs) { return fault([&] { apply(g, "slice", {x}, attrs); }); };
  CHECK(wrong({ints("starts", {0, 0}), ints("limits", {1, 1}), ints("steps", {1, 0})}) ==
        "slice: attribute steps: 0 is no step");
  CHECK(wrong({ints("starts", {0}), ints("limits", {1, 1})}) ==
        "slice: attribute starts has 1 entry, expected 2, one per dim of %x: f32[N, 4]");
  CHECK(wrong({ints("starts", {0, 0})}) == "slice: attribute limits is missing, expected a list of dim");
  CHECK(wrong({ints("starts", {0, 0}), ints("limits", {1, 1}), ints("steps", {1, INT64_MIN})}) != "");
  const std::vector<NamedAttr> extreme = {ints("starts", {INT64_MIN, INT64_MAX}),
                                          ints("limits", {INT64_MAX, INT64_MIN}),
                                          ints("steps", {INT64_MAX, -INT64_MAX})};
  CHECK(type_of(g, apply(g, "slice", {x}, extreme)).ends_with(", 1]"));
}
