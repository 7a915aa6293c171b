// Rows that are walked together, many to a call, and the strips of a long row: every number of rows around a tile,
// every kind of row end, and views that lie in each way in which a view can differ from row to row.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "jit/interp/interp.h"
#include "jit/strip/launch.h"
#include "loop/expr.h"
#include "oracle.h"

using namespace ingot;

namespace {

using loop::Builder;
using loop::DType;
using loop::Prim;
using loop::Val;
using loop::ViewKind;

constexpr loop::AxisSet outer = 1, row = 2, col = 4, all = 7;

// Axes: outer, row, col; the slots behind their extents are the box on `row`. Three sweeps, a hold, a store a row.
jit::Program softmax_of_many_views() {
  Builder b(2, 1);
  const uint16_t lo = b.add_size_slot(), hi = b.add_size_slot();
  const auto view = [&](ViewKind kind, loop::AxisSet axes) {
    return b.add_view(
        {.kind = kind, .storage = DType::f32, .tensor = b.add_tensor(), .axes = axes, .boxes = {}, .fill = 0});
  };
  const auto load = [&](loop::AxisSet axes) { return Val{b, b.load(view(ViewKind::load, axes))}; };
  const Val x = load(all), along = load(col), each = load(outer | row), columns = load(all);
  const Val boxed{b, b.load(b.add_view({.kind = ViewKind::load,
                                        .storage = DType::f32,
                                        .tensor = b.add_tensor(),
                                        .axes = all,
                                        .boxes = {{1, lo, hi}},
                                        .fill = 0x3f000000}))};  // 0.5
  const Val v = x * each + along + boxed;
  const Val shifted = v - v.un(Prim::fold_max);
  const Val e = shifted * shifted * shifted * shifted / (shifted - 3.0) + columns / 7.0;  // dear enough for a hold
  const Val sum = e.un(Prim::fold_sum);
  b.store(view(ViewKind::store, all), (e / sum).id());
  b.store(view(ViewKind::store, outer | row), sum.id());
  jit::Program p;
  p.kernel = b.finish();
  p.schedule = loop::schedule(p.kernel);
  return p;
}

}  // namespace

TEST_CASE("rows that share a call, and strips of a long one that do, give what each of them gives alone") {
  const jit::Program p = softmax_of_many_views();
  REQUIRE(p.schedule.sweeps.size() == 3);
  REQUIRE(!p.schedule.holds.empty());
  const auto body = jit::interpreter(p);
  uint32_t seed = 1;
  for (const int64_t rows : {1, 2, 5, 63, 64, 65, 130})
    for (const int64_t cols :
         {1, 3, 7, 16, 17, 33, 64, 65, 100, 192, 1000, 1024, 1030, 2047, 2048, 2049, 17 * 1024 + 5, 33 * 1024}) {
      if (rows * cols > 70000) continue;
      const int64_t groups = 3, n = groups * rows * cols;
      const auto fill = [&](int64_t count) {
        std::vector<float> v(static_cast<size_t>(count));
        for (float& item : v) item = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 8) * 0x1p-23f - 1.0f;
        return v;
      };
      const std::vector<float> x = fill(n), along = fill(cols), each = fill(groups * rows), columns = fill(n),
                               boxed = fill(n);
      std::vector<float> y(x.size()), sums(each.size()), want_y(x.size()), want_sums(each.size());
      const int64_t sizes[] = {groups, rows, cols, rows / 3, rows - rows / 4};
      const auto args = [&](std::vector<float>& out, std::vector<float>& out_sums) {
        constexpr int64_t f = sizeof(float);
        const auto at = [](const float* base, int64_t g, int64_t r, int64_t c) {
          jit::ViewArg a;
          a.base = reinterpret_cast<char*>(const_cast<float*>(base));
          a.stride[0] = g * f;
          a.stride[1] = r * f;
          a.stride[2] = c * f;
          return a;
        };
        // In the order of the views: `columns` has its rows side by side in memory.
        return std::vector<jit::ViewArg>{at(x.data(), rows * cols, cols, 1),
                                         at(along.data(), 0, 0, 1),
                                         at(each.data(), rows, 1, 0),
                                         at(columns.data(), rows * cols, 1, rows),
                                         at(boxed.data(), rows * cols, cols, 1),
                                         at(out.data(), rows * cols, cols, 1),
                                         at(out_sums.data(), rows, 1, 0)};
      };
      test::oracle(p.kernel, sizes, args(want_y, want_sums).data());
      jit::Launch launch;
      const auto mine = args(y, sums);
      launch.prepare(p, sizes, mine.data());
      std::vector<char> scratch(launch.scratch_bytes(*body) + 64);
      char* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
      jit::Fault fault;
      for (int64_t c = 0; c < launch.chunks(); ++c) launch.run_chunk(*body, c, aligned, fault);
      CAPTURE(rows);
      CAPTURE(cols);
      CHECK(y == want_y);
      CHECK(sums == want_sums);
    }
}

TEST_CASE("the greatest and least of a row are right wherever a zero of the other sign or a NaN stands") {
  Builder b(1, 1);
  const auto view = [&](ViewKind kind, loop::AxisSet axes) {
    return b.add_view(
        {.kind = kind, .storage = DType::f32, .tensor = b.add_tensor(), .axes = axes, .boxes = {}, .fill = 0});
  };
  const Val x{b, b.load(view(ViewKind::load, 3))};
  b.store(view(ViewKind::store, 1), x.un(Prim::fold_max).id());
  b.store(view(ViewKind::store, 1), x.un(Prim::fold_min).id());
  jit::Program p;
  p.kernel = b.finish();
  p.schedule = loop::schedule(p.kernel);
  const auto body = jit::interpreter(p);
  // Row r has its one other value at r.
  for (const int64_t n : {1, 2, 7, 8, 9, 16, 70})
    for (const float most : {-0.0f, 0.0f})
      for (const float other : {-most, std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> rows(static_cast<size_t>(n * n), most), greatest(static_cast<size_t>(n)), least(greatest);
        for (int64_t r = 0; r < n; ++r) rows[static_cast<size_t>(r * n + r)] = other;
        const int64_t sizes[] = {n, n};
        jit::ViewArg args[3];
        args[0].base = reinterpret_cast<char*>(rows.data());
        args[0].stride[0] = n * int64_t{sizeof(float)};
        args[0].stride[1] = sizeof(float);
        args[1].base = reinterpret_cast<char*>(greatest.data());
        args[2].base = reinterpret_cast<char*>(least.data());
        args[1].stride[0] = args[2].stride[0] = sizeof(float);
        jit::Launch launch;
        launch.prepare(p, sizes, args);
        std::vector<char> scratch(launch.scratch_bytes(*body) + 64);
        char* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
        jit::Fault fault;
        for (int64_t c = 0; c < launch.chunks(); ++c) launch.run_chunk(*body, c, aligned, fault);
        CAPTURE(n);
        CAPTURE(most);
        for (size_t r = 0; r < greatest.size(); ++r) {
          CAPTURE(r);
          CHECK(std::isnan(greatest[r]) == std::isnan(other));
          CHECK(std::isnan(least[r]) == std::isnan(other));
          if (std::isnan(other)) continue;
          CHECK(std::signbit(greatest[r]) == (n == 1 && std::signbit(other)));
          CHECK(std::signbit(least[r]) == (n > 1 || std::signbit(other)));
        }
      }
}
